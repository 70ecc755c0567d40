// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit
import Nodes
import TestSupport

/// The built-in type called `name`, if there is one.
func builtInNodeType(_ name: String) -> UnsafePointer<vg_node_type>? {
    builtInNodeTypes.first { String(cString: $0.pointee.name) == name }
}

/// The built-in type called `name`.
func type(_ name: String) throws -> UnsafePointer<vg_node_type> {
    try #require(builtInNodeType(name), "there is no type \(name)")
}

private let names = builtInNodeTypes.map { String(cString: $0.pointee.name) }

private func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

@Suite struct BuiltInTests {
    @Test("The list is made once") func madeOnce() { #expect(builtInNodeTypes == builtInNodeTypes) }

    @Test("Every name is there once") func uniqueNames() {
        #expect(Set(names).count == names.count)
        let expected: Set = [
            "input", "output", "midi-input", "midi-output", "gain", "mix", "pan", "mute", "delay", "tone", "tap",
            "meter", "visualizer", "filter", "eq", "lfo", "follower", "balance", "polarity", "downmix", "gate",
            "deesser", "compressor", "limiter", "duck", "switch",
        ]
        #expect(expected.isSubset(of: names))
        #expect(builtInNodeType("no-such-type") == nil)
    }

    @Test("Types name parts properly", arguments: names) func partNames(_ name: String) throws {
        let type = try type(name).pointee
        #expect(name.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" })
        #expect(!text(type.summary).isEmpty)
        #expect(type.abi == UInt32(VG_ABI_VERSION))
        let external = type.flags & UInt32(VG_EXTERNAL) != 0
        #expect((type.process == nil) == external, "only the nodes at the edge have no processing of their own")
    }

    @Test("Ports have unique symbols and docs", arguments: names) func portDocs(_ name: String) throws {
        let layout = try type(name).pointee.default_layout
        let ports = elements(of: layout.ports, as: vg_port.self)
        #expect(!ports.isEmpty)
        #expect(Set(ports.map { text($0.symbol) }).count == ports.count)
        for port in ports { #expect(!text(port.doc).isEmpty, "port \(text(port.symbol))") }
    }

    @Test("Keys are unique and documented", arguments: names) func keyDocs(_ name: String) throws {
        let type = try type(name).pointee
        let layout = type.default_layout
        let parameters = elements(of: layout.parameters, as: vg_parameter.self)
        let settings = elements(of: type.settings, as: vg_setting.self)
        let keys = parameters.map { text($0.key) } + settings.map { text($0.key) }
        #expect(Set(keys).count == keys.count)
        for parameter in parameters { #expect(!text(parameter.doc).isEmpty, "parameter \(text(parameter.key))") }
        for setting in settings { #expect(!text(setting.doc).isEmpty, "setting \(text(setting.key))") }
    }

    @Test("Defaults are within their ranges", arguments: names) func defaultRanges(_ name: String) throws {
        let type = try type(name).pointee
        let layout = type.default_layout
        for parameter in elements(of: layout.parameters, as: vg_parameter.self) {
            #expect(parameter.minimum < parameter.maximum)
            #expect((parameter.minimum...parameter.maximum).contains(parameter.default_value), "\(text(parameter.key))")
        }
        for setting in elements(of: type.settings, as: vg_setting.self) {
            guard let written = setting.default_text.map({ String(cString: $0) }) else { continue }
            if setting.kind == VG_SET_INTEGER || setting.kind == VG_SET_NUMBER {
                let number = try #require(Double(written), "default of \(text(setting.key))")
                if setting.minimum != setting.maximum {
                    #expect((setting.minimum...setting.maximum).contains(number), "default of \(text(setting.key))")
                }
            }
            let choices = UnsafeBufferPointer(start: setting.choices, count: Int(setting.choice_count))
            if !choices.isEmpty { #expect(choices.contains { "\"\(text($0))\"" == written }) }
        }
    }

    @Test("The layout without settings is the default layout", arguments: names) func defaultLayout(_ name: String)
        throws
    {
        let type = try type(name)
        let node = try NodeInstance(type: type, name: "n", settings: Settings())
        let layout = type.pointee.default_layout
        let ports = elements(of: layout.ports, as: vg_port.self)
        let parameters = elements(of: layout.parameters, as: vg_parameter.self)
        #expect(node.ports.map(\.symbol) == ports.map { text($0.symbol) })
        #expect(node.ports.map(\.kind) == ports.map(\.kind))
        #expect(node.parameters.map(\.key) == parameters.map { text($0.key) })
    }

    @Test(
        "The setting `channels` gives that many channels",
        arguments: [
            "input", "output", "gain", "mix", "mute", "delay", "tone", "tap", "meter", "visualizer", "filter", "eq",
            "gate", "deesser", "compressor", "limiter",
            "polarity",
        ],
        [1, 2, 64])
    func channels(_ name: String, _ channels: Int) throws {
        let node = try NodeInstance(
            type: type(name), name: "n", settings: Settings(["channels": .integer(Int64(channels))]))
        let outputs = node.ports.filter {
            $0.kind == VG_AUDIO_PORT && $0.direction == (name == "output" ? VG_INPUT : VG_OUTPUT)
        }
        #expect(outputs.count == channels)
    }

    @Test(
        "Absurd channel counts are refused with the key",
        arguments: [
            "input", "output", "gain", "mix", "mute", "delay", "tone", "tap", "meter", "visualizer", "filter", "eq",
            "gate", "deesser", "compressor", "limiter",
            "polarity",
        ],
        [-1, 0, 65])
    func absurdChannels(_ name: String, _ channels: Int) throws {
        let error = #expect(throws: NodeError.self) {
            try NodeInstance(
                type: type(name), name: "n", settings: Settings(["channels": .integer(Int64(channels))]))
        }
        #expect(error?.key == "channels")
        #expect(error?.hint == "use 1 to 64")
    }

    /// NaN and infinities may come out while they go in, but not for ever.
    @Test("Nonsense in the input passes", arguments: names.filter { builtInNodeType($0)?.pointee.process != nil })
    func nonsense(_ name: String) throws {
        let settings: [String: SettingValue] = name == "delay" ? ["frames": .integer(100)] : [:]
        let harness = try NodeHarness(type(name), settings)
        let nonsense: [Float] = (0..<256).map { [.nan, .infinity, -.infinity, 1][$0 % 4] }
        let channels = harness.instance.ports.count { $0.kind == VG_AUDIO_PORT && $0.direction == VG_INPUT }
        _ = harness.run(256, inputs: Array(repeating: nonsense, count: channels))
        _ = harness.run(1024)
        let sine = Signal.sine(1000, rate: 48000, frames: 1024)
        for output in harness.run(1024, inputs: Array(repeating: sine, count: channels)) {
            #expect(output.allSatisfy { $0.isFinite })
        }
    }

    @Test(
        "Silence that comes in is flagged as silence that goes out",
        arguments: [
            "gain", "mix", "pan", "mute", "delay", "meter", "visualizer", "tap", "filter", "eq", "balance", "polarity",
            "gate", "deesser", "compressor", "limiter",
            "downmix",
        ])
    func silence(_ name: String) throws {
        let harness = try NodeHarness(type(name))
        _ = harness.run(1024)
        let flags = harness.silentOutputs.flatMap(\.self)
        #expect(!flags.contains(false))
        harness.flagsSilence = false
        for output in harness.run(1024) { #expect(Signal.peak(output) == 0) }
    }
}
