// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Audio from the driver.
final class Capture: Node {
    static let descriptor = NodeDescriptor(
        "capture", "from the driver", settings: [Setting("channels", VG_SET_INTEGER, "how many")], flags: VG_EXTERNAL)
    let layout: Layout
    init(settings: Settings, host: NodeHost) throws(NodeError) {
        layout = Layout(ports: Port.audio(VG_OUTPUT, channels: settings.integer("channels") ?? 1))
    }
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}

/// Audio to the driver.
final class Playback: Node {
    static let descriptor = NodeDescriptor(
        "playback", "to the driver", settings: [Setting("channels", VG_SET_INTEGER, "how many")], flags: VG_EXTERNAL)
    let layout: Layout
    init(settings: Settings, host: NodeHost) throws(NodeError) {
        layout = Layout(ports: Port.audio(VG_INPUT, channels: settings.integer("channels") ?? 1))
    }
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}

/// MIDI from the driver.
final class MIDICapture: Node {
    static let descriptor = NodeDescriptor(
        "midi-capture", "from the driver", ports: [Port(VG_MIDI_PORT, VG_OUTPUT, "out")], flags: VG_EXTERNAL)
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}

/// MIDI to the driver.
final class MIDIPlayback: Node {
    static let descriptor = NodeDescriptor(
        "midi-playback", "to the driver", ports: [Port(VG_MIDI_PORT, VG_INPUT, "in")], flags: VG_EXTERNAL)
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}

/// Delays by `frames`, which must be a block at least; closes loops.
final class Echo: Node {
    static let descriptor = NodeDescriptor(
        "echo", "delays",
        settings: [
            Setting("channels", VG_SET_INTEGER, "how many"), Setting("frames", VG_SET_INTEGER, "how long"),
            Setting("fail", VG_SET_BOOL, "whether it cannot be prepared"),
        ], process: echoProcess, absorb: echoAbsorb)

    struct Processor: BitwiseCopyable {
        var line: UnsafeMutablePointer<Float>
        /// Frames in the line of one channel.
        var size: Int
        var delay: Int
    }

    let layout: Layout
    private let channels, frames: Int
    private let fails: Bool
    private var line: UnsafeMutablePointer<Float>?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        channels = settings.integer("channels") ?? 1
        frames = settings.integer("frames") ?? 64
        fails = settings.bool("fail") ?? false
        layout = Layout(
            ports: Port.audio(VG_INPUT, channels: channels) + Port.audio(VG_OUTPUT, channels: channels))
    }

    deinit { line?.deallocate() }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        if fails { throw NodeError("told to fail") }
        let size = frames + preparation.maxBlock
        line?.deallocate()
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: size * channels)
        memory.initialize(repeating: 0, count: size * channels)
        line = memory
        return Processor(line: memory, size: size, delay: frames)
    }
}

@_noLocks
private func echoProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Echo.Processor.self).pointee
    for channel in 0..<io.outputCount {
        for frame in 0..<cycle.frames {
            let then = Int(cycle.pointee.position) + frame - state.delay + state.size
            io.output(channel)[frame] = state.line[channel * state.size + then % state.size]
        }
    }
}

@_noLocks
private func echoAbsorb(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Echo.Processor.self).pointee
    for channel in 0..<io.inputCount {
        for frame in 0..<cycle.frames {
            let now = Int(cycle.pointee.position) + frame
            state.line[channel * state.size + now % state.size] = io.input(channel)[frame]
        }
    }
}

/// Descriptions of the test nodes; constants, though C cannot say so.
enum TestTypes {
    nonisolated(unsafe) static let unit = makeNodeType(Unit.self)
    nonisolated(unsafe) static let inPlace = makeNodeType(InPlaceUnit.self)
    nonisolated(unsafe) static let echo = makeNodeType(Echo.self)
    nonisolated(unsafe) static let capture = makeNodeType(Capture.self)
    nonisolated(unsafe) static let playback = makeNodeType(Playback.self)
    nonisolated(unsafe) static let midiCapture = makeNodeType(MIDICapture.self)
    nonisolated(unsafe) static let midiPlayback = makeNodeType(MIDIPlayback.self)
}
