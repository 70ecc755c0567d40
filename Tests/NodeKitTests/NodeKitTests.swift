// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit
import TestSupport

/// A node that fails, counts and echoes as its settings say.
final class Probe: Node {
    static let descriptor = NodeDescriptor(
        "probe", "for tests", doc: "Many lines.\nWith \"quotes\" and ümlauts.",
        ports: [
            Port(VG_AUDIO_PORT, VG_INPUT, "in", doc: "what comes"),
            Port(VG_CONTROL_PORT, VG_INPUT, "amount", doc: "a number", bus: "side", defaultValue: 0.25),
            Port(VG_MIDI_PORT, VG_INPUT, "notes"), Port(VG_MESSAGE_PORT, VG_INPUT, "text"),
            Port(VG_AUDIO_PORT, VG_OUTPUT, "out"), Port(VG_CONTROL_PORT, VG_OUTPUT, "twice"),
            Port(VG_MIDI_PORT, VG_OUTPUT, "echo"), Port(VG_MESSAGE_PORT, VG_OUTPUT, "answer"),
        ],
        parameters: [Parameter("speed", "how fast", 0.5...4, default: 1, unit: "s", scale: VG_LOGARITHMIC)],
        settings: [
            Setting(
                "mode", VG_SET_STRING, "how", required: true, default: "\"a\"", range: 1...2, unit: "Hz",
                choices: ["a", "b"]),
            Setting("volume", VG_SET_NUMBER, "how loud", default: "1", live: true),
        ],
        actions: [
            Action(
                "add", "adds up", arguments: [Setting("a", VG_SET_NUMBER, "one", required: true)],
                results: [Field("sum", VG_NUMBER, "both", unit: "s")], urgent: true, lasting: true),
            Action("later", "ends when the next message comes"), .preset,
        ],
        events: [
            EventType("polled", "at every poll", fields: [Field("mode", VG_STRING, "the setting")]),
            EventType("finished", "at the end", retained: true),
        ],
        series: [Series("one", "a number", unit: "dBFS", rate: 60, width: 1), Series("many", "numbers")],
        flags: VG_IN_PLACE, process: probeProcess)

    struct Processor: BitwiseCopyable {
        var gain: Float
        var note: UnsafePointer<CChar>
    }

    let layout: Layout
    let host: NodeHost
    let settings: Settings
    var received: [Message] = []

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        if let message = settings.string("fail") {
            throw NodeError(message, hint: settings.string("hint") ?? "", key: settings.string("key") ?? "")
        }
        self.settings = settings
        self.host = host
        var layout = Self.descriptor.layout
        layout.ports += (0..<(settings.integer("extra") ?? 0)).map {
            Port(VG_AUDIO_PORT, VG_OUTPUT, "extra_\($0)", doc: "number \($0)", bus: "extra")
        }
        self.layout = layout
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        if preparation.rate > 100_000 { throw NodeError("cannot do \(preparation.rate) Hz", hint: "use less") }
        let note: StaticString = "a note"
        return Processor(
            gain: Float(preparation.maxBlock),
            note: UnsafeRawPointer(note.utf8Start).assumingMemoryBound(to: CChar.self))
    }

    private var volume = 1.0
    private var pending: PendingCall?

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        switch action {
        case "add": call.put("sum", .number(volume + (arguments.number("a") ?? 0)))
        case "later": pending = call.later()
        default: throw NodeError("no preset \(arguments.string("preset") ?? "")", hint: "none at all", key: "preset")
        }
    }
    func set(_ setting: String, to value: SettingValue) throws(NodeError) {
        volume = Settings([setting: value]).number(setting) ?? 0
        if volume < 0 { throw NodeError("too quiet") }
    }
    func finish() {
        host.publish([[1], [2, 3, 4]], at: 70)
        host.publish("finished", at: 71)
        host.count("finished", 2)
        host.health(.degraded("it is over"))
    }

    func activate() { host.log(VG_LOG_INFO, "activated \(host.nodeName) in \(host.resolve("x"))") }
    func deactivate() { host.log(VG_LOG_WARNING, "deactivated") }
    func receive(_ message: Message, port: Int) {
        pending?.put("message", .string(message.kind))
        pending?.finish()
        pending = nil
        host.send(message, port: port)
    }
    func poll() { host.publish("polled", settings.values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }) }
    var latency: Int { 77 }
    var isIdle: Bool { settings.bool("busy") != true }
}

