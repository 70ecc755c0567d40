// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@testable import LV2

/// What a plugin sees of its host, told by a plugin made for that.
@Suite(.timeLimit(.minutes(5)))
struct ProbeTests {
    /// A probe that is running, and its control outputs by symbol.
    private struct Scan {
        let harness: NodeHarness

        init(
            _ params: [String: SettingValue] = [:], preset: String? = nil, state: String? = nil, maxBlock: Int = 64,
            offline: Bool = false
        ) throws {
            _ = try ProbeBundle.load()
            harness = try NodeHarness(
                lv2NodeType(), settings(ProbeBundle.probe, params: params, preset: preset, state: state),
                maxBlock: maxBlock, offline: offline)
        }

        func run(_ blocks: Int = 1) -> [[Float]] {
            harness.run(blocks * harness.preparation.maxBlock, plan: .fixed(harness.preparation.maxBlock))
        }

        func value(_ symbol: String) throws -> Float {
            let outputs = harness.instance.ports.filter { $0.kind == VG_CONTROL_PORT && $0.direction == VG_OUTPUT }
            let index = try #require(outputs.firstIndex { $0.symbol == symbol })
            return try #require(harness.controlOutputs.last)[index]
        }
    }

    @Test("An output that the plugin never writes is silence")
    func unwrittenOutputIsZero() throws {
        #expect(try Scan().run(4) == [[Float](repeating: 0, count: 256)])
    }

    @Test("Offline, scheduled work is done in the same block, on the thread that asked")
    func offlineWorkIsImmediate() throws {
        let probe = try Scan(["request": .number(4)], offline: true)
        _ = probe.run(2)
        #expect(try probe.value("answer") == 8)
        #expect(try probe.value("threaded") == 0)
        #expect(try probe.value("cycles") == 1)  // as counted before the second run's end
    }

    @Test("Live, scheduled work is done on another thread and answered in a later block")
    func liveWorkIsThreaded() throws {
        let probe = try Scan(["request": .number(4)])
        let deadline = Date(timeIntervalSinceNow: 60)
        repeat { _ = probe.run() } while try probe.value("answer") != 8 && Date() < deadline
        #expect(try probe.value("answer") == 8)
        #expect(try probe.value("threaded") == 1)
    }

    @Test("Work that fails is told as health, until work succeeds", arguments: [false, true])
    func failedWorkIsTold(offline: Bool) throws {
        let probe = try Scan(["request": .number(10)], offline: offline)
        func wait(for health: [Health]) {
            let deadline = Date(timeIntervalSinceNow: 60)
            repeat { _ = probe.run() } while probe.harness.capture.health != health && Date() < deadline
            #expect(probe.harness.capture.health == health)
        }
        let degraded = Health.degraded("Host Probe could not do what it has to do besides playing: its work failed")
        wait(for: [degraded])
        probe.harness.set("request", 4)
        wait(for: [degraded, .ok])
    }

    @Test("The latency is known before the first block, and followed when it changes")
    func latencyIsFollowed() throws {
        let probe = try Scan(["frames": .integer(48)])
        #expect(probe.harness.instance.latency == 48)
        _ = probe.run()
        #expect(probe.harness.takeNotes().isEmpty)
        probe.harness.set("frames", 100)
        _ = probe.run()
        #expect(probe.harness.instance.latency == 100)
        let notes = probe.harness.takeNotes()
        #expect(notes.map(\.kind) == [VG_NOTICE_LATENCY.rawValue])
        #expect(notes.first?.value == 100)
    }

    @Test("The longest block is told as an option", arguments: [64, 128, 1000])
    func longestBlockIsTold(block: Int) throws {
        let probe = try Scan(maxBlock: block)
        _ = probe.run()
        #expect(try probe.value("longest") == Float(block))
    }

    @Test("A trigger fires for one block each time it is set")
    func triggerFiresOnce() throws {
        let probe = try Scan()
        _ = probe.run(3)
        #expect(try probe.value("bangs") == 0)
        probe.harness.set("bang", 1)
        _ = probe.run(3)
        #expect(try probe.value("bangs") == 1)
        probe.harness.set("bang", 0)
        _ = probe.run(2)
        probe.harness.set("bang", 1)
        _ = probe.run(2)
        #expect(try probe.value("bangs") == 2)
    }

    @Test("MIDI passes through a plugin with its frames and bytes")
    func midiPassesThrough() throws {
        let probe = try Scan()
        let sent = [
            TimedMIDI(0, [0x90, 60, 100]), TimedMIDI(63, [0x80, 60, 0]), TimedMIDI(64, [0xC0, 5]),
            TimedMIDI(100, [0xF0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xF7]),
        ]
        probe.harness.midiInputs = [sent]
        _ = probe.run(4)
        #expect(probe.harness.midiOutputs == [sent])
    }

    @Test("An event port offers in every block what the plugin asks for, here as much as another port")
    func outputCapacityIsReset() throws {
        let probe = try Scan()
        probe.harness.midiInputs = [[TimedMIDI(0, [0x90, 60, 100])]]
        for _ in 0..<3 {
            _ = probe.run()
            #expect(try probe.value("capacity") >= 30000)
        }
    }

    @Test("Who asks for a larger port hears whether it is that large already, and the port stays as it is")
    func portsAreNotResized() throws {
        let probe = try Scan()
        _ = probe.run(2)
        let lines = probe.harness.capture.logs.map(\.text).filter { $0.contains("room:") }
        // Two sizes of its output that are there, two that are not, an input, a control port, audio, and no ports.
        #expect(lines == ["Host Probe: room: 0 0 2 2 0 0 2 2 2 2"])
        #expect(try probe.value("capacity") >= 30000)
        _ = probe.run()
        #expect(try probe.value("capacity") >= 30000)
    }

