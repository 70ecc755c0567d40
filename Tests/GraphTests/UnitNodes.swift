// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// A node for tests of the compiler and the engine: any ports, a signal that depends on everything it reads, on its own
/// past and on its parameter, and that shows every mistake in what it is given. `UnitReference` says what it computes.
///
/// It zeroes its outputs before it reads its inputs, so that a buffer that is shared by mistake is heard.
final class Unit: Node {
    static let descriptor = makeDescriptor("unit", flags: 0)

    static func makeDescriptor(_ name: String, flags: Int) -> NodeDescriptor {
        NodeDescriptor(
            name, "computes something of all it reads", parameters: [amountParameter], settings: unitSettings,
            flags: flags, process: unitProcess)
    }

    let layout: Layout
    private let fails: Bool
    private let delay: Int
    private let seed: Int
    private let alive: Counter?
    private var memory: [UnsafeMutablePointer<Float>] = []

    struct Processor: BitwiseCopyable {
        var audioOut: Int
        var controlIn, controlOut, midiIn, midiOut: Int
        var seed: Int
        var latency: Int
        /// The last sample of each output, before the latency.
        var last: UnsafeMutablePointer<Float>
        /// What is on its way through the latency: `latency` frames per output.
        var line: UnsafeMutablePointer<Float>
        /// One frame of inputs.
        var frame: UnsafeMutablePointer<Float>
        var count: UInt64 = 0
    }

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        func ports(_ key: String, _ kind: vg_port_kind, _ direction: vg_direction) -> [Port] {
            (0..<(settings.integer(key) ?? 0)).map {
                Port(kind, direction, "\(key)_\($0 + 1)", defaultValue: kind == VG_CONTROL_PORT ? 0.125 : 0)
            }
        }
        layout = Layout(
            ports: ports("in", VG_AUDIO_PORT, VG_INPUT) + ports("control", VG_CONTROL_PORT, VG_INPUT)
                + ports("midi", VG_MIDI_PORT, VG_INPUT) + ports("midi_out", VG_MIDI_PORT, VG_OUTPUT)
                + ports("control_out", VG_CONTROL_PORT, VG_OUTPUT) + ports("out", VG_AUDIO_PORT, VG_OUTPUT),
            parameters: [amountParameter])
        fails = settings.bool("fail") ?? false
        delay = settings.integer("latency") ?? 0
        seed = settings.integer("seed") ?? 1
        alive = settings.integer("alive").flatMap { Counter.of($0) }
        alive?.add(1)
    }

    deinit {
        for piece in memory { piece.deallocate() }
        alive?.add(-1)
    }

    var latency: Int { delay }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        if fails { throw NodeError("told to fail") }
        func zeros(_ count: Int) -> UnsafeMutablePointer<Float> {
            let piece = UnsafeMutablePointer<Float>.allocate(capacity: max(1, count))
            piece.initialize(repeating: 0, count: max(1, count))
            memory.append(piece)
            return piece
        }
        func count(_ kind: vg_port_kind, _ direction: vg_direction) -> Int {
            layout.ports.count { $0.kind == kind && $0.direction == direction }
        }
        let outputs = count(VG_AUDIO_PORT, VG_OUTPUT)
        return Processor(
            audioOut: outputs, controlIn: count(VG_CONTROL_PORT, VG_INPUT),
            controlOut: count(VG_CONTROL_PORT, VG_OUTPUT), midiIn: count(VG_MIDI_PORT, VG_INPUT),
            midiOut: count(VG_MIDI_PORT, VG_OUTPUT), seed: seed, latency: delay, last: zeros(outputs),
            line: zeros(outputs * delay), frame: zeros(count(VG_AUDIO_PORT, VG_INPUT)))
    }
}

/// The same, output i depending on input i only: it may work in place.
final class InPlaceUnit: Node {
    static let descriptor = Unit.makeDescriptor("in-place", flags: VG_IN_PLACE)

    private let unit: Unit
    init(settings: Settings, host: NodeHost) throws(NodeError) { unit = try Unit(settings: settings, host: host) }
    var layout: Layout { unit.layout }
    var latency: Int { unit.latency }
    func prepare(_ preparation: Preparation) throws(NodeError) -> Unit.Processor {
        var processor = try unit.prepare(preparation)
        processor.seed = -processor.seed
        return processor
    }
}