@_noLocks
private func probeProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Probe.Processor.self)
    for output in 0..<io.outputCount {
        for frame in 0..<cycle.frames {
            io.output(output)[frame] = io.input(0)[frame] * state.pointee.gain * io.parameter(0)[frame: frame]
        }
    }
    io.setControl(0, 2 * io.control(0))
    let midi = io.midiInput(0)
    for index in 0..<Int(midi.pointee.count) {
        let event = midi.pointee.events[index]
        _ = vg_midi_write(io.midiOutput(0), event.frame, midi.pointee.bytes + Int(event.offset), event.size)
    }
    _ = vg_notice_push(io, VG_NOTICE_EVENT, state.pointee.note, 5, cycle.pointee.position)
}

private let probe = SendableType(pointer: makeNodeType(Probe.self))

private struct SendableType: @unchecked Sendable {
    // Sendable: a type never changes.
    let pointer: UnsafePointer<vg_node_type>
}

@Suite struct NodeTypeTests {
    @Test("The description crosses the boundary whole") func description() throws {
        let type = probe.pointer.pointee
        #expect(type.abi == UInt32(VG_ABI_VERSION))
        #expect(Int(type.size) == MemoryLayout<vg_node_type>.size)
        #expect(String(cString: type.name) == "probe")
        #expect(String(cString: type.doc) == Probe.descriptor.doc)
        let declared = NodeDeclarations(probe.pointer)
        let setting = elements(of: type.settings, as: vg_setting.self)[0]
        #expect(declared.settings.map(\.isLive) == [false, true])
        #expect(declared.actions.map(\.name) == ["add", "later", "preset"])
        #expect(declared.actions[0].isUrgent && declared.actions[0].isLasting && !declared.actions[1].isUrgent)
        #expect(declared.actions[0].arguments.map(\.key) == ["a"] && declared.actions[0].arguments[0].required)
        #expect(declared.actions[0].results == Probe.descriptor.actions[0].results)
        #expect(declared.events == Probe.descriptor.events && declared.series == Probe.descriptor.series)
        #expect(setting.required)
        #expect(String(cString: setting.default_text) == "\"a\"")
        #expect((setting.minimum, setting.maximum) == (1, 2))
        #expect((0..<2).map { String(cString: setting.choices[$0]!) } == ["a", "b"])
        let node = try NodeInstance(type: probe.pointer, name: "n", settings: Settings())
        #expect(node.ports.map(\.symbol) == Probe.descriptor.layout.ports.map(\.symbol))
        #expect(node.ports[1].bus == "side")
        #expect(node.ports[1].defaultValue == 0.25)
        #expect(node.parameters[0].range == 0.5...4)
        #expect(node.parameters[0].scale == VG_LOGARITHMIC)
        #expect(node.parameters[0].unit == "s")
    }

    @Test("A layout of its own stays the same for the node's life") func ownLayout() throws {
        let host = NodeCapture()
        let node = try NodeInstance(
            type: probe.pointer, name: "n", settings: Settings(["extra": .integer(40)]), services: host.services)
        #expect(node.ports.count == 48)
        #expect(node.ports.last?.doc == "number 39")
        // Many others come and go; the first one's ports stay what they are.
        for count in 0..<200 {
            _ = try NodeInstance(type: probe.pointer, name: "o", settings: Settings(["extra": .integer(Int64(count))]))
        }
        try node.prepare(Preparation(rate: 48000, maxBlock: 64))
        #expect(node.ports.map(\.symbol).last == "extra_39")
        #expect(probe.pointer.pointee.default_layout.ports.count == 8)
    }

    @Test("Calls that a type does not implement are left out") func unimplemented() {
        let quiet = makeNodeType(Quiet.self).pointee
        #expect(quiet.poll == nil && quiet.latency == nil && quiet.extensions.count == 0)
        let extensions = TypeExtensions(probe.pointer.pointee)
        #expect(probe.pointer.pointee.poll != nil && extensions.offline != nil && extensions.ending != nil)
        #expect(extensions.actions?.pointee.perform != nil && extensions.liveSettings != nil)
        #expect(extensions.messages != nil && extensions.loop == nil)
    }

    @Test("A plugin lists its types and refuses another ABI") func pluginList() throws {
        let plugin = exportPlugin(
            Probe.self, Quiet.self, name: "two", version: "1.0", license: "MIT", hostABI: UInt32(VG_ABI_VERSION))
        let c = try #require(plugin?.pointee)
        #expect((0..<Int(c.type_count)).map { String(cString: c.types[$0]!.pointee.name) } == ["probe", "quiet"])
        #expect(String(cString: c.license) == "MIT")
        #expect(exportPlugin(Probe.self, name: "", version: "", license: "", hostABI: 99) == nil)
    }
}

final class Quiet: Node {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor("quiet", "for tests")
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}

