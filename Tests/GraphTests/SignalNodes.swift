// SPDX-License-Identifier: Apache-2.0
import Graph
import GraphFile
import NodeKit
import TestSupport

/// The input times the parameter `gain`, `latency` frames late.
final class Latent: Node {
    static let descriptor = NodeDescriptor(
        "latent", "the input, later",
        ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        parameters: [
            Parameter("gain", "a factor", -2...2, default: 1),
            Parameter("switch", "added, at once", 0...4, default: 0, flags: VG_PARAM_TOGGLE),
        ],
        settings: [
            Setting("latency", VG_SET_INTEGER, "in frames"), Setting("fail", VG_SET_BOOL, "cannot be prepared"),
            Setting("alive", VG_SET_INTEGER, "a counter"),
        ],
        flags: VG_IN_PLACE, process: latentProcess)

    struct Processor: BitwiseCopyable {
        var line: UnsafeMutablePointer<Float>
        var latency: Int
        var place = 0
    }

    let latency: Int
    private let fails: Bool
    private let alive: Counter?
    private var line: UnsafeMutablePointer<Float>?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        latency = settings.integer("latency") ?? 0
        fails = settings.bool("fail") ?? false
        alive = settings.integer("alive").flatMap { Counter.of($0) }
        alive?.add(1)
    }

    deinit {
        line?.deallocate()
        alive?.add(-1)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        if fails { throw NodeError("told to fail") }
        line?.deallocate()
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: latency + 1)
        memory.initialize(repeating: 0, count: latency + 1)
        line = memory
        return Processor(line: memory, latency: latency)
    }
}

@_noLocks
private func latentProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Latent.Processor.self)
    let gain = io.parameter(0)
    for frame in 0..<cycle.frames {
        var sample = io.input(0)[frame] * gain[frame: frame] + io.parameter(1).target
        if state.pointee.latency > 0 {
            let late = state.pointee.line[state.pointee.place]
            state.pointee.line[state.pointee.place] = sample
            state.pointee.place = (state.pointee.place + 1) % state.pointee.latency
            sample = late
        }
        io.output(0)[frame] = sample
    }
}

/// A sine that depends on the position alone.
final class Sine: Node {
    static let descriptor = NodeDescriptor(
        "sine", "a sine", ports: Port.audio(VG_OUTPUT, channels: 1),
        settings: [
            Setting("frequency", VG_SET_NUMBER, "in Hz"), Setting("level", VG_SET_NUMBER, "amplitude, linear"),
        ], process: sineProcess)

    struct Processor: BitwiseCopyable {
        var step: Double
        var level: Double
    }

    private let frequency, level: Double
    init(settings: Settings, host: NodeHost) throws(NodeError) {
        frequency = settings.number("frequency") ?? 1000
        level = settings.number("level") ?? 1
    }
    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        Processor(step: 2 * .pi * frequency / preparation.rate, level: level)
    }
}

@_noLocks
private func sineProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Sine.Processor.self)
    for frame in 0..<cycle.frames {
        let time = Double(cycle.pointee.position + UInt64(frame))
        io.output(0)[frame] = Float(vg_sin64(time * state.pointee.step) * state.pointee.level)
    }
}

/// Tells what it sees: a note in each block, the processor's arithmetic with denormals, more MIDI than fits.
final class Teller: Node {
    static let descriptor = NodeDescriptor(
        "teller", "tells",
        ports: [
            Port(VG_AUDIO_PORT, VG_OUTPUT, "out"), Port(VG_CONTROL_PORT, VG_OUTPUT, "count"),
            Port(VG_MIDI_PORT, VG_OUTPUT, "midi"),
        ],
        settings: [
            Setting("notes", VG_SET_INTEGER, "notes a block"), Setting("events", VG_SET_INTEGER, "MIDI events a block"),
        ], process: tellerProcess)

    struct Processor: BitwiseCopyable {
        var notes, events: Int
        var blocks = 0
    }

    private let notes, events: Int
    init(settings: Settings, host: NodeHost) throws(NodeError) {
        notes = settings.integer("notes") ?? 0
        events = settings.integer("events") ?? 0
    }
    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor { Processor(notes: notes, events: events) }
}

/// The notes have a text where denormals are flushed.
@_noLocks
private func tellerProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Teller.Processor.self)
    let text: StaticString = "flushed"
    // Not to be known when it is compiled: a compiler takes every number for one that is not flushed.
    let denormal = Float.leastNormalMagnitude / Float(cycle.pointee.rate)
    let flushed = denormal == 0 ? UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self) : nil
    for frame in 0..<cycle.frames { io.output(0)[frame] = 1 }
    for note in 0..<state.pointee.notes {
        _ = vg_notice_push(io, VG_NOTICE_EVENT, flushed, Double(note), cycle.pointee.position)
    }
    var data: UInt8 = 0xF8
    for _ in 0..<state.pointee.events { _ = vg_midi_write(io.midiOutput(0), 0, &data, 1) }
    state.pointee.blocks += 1
    io.setControl(0, Float(state.pointee.blocks))
}

extension TestTypes {
    nonisolated(unsafe) static let latent = makeNodeType(Latent.self)
    nonisolated(unsafe) static let sine = makeNodeType(Sine.self)
    nonisolated(unsafe) static let teller = makeNodeType(Teller.self)
    nonisolated(unsafe) static let slow = makeNodeType(Slow.self)
    nonisolated(unsafe) static let light = makeNodeType(Light.self)

    static let catalog = NodeCatalog([
        unit, inPlace, echo, capture, playback, midiCapture, midiPlayback, latent, sine, teller, slow,
        light,
    ])
}

/// What a test asked for cannot be built.
struct Unbuildable: Error, CustomStringConvertible {
    let description: String
}

/// Prepared nodes of `links` ("a -> b", "a.port -> b.port -6" with a gain in dB) and `nodes`, through the graph builder.
func makeGraph(
    _ links: [String], _ nodes: [NodeDescription], rate: Double = 48000, maxBlock: Int = 1024
) throws -> ResolvedGraph {
    let built = build(links, nodes, TestTypes.catalog)
    guard let graph = built.graph else { throw Unbuildable(description: "\(built.messages)") }
    for node in graph.nodes { try? node.instance.prepare(Preparation(rate: rate, maxBlock: maxBlock)) }
    return graph
}