let amountParameter = Parameter("amount", "how much of the input", -1...1, default: 0.5)
private let unitSettings =
    ["in", "out", "control", "control_out", "midi", "midi_out", "latency", "seed", "alive"].map {
        Setting($0, VG_SET_INTEGER, "see the name")
    } + [Setting("fail", VG_SET_BOOL, "whether it cannot be prepared")]

/// How much of input `input` goes to output `output`; a negative seed: only of the same number.
@_noLocks
func unitWeight(_ seed: Int, _ input: Int, _ output: Int) -> Float {
    if seed < 0 && input != output { return 0 }
    return Float((abs(seed) * 31 + input * 7 + output * 13) % 15 - 7) / 16
}

/// Whether the unit is silent in the block that starts at `position`.
@_noLocks
func unitRests(_ seed: Int, _ position: UInt64) -> Bool { (position / 32 + UInt64(abs(seed))) % 5 == 0 }

@_noLocks
private func unitProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Unit.Processor.self)
    let seed = state.pointee.seed
    let frames = cycle.frames
    let latency = state.pointee.latency
    let amount = io.parameter(0)
    if seed > 0 { for output in 0..<io.outputCount { vg_zero(io.output(output), UInt32(frames)) } }
    var control: Float = 0
    for index in 0..<state.pointee.controlIn { control += io.control(index) }
    let rests = unitRests(seed, cycle.pointee.position) && latency == 0
    for frame in 0..<frames {
        for input in 0..<io.inputCount {
            state.pointee.frame[input] = io.isSilent(input: input) ? 0 : io.input(input)[frame]
        }
        for output in 0..<io.outputCount {
            var sum: Float = 0
            for input in 0..<io.inputCount { sum += state.pointee.frame[input] * unitWeight(seed, input, output) }
            var sample = sum * amount[frame: frame] + state.pointee.last[output] * 0.25 + control * 0.0625
            if rests { sample = 0 }
            state.pointee.last[output] = sample
            if latency > 0 {
                let place = output * latency + Int((cycle.pointee.position + UInt64(frame)) % UInt64(latency))
                let late = state.pointee.line[place]
                state.pointee.line[place] = sample
                sample = late
            }
            io.output(output)[frame] = sample
        }
    }
    if rests { for output in 0..<io.outputCount { io.markSilent(output: output) } }
    for index in 0..<state.pointee.controlOut {
        let heard = state.pointee.audioOut > 0 ? state.pointee.last[0] : 0
        io.setControl(index, control * 0.5 + heard + Float(index) * 0.25)
    }
    unitMIDI(state, io, frames)
}

/// Each MIDI output repeats all MIDI inputs one after the other in order of time, its number in the last byte, and adds
/// an event of its own at the block's end.
@_noLocks
private func unitMIDI(_ state: UnsafeMutablePointer<Unit.Processor>, _ io: BlockIO, _ frames: Int) {
    for output in 0..<state.pointee.midiOut {
        for frame in 0..<frames {
            for input in 0..<state.pointee.midiIn {
                let events = io.midiInput(input)
                for index in 0..<Int(events.pointee.count) where Int(events.pointee.events[index].frame) == frame {
                    let event = events.pointee.events[index]
                    let bytes = events.pointee.bytes + Int(event.offset)
                    var data = (bytes[0], bytes[1], bytes[2] &+ UInt8(output + 1))
                    send(io, output, frame, &data)
                }
            }
        }
        state.pointee.count += 1
        var data = (UInt8(0x90), UInt8(abs(state.pointee.seed) % 128), UInt8(state.pointee.count % 128))
        send(io, output, frames - 1, &data)
    }
}

@_noLocks
private func send(_ io: BlockIO, _ output: Int, _ frame: Int, _ data: UnsafeMutablePointer<(UInt8, UInt8, UInt8)>) {
    let bytes = UnsafeRawPointer(data).assumingMemoryBound(to: UInt8.self)
    _ = vg_midi_write(io.midiOutput(output), UInt32(frame), bytes, 3)
}

/// A number that several objects change: the tests' own way to count what is alive, through a setting.
final class Counter: Sendable {
    private let value = Atomic(0)
    var count: Int { value.load(ordering: .acquiring) }
    func add(_ amount: Int) { value.add(amount, ordering: .acquiringAndReleasing) }

    /// The setting that stands for it; it must outlive the nodes.
    var setting: SettingValue { .integer(Int64(Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()))) }

    init() {}

    /// Finds the counter of a setting.
    static func of(_ setting: Int) -> Counter? {
        UnsafeRawPointer(bitPattern: setting).map { Unmanaged<Counter>.fromOpaque($0).takeUnretainedValue() }
    }
}
