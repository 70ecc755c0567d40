// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport

@Suite struct ValueTests {
    private func roundTrip(_ value: SettingValue) -> SettingValue { value.withCValue { SettingValue($0.pointee) } }

    @Test(
        arguments: [
            .bool(true), .integer(.min), .integer(0), .number(-0.25), .string(""), .string("ümläut \"q\"\n🎛️"),
            .list([]),
            .table([:]), .list([.string("a"), .integer(2), .list([.bool(false)])]),
            .table(["x": .number(1), "y": .table(["z": .list([.string("deep")])]), "": .string("empty key")]),
        ] as [SettingValue])
    func everyValueCrossesTheBoundary(_ value: SettingValue) { #expect(roundTrip(value) == value) }

    /// A file may hold a list of any length; it must not cost stack.
    @Test func longListsCross() {
        let list = SettingValue.list((0..<200_000).map { .string("item \($0)") })
        #expect(roundTrip(list) == list)
    }

    @Test func deepTablesCross() {
        let value = (0..<200).reduce(SettingValue.bool(true)) { inner, _ in .table(["t": inner]) }
        #expect(roundTrip(value) == value)
    }

    @Test func integersFillTheNumberToo() {
        #expect(SettingValue.integer(7).withCValue { $0.pointee.number } == 7)
    }

    @Test(
        arguments: [
            .text(""), .text("Grüße, 世界"), .text("with \0 inside"), .number(.infinity), .bytes([]),
            .bytes([0, 255, 0, 1]),
        ] as [Message])
    func everyMessageCrossesTheBoundary(_ message: Message) {
        #expect(message.withCMessage { Message($0.pointee) } == message)
    }

    @Test func brokenTextBecomesReplacementCharacters() {
        let bytes: [CChar] = [-1, 65, 0]
        let message = bytes.withUnsafeBufferPointer {
            Message(vg_message(kind: VG_MESSAGE_TEXT, text: $0.baseAddress, length: 2, number: 0))
        }
        #expect(message == .text("\u{FFFD}A"))
    }
}

@Suite struct SettingsTests {
    private let settings = Settings([
        "text": .string("t"), "whole": .integer(3), "real": .number(2.5), "flag": .bool(true),
        "list": .list([.string("a"), .integer(1), .string("b")]), "table": .table(["k": .number(1)]),
    ])

    @Test func eachKindIsFoundUnderItsKey() {
        #expect(settings.string("text") == "t")
        #expect(settings.integer("whole") == 3)
        #expect(settings.number("real") == 2.5)
        #expect(settings.bool("flag") == true)
        #expect(settings.table("table") == ["k": .number(1)])
        #expect(settings.strings("list") == ["a", "b"])
    }

    @Test func anIntegerIsANumberButNotTheOtherWayRound() {
        #expect(settings.number("whole") == 3)
        #expect(settings.integer("real") == nil)
    }

    @Test func aSingleStringIsAListOfOne() { #expect(settings.strings("text") == ["t"]) }

    @Test func whatIsMissingOrOfAnotherKindIsNil() {
        #expect(settings.string("none") == nil)
        #expect(settings.string("whole") == nil)
        #expect(settings.bool("text") == nil)
        #expect(settings.number("flag") == nil)
        #expect(settings.table("list") == nil)
        #expect(settings.strings("none") == [])
    }
}

@Suite struct PortTests {
    @Test func aSingleChannelHasNoNumber() {
        #expect(Port.audio(VG_INPUT, channels: 1).map(\.symbol) == ["in"])
        #expect(Port.audio(VG_OUTPUT, channels: 3).map(\.symbol) == ["out_1", "out_2", "out_3"])
        #expect(Port.audio(VG_OUTPUT, channels: -5).isEmpty)
    }

    @Test func aRampHoldsItsTargetAfterItsEnd() {
        let ramp = vg_ramp(value: 1, step: 0.5, target: 3, frames: 4)
        withUnsafePointer(to: ramp) {
            let values = [$0[frame: 0], $0[frame: 1], $0[frame: 3], $0[frame: 4], $0[frame: 100]]
            #expect(values == [1, 1.5, 2.5, 3, 3])
        }
    }

    @Test func aFullMIDIBufferRefusesAndCounts() {
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
