// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import TestSupport

@Suite struct ValueTests {
    private func roundTrip(_ value: SettingValue) -> SettingValue { value.withCValue { SettingValue($0.pointee) } }

    @Test(
        "Every value crosses the boundary",
        arguments: [
            .bool(true), .integer(.min), .integer(0), .number(-0.25), .string(""), .string("ümläut \"q\"\n🎛️"),
            .list([]),
            .table([:]), .list([.string("a"), .integer(2), .list([.bool(false)])]),
            .table(["x": .number(1), "y": .table(["z": .list([.string("deep")])]), "": .string("empty key")]),
        ] as [SettingValue])
    func everyValue(_ value: SettingValue) { #expect(roundTrip(value) == value) }

    @Test("A factor may be given in decibels, and nothing else that has another unit")
    func decibelsOfFactors() throws {
        let gain = Parameter("g_out", "", 0...10, default: 1, unit: "G", label: "Output gain")
        #expect(gain.number(named: "-20 dB").map { abs($0 - 0.1) < 1e-12 } == true)
        #expect(gain.number(named: "0db") == 1)
        #expect(gain.number(named: "2 G") == 2)
        let calf = Parameter("level_in", "", 0.015625...64, default: 1, label: "Input Gain")
        #expect(calf.number(named: "6 dB").map { abs($0 - 1.9953) < 1e-4 } == true)
        for other in [
            Parameter("x", "", 0...10, default: 1, label: "Room size"),
            Parameter("x", "", -60...10, default: 0, label: "Gain"),
            Parameter("x", "", 0...10, default: 1, unit: "ms", label: "Level time"),
            Parameter("x", "", 0...1, default: 1, flags: VG_PARAM_TOGGLE, label: "Gain on"),
        ] { #expect(other.number(named: "-6 dB") == nil, "\(other.label)") }
        #expect(Parameter("x", "", -60...10, default: 0, unit: "dB", label: "Gain").number(named: "-6 dB") == -6)
    }

    /// A file may hold a list of any length; it must not cost stack.
    @Test("Long lists cross") func longLists() {
        let list = SettingValue.list((0..<200_000).map { .string("item \($0)") })
        #expect(roundTrip(list) == list)
    }

    @Test("Deep tables cross") func deepTables() {
        let value = (0..<200).reduce(SettingValue.bool(true)) { inner, _ in .table(["t": inner]) }
        #expect(roundTrip(value) == value)
    }

    @Test("Integers fill the number too") func integers() {
        #expect(SettingValue.integer(7).withCValue { $0.pointee.number } == 7)
    }

    @Test(
        "Every message crosses the boundary",
        arguments: [
            .text(""), .text("Grüße, 世界"), .text("with \0 inside"), .number(.infinity), .bytes([]),
            .bytes([0, 255, 0, 1]), Message(.text("part"), item: .max, position: 1 << 40, partial: true),
            Message(.number(1), urgent: true),
        ] as [Message])
    func everyMessage(_ message: Message) {
        #expect(message.withCMessage { Message($0.pointee) } == message)
    }

    @Test("Broken text becomes replacement characters") func brokenText() {
        let bytes: [CChar] = [-1, 65, 0]
        let message = bytes.withUnsafeBufferPointer { bytes in
            var c = vg_message()
            c.kind = VG_MESSAGE_TEXT
            c.text = bytes.baseAddress
            c.length = 2
            return Message(c)
        }
        #expect(message == .text("\u{FFFD}A"))
    }
}

@Suite struct SettingsTests {
    private let settings = Settings([
        "text": .string("t"), "whole": .integer(3), "real": .number(2.5), "flag": .bool(true),
        "list": .list([.string("a"), .integer(1), .string("b")]), "table": .table(["k": .number(1)]),
    ])

    @Test("Each kind is found under its key") func kinds() {
        #expect(settings.string("text") == "t")
        #expect(settings.integer("whole") == 3)
        #expect(settings.number("real") == 2.5)
        #expect(settings.bool("flag") == true)
        #expect(settings.table("table") == ["k": .number(1)])
        #expect(settings.strings("list") == ["a", "b"])
    }

    @Test("An integer is a number, but not the other way round") func integerIsNumber() {
        #expect(settings.number("whole") == 3)
        #expect(settings.integer("real") == nil)
    }

    @Test("A single string is a list of one") func singleString() { #expect(settings.strings("text") == ["t"]) }

    @Test("What is missing or of another kind is nil") func missing() {
        #expect(settings.string("none") == nil)
        #expect(settings.string("whole") == nil)
        #expect(settings.bool("text") == nil)
        #expect(settings.number("flag") == nil)
        #expect(settings.table("list") == nil)
        #expect(settings.strings("none") == [])
    }
}

@Suite struct PortTests {
    @Test("A single channel has no number") func singleChannel() {
        #expect(Port.audio(VG_INPUT, channels: 1).map(\.symbol) == ["in"])
        #expect(Port.audio(VG_OUTPUT, channels: 3).map(\.symbol) == ["out_1", "out_2", "out_3"])
        #expect(Port.audio(VG_OUTPUT, channels: -5).isEmpty)
    }

    @Test("A ramp holds its target after its end") func rampEnd() {
        let ramp = vg_ramp(value: 1, step: 0.5, target: 3, frames: 4, start: 0, length: 4)
        withUnsafePointer(to: ramp) {
            let values = [$0[frame: 0], $0[frame: 1], $0[frame: 3], $0[frame: 4], $0[frame: 100]]
            #expect(values == [1, 1.5, 2.5, 3, 3])
        }
    }

    @Test("A ramp begins at its frame") func rampStart() {
        let ramp = vg_ramp(value: 1, step: 0.5, target: 3, frames: 4, start: 10, length: 4)
        withUnsafePointer(to: ramp) {
            let values = [$0[frame: 0], $0[frame: 10], $0[frame: 11], $0[frame: 13], $0[frame: 14]]
            #expect(values == [1, 1, 1.5, 2.5, 3])
        }
    }

    @Test("A full MIDI buffer refuses and counts") func fullMIDI() {
        let events = UnsafeMutablePointer<vg_midi_event>.allocate(capacity: 2)
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 4)
        defer {
            events.deallocate()
            bytes.deallocate()
        }
        var midi = vg_midi(count: 0, capacity: 2, used: 0, byte_capacity: 4, dropped: 0, events: events, bytes: bytes)
        let note: [UInt8] = [0x90, 60, 1]
        #expect(vg_midi_write(&midi, 0, note, 3))
        #expect(!vg_midi_write(&midi, 1, note, 3))  // no room for three more bytes
        #expect(vg_midi_write(&midi, 2, note, 1))
        #expect(!vg_midi_write(&midi, 3, note, 0))  // no room for a third event
        #expect(midi.dropped == 2)
        #expect(midi.count == 2)
    }
}

@Suite struct ItemNumberTests {
    @Test(
        "Numbers grow; those of an instance that takes another's place are new, and offline every render has the same")
    func numbers() {
        var (first, second) = (ItemNumbers(), ItemNumbers())
        let given = (0..<3).map { _ in first.next(offline: false) }
        #expect(given == [given[0], given[0] + 1, given[0] + 2])
        usleep(4000)
        #expect(second.next(offline: false) > given[2] && second.last > given[2])
        for _ in 0..<2 {
            var numbers = ItemNumbers()
            #expect(numbers.last == 0 && numbers.next(offline: true) == 1 && numbers.next(offline: true) == 2)
        }
    }
}
