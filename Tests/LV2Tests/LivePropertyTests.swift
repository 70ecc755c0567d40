// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@testable import LV2

/// Properties that are set and asked for while the plugin plays.
@Suite(.timeLimit(.minutes(5)))
struct LivePropertyTests {
    /// The values that the node has told of a property so far.
    private func told(_ key: String, _ harness: NodeHarness) -> [SettingValue] {
        harness.capture.events.filter { $0.name == "property" && $0.fields["key"] == .string(key) }
            .compactMap { $0.fields["value"] }
    }

    @Test(
        "A property of every kind is set, asked for and told", needs(Plugins.params, package: "lv2-examples"),
        arguments: [
            ("string", SettingValue.string("Grüß Gott"), SettingValue.string("Hello, world")),
            ("int", .integer(-12), .integer(0)), ("long", .integer(1 << 40), .integer(0)),
            ("float", .number(0.5), .number(Double(Float(0.1234)))), ("double", .number(1e-300), .number(0)),
            ("bool", .bool(true), .bool(false)),
        ] as [(String, SettingValue, SettingValue)])
    func propertiesGoRound(key: String, value: SettingValue, first: SettingValue) throws {
        let harness = try NodeHarness(lv2NodeType(), settings(Plugins.params))
        _ = harness.run(256)
        #expect(try harness.property(key) == first)
        try harness.instance.setProperty(key, to: value)
        #expect(try harness.property(key) == value)
        // Asked again, it tells again, though nothing has changed; that is no event.
        #expect(try harness.property(key) == value)
        #expect(told(key, harness) == [first, value])
        guard case .table(let entry)? = try properties(harness)[key] else {
            Issue.record("\(key) is not among the properties")
            return
        }
        #expect(entry["value"] == value && entry["writable"] == .bool(true) && entry["kind"] == .string(key))
        #expect(entry["uri"] == .string("\(Plugins.params)#\(key)"))
    }

    private func properties(_ harness: NodeHarness) throws -> [String: SettingValue] {
        guard case .table(let properties)? = try harness.perform("properties")["properties"] else { return [:] }
        return properties
    }

    @Test(
        "A question that the plugin does not answer ends with an error", needs(Plugins.params, package: "lv2-examples"))
    func noAnswerIsTold() throws {
        let harness = try NodeHarness(lv2NodeType(), settings(Plugins.params))
        _ = harness.run(256)
        let begun = ContinuousClock.now
        let error = #expect(throws: NodeError.self) { try harness.property("STRING", playing: false) }
        #expect(error?.message.hasSuffix("did not tell STRING within 2 s") == true, "\(String(describing: error))")
        #expect(error?.hint == "not every plugin answers")
        #expect(ContinuousClock.now - begun >= .seconds(2))
        // The message is still on its way, and its answer is what the plugin tells by itself.
        #expect(told("string", harness).isEmpty)
        _ = harness.run(256)
        #expect(told("string", harness) == [.string("Hello, world")])
    }

    @Test(
        "A sampler is given another sample while it plays, and tells which it has",
        needs(Plugins.sampler, package: "lv2-examples"))
    func sampleIsChanged() throws {
        let scratch = try Scratch()
        let path = scratch.file("tone.wav")
        try WaveFile.write([(0..<4800).map { 0.25 * sinf(Float($0) * 0.05) }], to: path)
        let harness = try NodeHarness(lv2NodeType(), settings(Plugins.sampler), baseFolder: scratch.path)
        _ = harness.run(1024)
        try harness.instance.setProperty("sample", to: .string("tone.wav"))
        // The worker loads it meanwhile, so that it takes some blocks.
        let end = ContinuousClock.now + .seconds(20)
        while told("sample", harness).last != .string(path), ContinuousClock.now < end {
            _ = try harness.property("sample")
        }
        try #require(told("sample", harness).last == .string(path))
        harness.midiInputs = [[TimedMIDI(harness.position + 100, [0x90, 60, 127])]]
        let output = harness.run(9600)[0]
        // The default sample is a click; this one lasts.
        #expect(peak(output[3000..<4000]) > 0.1)
    }

