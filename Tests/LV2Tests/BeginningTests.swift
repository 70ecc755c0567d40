// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@testable import LV2

/// What a plugin has when its first block comes.
@Suite(.timeLimit(.minutes(5)))
struct BeginningTests {
    private static let prefix = "urn:voicegraph:test:begin"

    private func beginner(
        _ params: [String: SettingValue] = [:], preset: String? = nil, state: String? = nil, maxBlock: Int = 256,
        offline: Bool = true
    ) throws -> NodeHarness {
        _ = try ProbeBundle.loadBegin()
        return try NodeHarness(
            lv2NodeType(), settings(ProbeBundle.begin, params: params, preset: preset, state: state),
            maxBlock: maxBlock, offline: offline)
    }

    private func control(_ symbol: String, _ harness: NodeHarness) throws -> Float {
        let outputs = harness.instance.ports.filter { $0.kind == VG_CONTROL_PORT && $0.direction == VG_OUTPUT }
        let index = try #require(outputs.firstIndex { $0.symbol == symbol })
        return try #require(harness.controlOutputs.last)[index]
    }

    private func place(_ key: String, _ harness: NodeHarness) throws -> Int {
        try #require(harness.instance.parameterIndex(key))
    }

    // MARK: latency

    @Test("The latency at the start is that of the values that the parameters have, and again after a change of format")
    func latencyOfValues() throws {
        let harness = try beginner()
        #expect(harness.instance.latency == 48_000)
        var values = harness.instance.parameters.map(\.defaultValue)
        values[try place("delay", harness)] = 480
        // As a graph is prepared whose file sets the parameter beside `plugin`.
        try harness.prepare(Preparation(rate: 48_000, maxBlock: 256, offline: true, parameters: values))
        #expect(harness.instance.latency == 480)
        harness.set("delay", 480)
        _ = harness.run(256)
        #expect(harness.takeNotes().isEmpty, "the first block says the same")
        // Bounds that follow the rate, presets and the table say it as well.
        #expect(try beginner(preset: "Far").instance.latency == 480)
        #expect(try beginner(["delay": .integer(7)], preset: "Far").instance.latency == 7)
    }

    // MARK: properties

    @Test(
        "Properties and files of `params` are there from the first frame, at any block, offline and live",
        arguments: [16, 64, 1024, 8192], [true, false])
    func propertiesAreComplete(block: Int, offline: Bool) throws {
        let scratch = try Scratch()
        let file = try scratch.write("response.txt", "a file")
        let harness = try beginner(
            ["first": .number(1), "second": .number(2), "file": .string(file)], maxBlock: block, offline: offline)
        let output = harness.run(8192, plan: .fixed(block))
        #expect(output[0] == [Float](repeating: 121, count: 8192))
        // The plugin has begun anew after it was told.
        #expect(output[1] == (0..<8192).map(Float.init))
        #expect(harness.capture.logs.isEmpty)
    }

    @Test("A state is complete before the first block; what was told is not told again after another format")
    func stateIsComplete() throws {
        let scratch = try Scratch()
        let file = try scratch.write("response.txt", "a file")
        let first = try beginner(["first": .number(1), "file": .string(file)])
        _ = first.run(256)
        try first.instance.save(to: scratch.file("state"))
        let second = try beginner(state: scratch.file("state"))
        #expect(second.run(256)[0] == [Float](repeating: 100, count: 256))
        try first.instance.setProperty("first", to: .number(5))
        _ = first.run(256)
        try first.prepare(Preparation(rate: 44_100, maxBlock: 256, offline: true))
        #expect(first.run(256)[0] == [Float](repeating: 100, count: 256), "only what its state holds")
    }

    @Test("A file that the plugin's own state does not name after it was told is a warning")
    func forgottenFileIsTold() throws {
        let scratch = try Scratch()
        let file = try scratch.write("response.txt", "a file")
        let harness = try beginner(["deaf": .string(file)])
        let lines = harness.capture.logs.map(\.text)
        #expect(lines.count == 1 && lines[0].hasPrefix("Beginner may not have taken deaf = \"\(file)\""), "\(lines)")
    }

    // MARK: bounds

    @Test("A preset goes no further than the bounds, at load as live, and says so")
    func presetIsBounded() throws {
        let harness = try beginner(preset: "Far")
        _ = harness.run(256)
        #expect(try control("most_strict", harness) == 10)
        #expect(try control("most_soft", harness) == 10)
        let lines = harness.capture.logs.map(\.text)
        #expect(lines.count == 2 && lines[0].contains("strict outside of its range, 0 to 10: it is 10"), "\(lines)")

        let live = try beginner()
        _ = live.run(256)
        try live.instance.loadPreset("Far")
        _ = live.run(4096)
        #expect(try control("most_strict", live) == 10)
        #expect(try control("most_soft", live) == 10)
    }

    @Test("A default outside of strict bounds is moved into them")
    func strictDefault() throws {
        _ = try ProbeBundle.loadBegin()
        let layout = try PortLayout(try PluginInfo(.shared, uri: Self.prefix + ":wild")).layout
        #expect(layout.parameters[0].range == 0...10)
        #expect(layout.parameters[0].defaultValue == 10)
    }

    @Test("Booleans are numbers, as the vocabulary has them for toggled ports")
    func booleansAreRead() throws {
        let harness = try beginner()
        let parameter = harness.instance.parameters[try place("on", harness)]
        #expect(parameter.defaultValue == 1 && parameter.range == 0...1)
        _ = harness.run(256)
        #expect(try control("was_on", harness) == 1)
    }

    // MARK: triggers

    @Test("A trigger of the file fires once, one of a preset or after another format does not")
    func triggerAtTheStart() throws {
        let harness = try beginner(["go": .bool(true)])
        _ = harness.run(2048)
        #expect(try control("fired", harness) == 1)
        #expect(harness.instance.value(try place("go", harness)) == 0)
        try harness.prepare(Preparation(rate: 44_100, maxBlock: 256, offline: true))
        _ = harness.run(2048)
        #expect(try control("fired", harness) == 0)
        let preset = try beginner(preset: "Far")
        _ = preset.run(2048)
        #expect(try control("fired", preset) == 0)
    }
}
