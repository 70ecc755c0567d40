// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport

/// What presses a switch, and what it says then.
@Suite struct SwitchTests {
    private func make(_ settings: [String: SettingValue] = [:]) throws -> NodeHarness {
        try NodeHarness(type("switch"), settings)
    }

    private func on(_ node: NodeHarness, frames: Int = 64) -> Float {
        _ = node.run(frames)
        let controls = node.controlOutputs.last!
        #expect(controls[0] + controls[1] == 1)
        return controls[0]
    }

    @Test("It is on from press to release, and every change is told") func hold() throws {
        let node = try make()
        #expect(on(node) == 0)
        try node.perform("press")
        #expect(on(node) == 1)
        try node.perform("press")
        #expect(on(node) == 1)
        try node.perform("release")
        #expect(on(node) == 0)
        #expect(try node.perform("toggle") == ["on": .bool(true)] && on(node) == 1)
        let states = node.capture.events.filter { $0.name == "switch.state" }.map { $0.fields["on"] }
        #expect(states == [false, true, true, false, true].map { .bool($0) })
    }

    @Test("A toggle is turned by presses only") func toggle() throws {
        let node = try make(["mode": .string("toggle"), "on": .bool(true)])
        #expect(on(node) == 1)
        try node.perform("press")
        #expect(on(node) == 0)
        try node.perform("release")
        #expect(on(node) == 0)
        try node.perform("press")
        #expect(on(node) == 1)
    }

    @Test("A MIDI note presses it, and what was let go within a block was on for that block") func notes() throws {
        let node = try make(["note": .integer(60)])
        func play(_ events: [[UInt8]]) -> Float {
            node.midiInputs[0] += events.enumerated().map { TimedMIDI(node.position + $0, $1) }
            return on(node)
        }
        #expect(play([[0x90, 61, 100]]) == 0)
        #expect(play([[0x95, 60, 100]]) == 1)
        #expect(play([]) == 1)
        #expect(play([[0x95, 60, 0]]) == 0)
        #expect(play([[0x90, 60, 1], [0x80, 60, 0]]) == 1)
        #expect(play([]) == 0)
    }

    @Test("A pedal presses it once however often it tells where it is") func pedal() throws {
        let node = try make(["controller": .integer(64), "mode": .string("toggle")])
        func play(_ events: [[UInt8]]) -> Float {
            node.midiInputs[0] += events.enumerated().map { TimedMIDI(node.position + $0, $1) }
            return on(node)
        }
        #expect(play([[0x90, 60, 100]]) == 0)
        #expect(play([[0xB0, 64, 70], [0xB0, 64, 90], [0xB0, 64, 127]]) == 1)
        #expect(play([[0xB0, 64, 10]]) == 1)
        #expect(play([[0xB0, 64, 127]]) == 0)
        #expect(play([]) == 0)
    }
}
