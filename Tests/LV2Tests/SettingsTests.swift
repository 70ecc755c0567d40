// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import TestSupport

@testable import LV2

/// What a file may say of an lv2 node, and what it is told when it says something else.
struct SettingsTests {
    private func failure(_ settings: [String: SettingValue]) throws -> NodeError {
        _ = try ProbeBundle.load()
        do {
            _ = try NodeHarness(lv2NodeType(), settings, maxBlock: 64)
        } catch let error as NodeError { return error }
        Issue.record("no error")
        return NodeError("")
    }

    @Test(
        "Each mistake has its own message, hint and setting at fault",
        arguments: [
            (settings(""), "plugin is missing", "the URI or the name", "plugin"),
            (
                settings("urn:voicegraph:test:prob"), "no LV2 plugin urn:voicegraph:test:prob is installed",
                "did you mean urn:voicegraph:test:probe?", "plugin"
            ),
            (settings("host prob"), "no LV2 plugin is called \"host prob\"", "did you mean Host Probe?", "plugin"),
            (
                settings("urn:voicegraph:test:demander"),
                " requires urn:voicegraph:test:moon, which the host does not offer", "cannot run here", ""
            ),
            (settings("urn:voicegraph:test:absent"), "absent.so: No such file or directory", "install", ""),
            (settings("urn:voicegraph:test:refuser"), "the plugin refused to start at 48000 Hz", "log", ""),
            (settings("urn:voicegraph:test:stranger"), "probe.so does not hold this plugin", "built", ""),
            (
                settings(ProbeBundle.probe, params: ["requst": .integer(1)]), "Host Probe has no parameter \"requst\"",
                "did you mean request?", "params.requst"
            ),
            (
                settings(ProbeBundle.probe, params: ["request": .integer(11)]),
                "request = 11 is out of the range of Host Probe", "between 0 and 10", "params.request"
            ),
            (
                settings(ProbeBundle.probe, params: ["request": .number(.nan)]), "request is not a finite number",
                "give a number", "params.request"
            ),
            (
                settings(ProbeBundle.probe, params: ["request": .string("much")]),
                "request = \"much\" is neither a number nor one of the port's labels", "give a number", "params.request"
            ),
            (
                settings(ProbeBundle.probe, params: ["request": .integer(1), "Ask The Worker": .integer(2)]),
                "request is given twice", "keep request", "params.request"
            ),
            (
                settings(ProbeBundle.probe, preset: "Loud And Fat"), "Host Probe has no preset \"Loud And Fat\"",
                "did you mean Loud And Far?", "preset"
            ),
            (
                settings(ProbeBundle.probe, state: "/nowhere/state.ttl"),
                "cannot read /nowhere/state.ttl: No such file or directory", "name a state's Turtle file", "state"
            ),
        ] as [([String: SettingValue], String, String, String)])
    func mistakesAreTold(given: [String: SettingValue], message: String, hint: String, key: String) throws {
        let error = try failure(given)
        #expect(error.message.contains(message), "\(error.message)")
        #expect(error.hint.contains(hint), "\(error.hint)")
        #expect(error.key == key)
    }

    @Test("A plugin is found by URI, by the end of its URI and by its name, in any capitals")
    func pluginsAreFound() throws {
        _ = try ProbeBundle.load()
        for name in [ProbeBundle.probe, "probe", "PROBE", "host probe"] {
            #expect(try World.shared.resolve(name) == ProbeBundle.probe)
        }
    }

    @Test("A parameter is set by symbol or label, with a number, a boolean or the label of a scale point")
    func parametersAreFound() throws {
        _ = try ProbeBundle.load()
        let info = try PluginInfo(.shared, uri: "urn:voicegraph:test:twins")
        let ports = try PortLayout(info)
        let values = try givenValues(
            ["freq": .integer(100), "high": .bool(true), "mode": .string("bright")], info, ports)
        #expect(values.parameters == [0: 100, 1: 1, 2: 2])
    }

    @Test("Odd port data gives a usable layout")
    func oddDataIsRead() throws {
        _ = try ProbeBundle.load()
        let layout = try PortLayout(try PluginInfo(.shared, uri: "urn:voicegraph:test:twins")).layout
        #expect(layout.parameters.map(\.key) == ["freq", "freq_1", "mode", "free", "cutoff"])
        // Bounds that follow the rate are wide enough for every rate, a default outside the bounds widens them.
        #expect(layout.parameters[0].range == 8...96000)
        #expect(layout.parameters[1].range == 0...5)
        #expect(layout.parameters[1].scale == VG_LINEAR)  // a logarithmic scale cannot begin at 0
        #expect(layout.parameters[2].flags == UInt32(VG_PARAM_STEPPED | VG_PARAM_ABRUPT))
        #expect(layout.parameters[2].doc == "Mode: 0 Warm, 2 Bright")
        #expect(layout.parameters[3].range.contains(1e30))
        #expect(layout.parameters[3].defaultValue == 0)
        #expect(layout.ports.map(\.symbol) == ["in", "key", "pitch", "out"])
        #expect(layout.ports.map(\.bus) == [nil, "key_input", "cv", nil])
    }

    @Test("A port that follows the sample rate begins, and is described, in Hz")
    func portsInHertz() throws {
        _ = try ProbeBundle.load()
        let layout = try PortLayout(try PluginInfo(.shared, uri: "urn:voicegraph:test:twins")).layout
        #expect(layout.parameters[4].defaultValue == 5400)
        #expect(layout.parameters[4].unit == "Hz")
        // A default that lies far outside the bounds is one in Hz.
        #expect(layout.parameters[0].defaultValue == 440)
        let ports = try World.shared.describe("urn:voicegraph:test:twins").ports
        let cutoff = try #require(ports.last)
        #expect(cutoff.minimum == 4.8 && cutoff.maximum == 21_600 && cutoff.defaultValue == 5400)
        #expect(cutoff.unit == "Hz" && ports[0].defaultValue == 440)
        #expect(ports[1].minimum == 0 && ports[1].maximum == 2 && ports[1].unit == "")
    }

    @Test(
        "A Butterworth crossover begins in the middle of what is heard, and not below it",
        needs("http://plugin.org.uk/swh-plugins/bwxover_iir", package: "swh-lv2"), arguments: [44_100, 48_000, 96_000])
    func crossoverBegins(rate: Double) throws {
        let harness = try NodeHarness(
            lv2NodeType(), settings("http://plugin.org.uk/swh-plugins/bwxover_iir"), rate: rate)
        // 1 kHz is far below 5.4 kHz, so that it comes out of the low half and not out of the high one.
        let tone = (0..<Int(rate)).map { Float(sin(2 * Double.pi * 1000 * Double($0) / rate)) }
        let output = harness.run(tone.count, inputs: [tone])
        let settled = output.map { peak($0[(tone.count / 2)...]) }
        #expect(settled[0] > 0.9 && settled[1] < 0.3, "\(settled)")
    }
}
