// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The node of an `AudioSource`.
final class ProgramSource: AudioNode {
    static let calls: NodeCalls = [.poll, .wait, .idle, .finish]
    static let descriptor = NodeDescriptor(
        "program-source", "sound that the program makes which has the graph",
        ports: Port.audio(VG_OUTPUT, channels: 1), settings: [number, channels],
        events: [
            EventType(
                "program-source.finished", "the last frame was heard",
                fields: [Field("frames", VG_INTEGER, "since the beginning", unit: "frames")], ends: .played,
                says: "the program has ended its sound")
        ], process: { ProgramSource.process($0, $1, $2) })

    static let number = Key.integer("source", "which of the program's sources", in: 0...Int(Int32.max)).required()
    static let channels = Key.integer("channels", "audio channels", default: 1, in: 1...64)
    /// How long a render waits for a program that writes nothing, in seconds.
    private static let patience = 10.0

    struct Processor: BitwiseCopyable {
        let player: PlaybackPlayer
    }

    let layout: Layout
    private let host: NodeHost
    private let source: AudioSource
    private var pipe: PlaybackPipe?
    private var times = PlaybackTimes()
    private var isTold = false
    private var hasFailed = false

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        guard let source = AudioSource.all.find(try settings[Self.number]) else {
            throw NodeError("its sound lives in the program that made the graph", hint: "load the graph there")
        }
        self.host = host
        self.source = source
        layout = Layout(ports: Port.audio(VG_OUTPUT, channels: try settings[Self.channels]))
    }

    deinit { source.stop() }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        if let lost = pipe?.waiting, lost > 0 { host.count("dropped", lost) }
        let frames = Int(source.buffer * preparation.rate)
        let pipe = PlaybackPipe(
            channels: source.channels, frames: frames, maxBlock: preparation.maxBlock, rate: preparation.rate)
        self.pipe = pipe
        times.forget()
        source.begin(pipe) { [host] in host.outputLatency }
        return Processor(player: pipe.player)
    }

    func poll() {
        guard let pipe else { return }
        let isEnded = source.isEnded
        let played = pipe.played
        while let run = pipe.nextRun() { _ = times.add(run, isStart: true) }
        if !isTold, isEnded, played == pipe.written {
            isTold = true
            host.publish(
                "program-source.finished", [("frames", .integer(Int64(played)))], at: times.position(of: played))
        }
        times.forget(before: nil)
        source.poll()
    }

    func wait(frames: Int) {
        guard !hasFailed, !source.has(min(frames, pipe?.capacity ?? 0), within: Self.patience) else { return }
        hasFailed = true
        host.health(.failed("the program has written nothing for \(Int(Self.patience)) s"))
    }

    var isIdle: Bool { hasFailed || isTold }

    func finish() { source.stop() }

    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) { state.player.play(block) }
}
