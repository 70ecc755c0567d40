// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit
import Testing

@testable import Isolation

/// What host and child share, and what they say to each other.
@Suite struct BlockTests {
    private static let ports =
        Port.audio(VG_INPUT, channels: 2) + Port.audio(VG_OUTPUT, channels: 3)
        + [
            Port(VG_CONTROL_PORT, VG_INPUT, "c"), Port(VG_CONTROL_PORT, VG_OUTPUT, "d"),
            Port(VG_MIDI_PORT, VG_INPUT, "keys"), Port(VG_MIDI_PORT, VG_OUTPUT, "notes"),
        ]

    @Test("No two parts of a block overlap, and all lie inside its memory", arguments: [1, 31, 128, 1000])
    func layout(frames: Int) throws {
        let shape = BlockShape(Self.ports, parameters: 5, maxBlock: frames)
        let memory = try #require(SharedMemory(size: SharedBlock.size(shape)))
        let block = SharedBlock(shape, at: memory.address)
        var ranges: [Range<Int>] = []
        func part(_ start: some _Pointer, _ bytes: Int) {
            let offset = Int(bitPattern: start) - Int(bitPattern: memory.address)
            ranges.append(offset..<offset + bytes)
        }
        for word in [block.request, block.response, block.inside, block.latency] { part(word, 4) }
        part(block.cycle, MemoryLayout<vg_cycle>.size)
        part(block.ramps, 5 * MemoryLayout<vg_ramp>.stride)
        part(block.controlInputs, 4)
        part(block.controlOutputs, 4)
        part(block.silentInputs, 2)
        part(block.silentOutputs, 3)
        for channel in 0..<2 { part(block.input(channel), frames * 4) }
        for channel in 0..<3 { part(block.output(channel), frames * 4) }
        part(block.midiInput(0).base, SharedMIDI.size)
        part(block.midiOutput(0).base, SharedMIDI.size)
        let sorted = ranges.sorted { $0.lowerBound < $1.lowerBound }
        #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
        #expect(sorted.last!.upperBound <= memory.size)
    }

    @Test("What a child writes as MIDI is not trusted")
    func midi() throws {
        let shape = BlockShape(Self.ports, parameters: 0, maxBlock: 64)
        let memory = try #require(SharedMemory(size: SharedBlock.size(shape)))
        let shared = SharedBlock(shape, at: memory.address).midiOutput(0)
        shared.numbers[0] = 4_000_000_000
        shared.events[0] = vg_midi_event(frame: 3, size: 3, offset: 0)
        shared.events[1] = vg_midi_event(frame: 64, size: 3, offset: 0)
        shared.events[2] = vg_midi_event(frame: 5, size: 3, offset: UInt32(MIDILimits.bytes - 2))
        shared.events[3] = vg_midi_event(frame: 5, size: 4_294_967_295, offset: 4_294_967_295)
        for byte in 0..<3 { shared.bytes[byte] = 0x90 + UInt8(byte) }
        var events = [vg_midi_event](repeating: vg_midi_event(), count: MIDILimits.events + 88)
        var bytes = [UInt8](repeating: 0, count: MIDILimits.bytes + 808)
        events.withUnsafeMutableBufferPointer { events in
            bytes.withUnsafeMutableBufferPointer { bytes in
                var target = vg_midi(
                    count: 0, capacity: UInt32(events.count), used: 0, byte_capacity: UInt32(bytes.count), dropped: 0,
                    events: events.baseAddress, bytes: bytes.baseAddress)
                shared.give(&target, frames: 64)
                // The others are zeros, which are events without bytes at frame 0.
                #expect(events[0].frame == 3 && events[0].size == 3)
                #expect(events[1].frame == 0 && events[1].size == 0)
                #expect(target.count == UInt32(MIDILimits.events - 3))
            }
        }
        #expect(bytes.prefix(3) == [0x90, 0x91, 0x92])
    }

    @Test("A frame is read as it was written")
    func frames() {
        var frame = FrameWriter(.create, node: 7, call: 9)
        let settings = SettingValue.table([
            "a": .integer(-3), "b": .list([.bool(true), .string("ä€")]), "c": .table(["d": .number(0.5)]),
        ])
        frame.put(settings)
        frame.put(Message.bytes([0, 1, 255]))
        frame.put(NodeError("what", hint: "do", key: "k"))
        let layout = Layout(
            ports: Self.ports + [
                Port(VG_MESSAGE_PORT, VG_INPUT, "text", doc: "words", bus: "side", takes: VG_TAKES_TEXT)
            ],
            parameters: [
                Parameter(
                    "x", "doc", -1...3, default: 0.1, unit: "dB", scale: VG_DECIBEL, flags: 5, label: "X",
                    points: [Parameter.Point("Saw", 0.7)])
            ])
        frame.put(layout)
        var reader = FrameReader(Array(frame.finished.dropFirst(4)))
        #expect(reader.kind == .create && reader.node == 7 && reader.call == 9)
        #expect(reader.value() == settings)
        #expect(reader.message() == .bytes([0, 1, 255]))
        let error = reader.error()
        #expect(error.message == "what" && error.hint == "do" && error.key == "k")
        #expect(reader.layout() == layout)
    }

    @Test("A frame that ends early, or is anything at all, is read without harm")
    func nonsense() {
        var frame = FrameWriter(.publish, node: 1)
        frame.put(SettingValue.list([.table(["key": .string("value")]), .integer(3)]))
        let whole = Array(frame.finished.dropFirst(4))
        for length in 0..<whole.count {
            var reader = FrameReader(Array(whole.prefix(length)))
            _ = reader.value()
        }
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0..<60, using: &random)).map { _ in UInt8.random(in: 0...8, using: &random)
            }
            var reader = FrameReader(bytes)
            _ = reader.value()
            _ = reader.layout()
            _ = reader.message()
        }
    }
}
