// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@testable import LV2

/// Presets that are loaded while the plugin plays.
@Suite(.timeLimit(.minutes(5)))
struct LivePresetTests {
    private static let rate = 48_000.0
    private static let amplitude: Float = 0.5

    private static func sine(_ frames: Int) -> [Float] {
        (0..<frames).map { amplitude * Float(sin(2 * Double.pi * 220 * Double($0) / rate)) }
    }

    /// The largest difference between two samples that follow each other.
    private func step(_ signal: some Collection<Float>) -> Float {
        zip(signal, signal.dropFirst()).reduce(0) { max($0, abs($1.1 - $1.0)) }
    }

    /// Plays a sine for a second, with a preset that comes after a third of it; both channels.
    private func play(_ plugin: String, from: String, to: String, block: Int) throws -> (NodeHarness, [[Float]]) {
        let harness = try NodeHarness(lv2NodeType(), settings(plugin, preset: from), maxBlock: block)
        let input = Self.sine(48_000)
        let first = 16_000 / block * block
        let before = harness.run(first, inputs: [input, input], plan: .fixed(block))
        try harness.instance.loadPreset(to)
        let rest = Array(input[first...])
        let after = harness.run(48_000 - first, inputs: [rest, rest], plan: .fixed(block))
        return (harness, zip(before, after).map { $0 + $1 })
    }

    @Test(
        "What a preset switches is switched in silence: no step is larger than the fades allow",
        needs("http://zynaddsubfx.sourceforge.net/fx#Phaser", package: "zynaddsubfx-lv2"), arguments: [64, 128, 1024])
    func switchesAreFaded(block: Int) throws {
        let (harness, outputs) = try play(
            "http://zynaddsubfx.sourceforge.net/fx#Phaser", from: "Analog Phaser 1", to: "Phaser 5", block: block)
        let there = try NodeHarness(
            lv2NodeType(), settings("http://zynaddsubfx.sourceforge.net/fx#Phaser", preset: "Phaser 5"))
        for (index, parameter) in there.instance.parameters.enumerated() {
            #expect(harness.instance.ramps[index].target == parameter.defaultValue)
        }
        for output in outputs {
            // The sound of each preset by itself; then both with what lies between them.
            let ownSteps = max(step(output[4800..<16_000]), step(output[24_000...]))
            let fade = peak(output[4800...]) / Float(Self.rate / 100)
            // Half as much again for what the plugin does by itself on its way; unfaded it is ten times as much.
            #expect(step(output[4800...]) <= 1.5 * ownSteps + fade)
            #expect(peak(output[15_000..<24_000]) > 0.05)
            #expect((15_000..<24_000).contains { output[$0] == 0 && output[$0 + 1] == 0 })
            #expect(peak(output[30_000...]) > 0.05)
        }
    }

    @Test(
        "Parameters that may ramp do so, and the sound is not interrupted",
        needs("http://drobilla.net/plugins/mda/Detune", package: "mda-lv2"))
    func smoothParametersRamp() throws {
        let harness = try NodeHarness(
            lv2NodeType(), settings("http://drobilla.net/plugins/mda/Detune"), maxBlock: 64)
        let input = Self.sine(4800)
        _ = harness.run(4800, inputs: [input, input])
        let ramps = harness.instance.ramps
        let before = harness.instance.parameters.indices.map { ramps[$0].target }
        try harness.instance.loadPreset("out of tune")
        let moving = harness.instance.parameters.indices.filter { ramps[$0].target != before[$0] }
        #expect(!moving.isEmpty)
        #expect(moving.allSatisfy { ramps[$0].frames == 480 })
        let output = harness.run(4800, inputs: [input, input])[0]
        #expect(stride(from: 0, to: 4800, by: 64).allSatisfy { peak(output[$0..<min($0 + 64, 4800)]) > 0.001 })
    }

    /// The probe's control output of that symbol.
    private func value(_ symbol: String, _ harness: NodeHarness) throws -> Float {
        let outputs = harness.instance.ports.filter { $0.kind == VG_CONTROL_PORT && $0.direction == VG_OUTPUT }
        return try #require(harness.controlOutputs.last)[try #require(outputs.firstIndex { $0.symbol == symbol })]
    }

    @Test(
        "A state is restored while the plugin does not run; notes of that time come after it", arguments: [false, true])
    func restoredInPause(offline: Bool) throws {
        _ = try ProbeBundle.load()
        let harness = try NodeHarness(lv2NodeType(), settings(ProbeBundle.probe), maxBlock: 64, offline: offline)
        // 480 frames go out in silence, some blocks later the plugin is back.
        let notes = (0..<40).map { TimedMIDI(640 + $0 * 64 + 7, [0x90, UInt8($0), 100]) }
        harness.midiInputs = [notes]
        _ = harness.run(640)
        let before = try value("cycles", harness)
        try harness.instance.loadPreset("Loud And Far")
        try harness.instance.loadPreset("small and near")
        #expect(try value("restored", harness) == 7)
        _ = harness.run(40 * 64)
        #expect(try value("restored", harness) == 2.5)
        let missed = 40 - (try value("cycles", harness) - before)
        #expect((1...4).contains(missed))
        #expect(harness.midiOutputs[0].map(\.bytes) == notes.map(\.bytes))
        // Ports that only the first of the two presets sets have its values.
        #expect(harness.instance.latency == 64)
        if offline { #expect(try value("answer", harness) == 2) }
    }

    @Test("A preset that comes while the node does not play is there when it plays again")
    func inactiveNode() throws {
        _ = try ProbeBundle.load()
        let harness = try NodeHarness(lv2NodeType(), settings(ProbeBundle.probe), maxBlock: 64)
        _ = harness.run(640)
        try harness.instance.loadPreset("Loud And Far")
        harness.instance.deactivate()
        try harness.instance.loadPreset("Small And Near")
        harness.instance.activate()
        for frames in [64, 4800] {
            _ = harness.run(frames)
            #expect(try value("restored", harness) == 2.5)
        }
    }

    @Test(
        "A plugin that restores while it runs is not interrupted",
        needs("http://gareus.org/oss/lv2/zeroconvolv#Mono", package: "x42-plugins"))
    func safeRestore() throws {
        let harness = try NodeHarness(
            lv2NodeType(), settings("http://gareus.org/oss/lv2/zeroconvolv#Mono", preset: "No-OP Mono"), maxBlock: 256)
        let input = Self.sine(48_000)
        _ = harness.run(24_000, inputs: [input], plan: .fixed(256))
        try harness.instance.loadPreset("No-OP Mono")
        let output = harness.run(24_000, inputs: [input], plan: .fixed(256))[0]
        #expect(stride(from: 0, to: 23_808, by: 256).allSatisfy { peak(output[$0..<($0 + 256)]) > 0.4 })
    }

    @Test("An unknown preset changes nothing and is told with what there is")
    func unknownPresetIsTold() throws {
        _ = try ProbeBundle.load()
        let harness = try NodeHarness(lv2NodeType(), settings(ProbeBundle.probe), maxBlock: 64)
        let error = #expect(throws: NodeError.self) { try harness.instance.loadPreset("loud and fat") }
        #expect(error?.message == "Host Probe has no preset \"loud and fat\"")
        #expect(error?.hint == "did you mean Loud And Far?")
        #expect(try #require(try? NodeHarness(lv2NodeType(), settings(ProbeBundle.probe))).instance.has("preset"))
    }
}
