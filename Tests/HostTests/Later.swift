// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Gives what it is given so many frames later, and says so or not; or gives a level of -20 dBFS for ever.
final class Later: Node {
    static let calls: NodeCalls = .latency
    static let descriptor = NodeDescriptor(
        "later", "for tests", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        settings: [
            Setting("frames", VG_SET_INTEGER, "how much later", default: "0"),
            Setting("told", VG_SET_BOOL, "whether it says so", default: "false"),
            Setting("forever", VG_SET_BOOL, "whether it never ends", default: "false"),
        ], process: laterProcess)

    struct Processor: BitwiseCopyable {
        var line: UnsafeMutablePointer<Float>
        var size: Int
        var place = 0
        var forever: Bool
    }

    private let frames: Int
    private let told: Bool
    private let forever: Bool
    private let line: UnsafeMutablePointer<Float>

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        frames = settings.integer("frames") ?? 0
        told = settings.bool("told") ?? false
        forever = settings.bool("forever") ?? false
        line = .allocate(capacity: max(1, frames))
        line.initialize(repeating: 0, count: max(1, frames))
    }

    deinit { line.deallocate() }

    var latency: Int { told ? frames : 0 }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        Processor(line: line, size: frames, forever: forever)
    }
}

@_noLocks
private func laterProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Later.Processor.self)
    for frame in 0..<cycle.frames {
        guard state.pointee.size > 0 else {
            io.output(0)[frame] = state.pointee.forever ? 0.1 : io.input(0)[frame]
            continue
        }
        let place = state.pointee.place
        let sample = io.input(0)[frame]
        io.output(0)[frame] = state.pointee.line[place]
        state.pointee.line[place] = sample
        state.pointee.place = place + 1 == state.pointee.size ? 0 : place + 1
    }
}
