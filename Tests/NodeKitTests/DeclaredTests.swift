// SPDX-License-Identifier: Apache-2.0
import CNode
import Foundation
import TestSupport

@testable import NodeKit

/// One of each kind of declaration, with every field said.
enum Declarations {
    static let field = Field("level", VG_NUMBER, "how loud", unit: "dBFS")
    static let setting = Setting(
        "voice", VG_SET_STRINGS, "which", required: true, default: "\"one\"", range: -2...3.5, unit: "Hz",
        choices: ["one", "two"], live: true, names: .program)
    static let point = Parameter.Point("Saw", 2)
    static let parameter = Parameter(
        "shape", "its form", -1.1...3.3, default: 0.1, unit: "dB", scale: VG_DECIBEL,
        flags: VG_PARAM_STEPPED | VG_PARAM_TOGGLE | VG_PARAM_ABRUPT | VG_PARAM_TRIGGER, label: "Shape",
        points: [point, Parameter.Point("Sine", 0)])
    static let port = Port(
        VG_MESSAGE_PORT, VG_OUTPUT, "said", doc: "what is said", bus: "side", defaultValue: 0.3,
        takes: VG_TAKES_TEXT | VG_TAKES_NUMBER | VG_TAKES_BYTES)
    static let action = Action(
        "stop", "ends it", arguments: [setting], results: [field], urgent: true, lasting: true, public: true)
    static let event = EventType(
        "speech.ended", "it ended", fields: [field], retained: true, role: .take(.withdrawn), ends: .heard,
        kind: .failure, public: true, says: "it is over")
    static let series = Series("rms", "its mean", unit: "dBFS", rate: 12.5, width: 3, onRequest: true)
    static let need = Need(
        ["onnxruntime", "silero-vad"], setting: "detector", value: "silero", better: true, alone: true)
    static let layout = Layout(ports: [port], parameters: [parameter])
}

@Suite("What is declared") struct DeclaredTests {
    /// By table, by JSON, and with every stored property said.
    private func checkTable<Value: Declared>(_ value: Value) throws {
        for (said, blank) in zip(Mirror(reflecting: value).children, Mirror(reflecting: Value.blank).children) {
            #expect("\(said.value)" != "\(blank.value)", "\(Value.self).\(said.label ?? "") is not said in this test")
        }
        #expect(Value(value.values) == value)
        #expect(Value([:]) == .blank)
    }

    private func check<Value: CDeclared>(_ value: Value) throws {
        try checkTable(value)
        #expect(Value(value.c) == value)
        #expect([Value]([value, value].c) == [value, value])
    }

    @Test("Every field of every declaration survives its table and its struct") func everyField() throws {
        try check(Declarations.field)
        try check(Declarations.setting)
        try check(Declarations.point)
        try check(Declarations.parameter)
        try check(Declarations.port)
        try check(Declarations.action)
        try check(Declarations.event)
        try check(Declarations.series)
        try check(Declarations.need)
        try checkTable(Declarations.layout)
    }

    @Test("A type's table has all that the type declares") func type() {
        let type = NodeDescriptor(
            "synth", "plays", doc: "More.", ports: [Declarations.port], parameters: [Declarations.parameter],
            settings: [Declarations.setting], actions: [Declarations.action], events: [Declarations.event],
            series: [Declarations.series])
        #expect(
            Set(type.values.keys) == [
                "type", "summary", "doc", "ports", "parameters", "settings", "actions", "events", "series", "needs",
                "other_names", "roles",
            ])
        #expect(type.values["series"] == .list([.table(Declarations.series.values)]))
    }

    @Test("What is missing, of another kind or unknown in a table is as if it was not said") func strange() {
        var values = Declarations.parameter.values
        values["minimum"] = .number(9)
        values["flags"] = .list([.string("toggle"), .string("of tomorrow"), .integer(3)])
        values["scale"] = .string("of tomorrow")
        values["points"] = .string("none")
        let read = Parameter(values)
        #expect(read.range == 0...0 && read.flags == UInt32(VG_PARAM_TOGGLE) && read.scale == VG_LINEAR)
        #expect(read.points == [] && read.label == "Shape")
    }

    @Test(
        "Every value of node.h's enumerations has a word",
        arguments: [
            ("VG_SET_", vg_setting_kind.words.map(\.name)), ("VG_PARAM_", parameterFlags), ("VG_TAKES_", portTakes),
            ("VG_SETTING_", Setting.Reach.words.map(\.name) + ["live"]),
        ])
    func words(prefix: String, words: [String]) throws {
        let headers = try ["node.h", "values.h"].map {
            try String(contentsOfFile: packageRoot + "/Sources/CNode/include/voicegraph/\($0)", encoding: .utf8)
        }
        let found = headers.joined().matches(of: try Regex("\(prefix)[A-Z]+(?= *=)")).count
        #expect(found == words.count)
    }

    private static let parameterFlags = names(
        Parameter(
            "a", "", 0...1, default: 0, flags: Int(Int32.max)
        ).values["flags"])
    private static let portTakes = names(Port(VG_AUDIO_PORT, VG_INPUT, "a", takes: Int(Int32.max)).values["takes"])

    private static func names(_ value: SettingValue?) -> [String] {
        guard case .list(let items) = value else { return [] }
        return items.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }
}
