// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import LV2
import NodeKit
import Realtime

/// One plugin as a node, with buffers of its own around it.
final class PluginPlayer {
    let node: NodeInstance
    private let plan: ScanPlan
    private let audioIn, audioOut: [UnsafeMutablePointer<Float>]
    private let midiIn, midiOut: [UnsafeMutablePointer<vg_midi>]
    private var io = vg_io()
    private var owned: [UnsafeMutableRawPointer] = []

    /// Frames behind each block that nobody may touch, and what they hold.
    private static let guardFrames = 64
    private static let guardValue: Float = 1234.5

    /// Makes the node; `preset` is a URI, `state` a folder.
    init(_ uri: String, preset: String?, state: String? = nil, plan: ScanPlan) throws(NodeError) {
        self.plan = plan
        var settings: [String: SettingValue] = ["plugin": .string(uri)]
        if let preset { settings["preset"] = .string(preset) }
        if let state { settings["state"] = .string(state) }
        var services = NodeServices()
        services.log = { level, text in
            if level.rawValue >= VG_LOG_WARNING.rawValue { print("log: \(text)", to: .error) }
        }
        node = try NodeInstance(type: lv2NodeType(), name: "node", settings: Settings(settings), services: services)
        node.isDriven = true  // all calls on the thread that makes them

        var owned: [UnsafeMutableRawPointer] = []
        func cells<T>(_ count: Int, of value: T) -> UnsafeMutablePointer<T> {
            let memory = UnsafeMutablePointer<T>.allocate(capacity: max(1, count))
            memory.initialize(repeating: value, count: max(1, count))
            owned.append(memory)
            return memory
        }
        let ports = node.ports
        func every<T>(_ kind: vg_port_kind, _ direction: vg_direction, _ make: () -> T) -> [T] {
            ports.filter { $0.kind == kind && $0.direction == direction }.map { _ in make() }
        }
        func table<T>(_ items: [T]) -> UnsafeMutablePointer<T?> {
            let memory = cells(items.count, of: T?.none)
            for (index, item) in items.enumerated() { memory[index] = item }
            return memory
        }
        let room = plan.maxBlock + Self.guardFrames
        func audio() -> UnsafeMutablePointer<Float> { cells(room, of: Self.guardValue) }
        func midi() -> UnsafeMutablePointer<vg_midi> {
            cells(
                1,
                of: vg_midi(
                    count: 0, capacity: 1024, used: 0, byte_capacity: 1 << 16, dropped: 0,
                    events: cells(1024, of: vg_midi_event()), bytes: cells(1 << 16, of: 0)))
        }
        audioIn = every(VG_AUDIO_PORT, VG_INPUT, audio)
        audioOut = every(VG_AUDIO_PORT, VG_OUTPUT, audio)
        midiIn = every(VG_MIDI_PORT, VG_INPUT, midi)
        midiOut = every(VG_MIDI_PORT, VG_OUTPUT, midi)
        io.size = UInt32(MemoryLayout<vg_io>.size)
        io.audio_in = UnsafePointer(table(audioIn))
        io.audio_out = UnsafePointer(table(audioOut))
        let heard: () -> UnsafeMutablePointer<UInt8> = { cells(1, of: 0) }
        io.audio_in_silent = UnsafePointer(table(audioIn.map { _ in UnsafePointer(heard()) }))
        io.audio_out_silent = UnsafePointer(table(audioOut.map { _ in heard() }))
        let number: () -> UnsafeMutablePointer<Float> = { cells(1, of: 0) }
        io.control_in = UnsafePointer(table(every(VG_CONTROL_PORT, VG_INPUT, number)))
        io.control_out = UnsafePointer(table(every(VG_CONTROL_PORT, VG_OUTPUT, number)))
        io.midi_in = UnsafePointer(table(midiIn))
        io.midi_out = UnsafePointer(table(midiOut))
        io.parameters = UnsafePointer(node.ramps)
        io.audio_in_count = UInt32(audioIn.count)
        io.audio_out_count = UInt32(audioOut.count)
        self.owned = owned
    }

    deinit {
        for memory in owned { memory.deallocate() }
    }

    /// Loads the code and gets ready.
    func prepare() throws(NodeError) {
        try node.prepare(Preparation(rate: plan.rate, maxBlock: plan.maxBlock, offline: plan.offline))
        node.activate()
    }

    /// Runs so many frames of the signal and returns what came out, channel by channel. `each` is called after every
    /// block.
    func run(_ frames: Int, each: () -> Void = {}) -> [[Float]] {
        guard let processor = node.processor, let process = node.type.pointee.process else { return [] }
        var outputs = [[Float]](repeating: [], count: audioOut.count)
        for index in outputs.indices { outputs[index].reserveCapacity(frames) }
        var noise = Noise(seed: 1)
        var start = 0
        let begun = now()
        vg_denormals_off()
        for size in plan.blocks(frames) {
            fill(size, start, of: frames, &noise)
            var cycle = vg_cycle()
            cycle.size = UInt32(MemoryLayout<vg_cycle>.size)
            cycle.frames = UInt32(size)
            cycle.flags = plan.offline ? UInt32(VG_CYCLE_OFFLINE) : 0
            cycle.rate = plan.rate
            cycle.position = UInt64(start)
            cycle.clock = UInt64(start)
            cycle.transport = vg_transport(
                rolling: true, frame: UInt64(start), bpm: 120, beat: Double(start) / plan.rate * 2, beats_per_bar: 4,
                beat_type: 4)
            vg_call_process(process, processor, &io, &cycle)
            for index in audioOut.indices {
                outputs[index].append(contentsOf: UnsafeBufferPointer(start: audioOut[index], count: size))
            }
            start += size
            each()
            // Plugins with threads of their own count on the time that a sound card would take.
            if !plan.offline { sleep(until: begun + Double(start) / plan.rate) }
        }
        return outputs
    }

    private func sleep(until time: Double) {
        let left = time - now()
        if left > 0 { usleep(UInt32(left * 1e6)) }
    }

    /// Whether something was written behind a buffer's end.
    var overran: Bool {
        (audioIn + audioOut).contains { buffer in
            (plan.maxBlock..<plan.maxBlock + Self.guardFrames).contains { buffer[$0] != Self.guardValue }
        }
    }

    /// The signal: noise and a sine for the first 70 %, then silence; a chord meanwhile.
    private func fill(_ frames: Int, _ start: Int, of total: Int, _ noise: inout Noise) {
        let end = total * 7 / 10
        for frame in 0..<frames {
            let time = start + frame
            let sample =
                time < end ? 0.05 * noise.sample() + 0.25 * sinf(2 * .pi * 440 * Float(time) / Float(plan.rate)) : 0
            for buffer in audioIn { buffer[frame] = sample }
        }
        let events = [
            (total / 5, [0xB0, 7, 110]), (total / 5, [0x90, 60, 100]), (total / 4, [0x90, 64, 90]),
            (total / 3, [0xE0, 0, 0x50]), (total / 2, [0x80, 64, 0]), (total * 6 / 10, [0x80, 60, 0]),
        ]
        for midi in midiIn + midiOut {
            midi.pointee.count = 0
            midi.pointee.used = 0
        }
        for (time, bytes) in events where time >= start && time < start + frames {
            for midi in midiIn {
                _ = bytes.map(UInt8.init).withUnsafeBufferPointer {
                    vg_midi_write(midi, UInt32(time - start), $0.baseAddress!, UInt32($0.count))
                }
            }
        }
    }
}