    @Test("The position is told when the transport starts, jumps or stops, and not in between")
    func transportIsTold() throws {
        let probe = try Scan()
        func step(frame: UInt64, rolling: Bool) throws -> Float {
            probe.harness.transport = vg_transport(
                rolling: rolling, frame: frame, bpm: 120, beat: 5.5, beats_per_bar: 4, beat_type: 4)
            _ = probe.run()
            return try probe.value("positions")
        }
        _ = probe.run(2)
        #expect(try probe.value("positions") == 0)
        #expect(try step(frame: 0, rolling: true) == 1)
        #expect(try probe.value("speed") == 1)
        #expect(try probe.value("bar_beat") == 1.5)
        #expect(try step(frame: 64, rolling: true) == 1)
        #expect(try step(frame: 4800, rolling: true) == 2)
        #expect(try step(frame: 4864, rolling: false) == 3)
        #expect(try probe.value("speed") == 0)
        #expect(try step(frame: 4864, rolling: false) == 3)
    }

    @Test("A plugin may map new URIs while it runs")
    func mapsInRun() throws {
        let probe = try Scan()
        _ = probe.run()
        #expect(try probe.value("mapped") == 1)
    }

    @Test("What a plugin logs reaches the host's log, with its weight")
    func logArrives() throws {
        let probe = try Scan()
        _ = probe.run(3)
        let logs = probe.harness.capture.logs
        let made = logs.filter { $0.text == "Host Probe: made at 48000 Hz" }
        #expect(made.map(\.level) == [VG_LOG_WARNING.rawValue])
        #expect(logs.contains { $0.text == "Host Probe: third run" && $0.level == VG_LOG_DEBUG.rawValue })
    }

    @Test("The default state is restored before the first block")
    func defaultStateIsRestored() throws {
        let probe = try Scan()
        _ = probe.run()
        #expect(try probe.value("restored") == 7)
    }

    @Test("A preset sets ports and state, and params go before it", arguments: ["Loud And Far", "loud and far"])
    func presetApplies(label: String) throws {
        let probe = try Scan(preset: label, offline: true)
        _ = probe.run(2)
        #expect(try probe.value("restored") == 12.5)
        #expect(try probe.value("answer") == 6)
        #expect(probe.harness.instance.latency == 64)
        let other = try Scan(["request": .number(5)], preset: "urn:voicegraph:test:preset", offline: true)
        _ = other.run(2)
        #expect(try other.value("answer") == 10)
    }

    @Test("A state file sets ports and state")
    func stateFileApplies() throws {
        let folder = URL(fileURLWithPath: try ProbeBundle.load()).deletingLastPathComponent()
            .appendingPathComponent("saved")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let text = """
            @prefix lv2: <http://lv2plug.in/ns/lv2core#> .
            @prefix pset: <http://lv2plug.in/ns/ext/presets#> .
            @prefix state: <http://lv2plug.in/ns/ext/state#> .
            @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
            <> a pset:Preset ;
                lv2:appliesTo <urn:voicegraph:test:probe> ;
                lv2:port [ lv2:symbol "frames" ; pset:value 96 ] ;
                state:state [ <urn:voicegraph:test:value> "2.25"^^xsd:float ] .
            """
        try text.write(to: folder.appendingPathComponent("state.ttl"), atomically: true, encoding: .utf8)
        for path in [folder.path, folder.path + "/state.ttl"] {
            let probe = try Scan(state: path)
            _ = probe.run()
            #expect(try probe.value("restored") == 2.25)
            #expect(probe.harness.instance.latency == 96)
        }
    }

    @Test("A new preparation keeps the plugin's state")
    func stateSurvivesPreparation() throws {
        let probe = try Scan(preset: "Loud And Far")
        _ = probe.run()
        try probe.harness.prepare(Preparation(rate: 44100, maxBlock: 32))
        _ = probe.run()
        #expect(try probe.value("restored") == 12.5)
        #expect(try probe.value("longest") == 32)
    }

    @Test("A plugin that takes options goes on with blocks of another length")
    func optionsAreToldLater() throws {
        let probe = try Scan(["request": .number(4)], offline: true)
        _ = probe.run(3)
        #expect(try probe.value("cycles") == 2)
        try probe.harness.prepare(Preparation(rate: 48000, maxBlock: 32, offline: true))
        _ = probe.run()
        #expect(try probe.value("longest") == 32)
        #expect(try probe.value("cycles") == 3)
        #expect(try probe.value("answer") == 8)
    }

    @Test("What a plugin saved into a folder, another copy restores from it, ports to the last bit")
    func stateGoesThroughFolder() throws {
        let folder = URL(fileURLWithPath: try ProbeBundle.load()).deletingLastPathComponent()
            .appendingPathComponent("kept").path
        let probe = try Scan(["request": .number(1.2345678), "frames": .integer(77)], preset: "Loud And Far")
        _ = probe.run()
        #expect(probe.harness.instance.has("save"))
        try probe.harness.instance.save(to: folder)
        let restored = try Scan(state: folder)
        _ = restored.run()
        #expect(try restored.value("restored") == 12.5)
        #expect(restored.harness.instance.latency == 77)
        #expect(restored.harness.instance.parameters.first { $0.key == "request" }?.defaultValue == Float(1.2345678))
    }
}