@Suite struct NodeLifeTests {
    @Test("Every half speaks to the other") func halves() throws {
        let harness = try NodeHarness(
            probe.pointer, ["mode": .string("b")], maxBlock: 256, name: "p", baseFolder: "/base")
        harness.controlInputs = [1.5]
        harness.midiInputs = [[TimedMIDI(3, [0x90, 60, 100]), TimedMIDI(70, [0x80, 60, 0])]]
        harness.set("speed", 0.5)
        let output = harness.run(100, inputs: [Signal.constant(1, frames: 100)], plan: .fixed(64))
        #expect(output == [Signal.constant(128, frames: 100)])
        #expect(harness.controlOutputs == [[3], [3]])
        #expect(harness.midiOutputs == harness.midiInputs)
        #expect(harness.takeNotes().map(\.position) == [0, 64])
        #expect(harness.instance.latency == 77)
        #expect(harness.instance.isIdle)
        harness.instance.receive(.number(4), port: 0)
        #expect(harness.capture.messages.map(\.message) == [.number(4)])
        harness.instance.finish()
        #expect(harness.capture.frames == [CapturedFrame(rows: [0: [1], 1: [2, 3, 4]], position: 70)])
        #expect(harness.capture.counts == ["finished": 2])
        #expect(harness.capture.health == [.degraded("it is over")])
        harness.instance.deactivate()
        #expect(harness.capture.logs.map(\.text) == ["activated p in /base/x", "deactivated"])
        #expect(harness.capture.events.map(\.fields) == [["mode": .string("b")], ["mode": .string("b")], [:]])
        #expect(harness.capture.events.map(\.position) == [0, 0, 71])
    }

    @Test("An action returns its results or why not, now or later") func actions() throws {
        let harness = try NodeHarness(probe.pointer, offline: true)
        #expect(try harness.perform("add", ["a": .integer(2)]) == ["sum": .number(3)])
        try harness.set(setting: "volume", to: .number(4))
        #expect(try harness.perform("add", ["a": .integer(2)]) == ["sum": .number(6)])
        let quiet = #expect(throws: NodeError.self) { try harness.set(setting: "volume", to: .number(-1)) }
        #expect(quiet?.message == "too quiet")
        let fixed = #expect(throws: NodeError.self) { try harness.set(setting: "mode", to: .string("a")) }
        #expect(fixed?.message == "'mode' cannot be changed while it plays")
        let none = #expect(throws: NodeError.self) { try harness.perform("preset", ["preset": .string("x")]) }
        #expect(none?.message == "no preset x" && none?.hint == "none at all" && none?.key == "preset")
        #expect(throws: NodeError.self) { try harness.perform("add") }

        let monitor = Monitor()
        nonisolated(unsafe) var result: [String: SettingValue]?
        harness.instance.perform("later") { answer in monitor.locked { result = try? answer.get() } }
        harness.instance.drain()
        #expect(monitor.locked { result } == nil)
        harness.instance.receive(.number(1), port: 0)
        #expect(monitor.locked { result } == ["message": .string("number")])
    }

    @Test("A failure in `prepare` is reported, and a new `prepare` may work") func failingPrepare() throws {
        let node = try NodeInstance(type: probe.pointer, name: "n", settings: Settings())
        let error = #expect(throws: NodeError.self) { try node.prepare(Preparation(rate: 192_000, maxBlock: 64)) }
        #expect(error?.message == "cannot do 192000.0 Hz")
        #expect(error?.hint == "use less")
        #expect(node.processor == nil)
        try node.prepare(Preparation(rate: 48000, maxBlock: 64))
        #expect(node.processor != nil)
    }

    @Test(
        "Errors are cut between code points",
        arguments: [
            "short", "", String(repeating: "x", count: 511), String(repeating: "x", count: 512),
            String(repeating: "ü", count: 1000), String(repeating: "🎙️", count: 400),
            "x" + String(repeating: "語", count: 400),
            "e" + String(repeating: "\u{301}", count: 5000),  // one character of 10 001 bytes
        ])
    func longErrors(_ message: String) throws {
        let error = #expect(throws: NodeError.self) {
            try NodeInstance(
                type: probe.pointer, name: "n",
                settings: Settings(["fail": .string(message), "hint": .string(message), "key": .string(message)]))
        }
        let parts = try #require(error)
        if message.isEmpty {
            #expect(parts.message == "failed without a reason")
            return
        }
        for (part, size) in [(parts.message, 512), (parts.hint, 256), (parts.key, 64)] {
            #expect(message.utf8.starts(with: part.utf8))
            #expect(!part.unicodeScalars.contains("\u{FFFD}"))
            #expect(part.utf8.count == message.utf8.count || (size - 4..<size).contains(part.utf8.count))
        }
    }
}