    @Test("What cannot be set or asked for is told", needs(Plugins.params, package: "lv2-examples"))
    func mistakesAreTold() throws {
        let harness = try NodeHarness(lv2NodeType(), settings(Plugins.params))
        func failure(_ body: () throws -> Void) -> String? {
            #expect(throws: NodeError.self, performing: body)?.message
        }
        #expect(failure { try harness.instance.setProperty("strin", to: .string("")) }?.hasSuffix("\"strin\"") == true)
        #expect(failure { try harness.instance.setProperty("int", to: .string("one")) } == "int takes a whole number")
        #expect(
            failure { try harness.instance.setProperty("path", to: .string("/nowhere")) }
                == "cannot read /nowhere: No such file or directory")
        #expect(failure { try harness.instance.setProperty("lfo", to: .number(0)) }?.hasSuffix("only be read") == true)
        #expect(failure { _ = try harness.property("strin") }?.hasSuffix("\"strin\"") == true)
        #expect(told("int", harness).isEmpty)
        let without = try NodeHarness(lv2NodeType(), settings(Plugins.amp))
        #expect(failure { _ = try without.property("gain") }?.hasSuffix("has no property \"gain\"") == true)
        #expect(try without.perform("properties") == ["properties": .table([:])])
    }

    @Test("Values that ports with one symbol had are restored to each of them")
    func twinsAreToldApart() throws {
        let bundle = try ProbeBundle.load()
        let folder = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("twins").path
        let uri = "urn:voicegraph:test:twins"
        let given: [String: SettingValue] = ["freq": .number(1000), "freq_1": .number(1.25), "mode": .integer(2)]
        let saved = try NodeHarness(lv2NodeType(), settings(uri, params: given))
        _ = saved.run(64)
        try saved.instance.save(to: folder)
        let restored = try NodeHarness(lv2NodeType(), settings(uri, state: folder))
        func values(_ harness: NodeHarness) -> [Float] { harness.instance.parameters.map(\.defaultValue) }
        #expect(values(restored)[..<3] == [1000, 1.25, 2])
        // Another host writes one value for a symbol: it is the first port's.
        let text = """
            @prefix lv2: <http://lv2plug.in/ns/lv2core#> .
            @prefix pset: <http://lv2plug.in/ns/ext/presets#> .
            <> a pset:Preset ; lv2:appliesTo <\(uri)> ; lv2:port [ lv2:symbol "freq" ; pset:value 500.0 ] .
            """
        let file = folder + "/other.ttl"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(values(try NodeHarness(lv2NodeType(), settings(uri, state: file)))[..<2] == [500, 5])
    }

    @Test("A plugin that does not heed another block length is made anew")
    func stubbornPluginIsReplaced() throws {
        _ = try ProbeBundle.load()
        let harness = try NodeHarness(
            lv2NodeType(), settings(ProbeBundle.probe, params: ["request": .number(9)]), maxBlock: 64, offline: true)
        let outputs = harness.instance.ports.filter { $0.kind == VG_CONTROL_PORT && $0.direction == VG_OUTPUT }
        let longest = try #require(outputs.firstIndex { $0.symbol == "longest" })
        _ = harness.run(64)
        #expect(harness.controlOutputs.last?[longest] == 64)
        try harness.prepare(Preparation(rate: 48_000, maxBlock: 32, offline: true))
        _ = harness.run(32, plan: .fixed(32))
        #expect(harness.controlOutputs.last?[longest] == 32)
    }

    @Test("Ports grow as large as others, which may depend on others themselves")
    func portsGrowAlike() {
        func port(_ symbol: String, _ size: Int, _ others: String...) -> PluginPort {
            var port = PluginPort(index: 0, symbol: symbol, name: symbol, kind: .atom, isInput: true)
            port.minimumSize = size
            port.asLargeAs = others
            return port
        }
        var ports = [port("a", 10, "b", "c"), port("b", 20, "d"), port("c", 15), port("d", 70, "a"), port("e", 5, "x")]
        ports.growAlike()
        #expect(ports.map(\.minimumSize) == [70, 70, 15, 70, 5])
    }
}
