// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Lets audio through unchanged and publishes its levels 60 times a second: peak and RMS per channel, orb level.
final class Meter: Node {
    static let calls: NodeCalls = .poll
    static let descriptor = NodeDescriptor(
        "meter", "lets audio through and shows its levels",
        ports: Layout.unchanged(channels: 1).ports,
        settings: [
            .channels(),
            Setting(
                "ballistics", VG_SET_STRING, "how the levels move: peak shows every 60th of a second as it is",
                default: "\"peak\"", choices: ["peak"]),
        ],
        series: .levels, flags: VG_IN_PLACE, process: levelsProcess)

    let layout: Layout
    private let levels: LevelPublisher

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        let channels = try settings.channels()
        if let name = settings.string("ballistics"), name != "peak" {
            throw NodeError("has no ballistics \"\(name)\"", hint: "use peak", key: "ballistics")
        }
        layout = .unchanged(channels: channels)
        levels = LevelPublisher(channels: channels, host: host)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> LevelPublisher.Processor {
        levels.prepare(preparation)
    }

    func poll() { levels.poll() }
}
