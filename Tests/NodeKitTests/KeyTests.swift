// SPDX-License-Identifier: Apache-2.0
import CNode
import Testing

@testable import NodeKit

/// Settings and arguments that are declared and read by one value.
@Suite("Typed settings") struct KeyTests {
    private enum Mode: String, CaseIterable {
        case soft, hard = "very hard"
    }

    private static let tail = Key.number("tail_ms", "how long", default: 250, in: 20...1000, unit: "ms", live: true)
    private static let most = Key.number("most", "at most")
    private static let count = Key.integer("count", "how many", default: 2, in: 1...64)
    private static let note = Key.integer("note", "which", in: 0...127)
    private static let repeats = Key.flag("repeat", "again", default: true)
    private static let pause = Key.flag("pause", "or not")
    private static let mode = Key.choice("mode", "how", default: Mode.hard)
    private static let name = Key.text("name", "who", default: "a \"b\"", names: .file)
    private static let kind = Key.text("kind", "which", choices: ["one", "two", "three"])
    private static let path = Key.path("path", "where").required()
    private static let phrases = Key.someTexts("phrase", "what")
    private static let allow = Key.texts("allow", "what may be", default: ["x", "y"], choices: ["x", "y", "z"])
    private static let level = Key.value("level", "how loud", default: .number(0.5), choices: ["auto"])

    @Test("What is not given is as it was declared; what must be given is missed") func defaults() throws {
        let none = Settings()
        #expect(try none[Self.tail] == 250)
        #expect(try none[Self.most] == nil)
        #expect(try none[Self.count] == 2)
        #expect(try none[Self.note] == nil)
        #expect(try none[Self.repeats])
        #expect(try none[Self.pause] == nil)
        #expect(try none[Self.mode] == .hard)
        #expect(try none[Self.name] == "a \"b\"")
        #expect(try none[Self.kind] == nil)
        #expect(try none[Self.allow] == ["x", "y"])
        #expect(try none[Self.level] == .number(0.5))
        #expect(throws: NodeError("path is missing", key: "path")) { try none[Self.path] }
        #expect(throws: NodeError("phrase is missing", key: "phrase")) { try none[Self.phrases] }
        #expect(try none[Self.mode.optional()] == nil)
    }

    @Test("What is given is read as the kind that was declared") func given() throws {
        let given = Settings([
            "tail_ms": .integer(20), "most": .number(-1.5), "count": .integer(64), "note": .integer(0),
            "repeat": .bool(false), "pause": .bool(true), "mode": .string("soft"), "name": .string(""),
            "kind": .string("two"), "path": .string("a.wav"), "phrase": .string("hello"),
            "allow": .list([.string("z")]), "level": .string("auto"),
        ])
        #expect(try given[Self.tail] == 20)
        #expect(try given[Self.most] == -1.5)
        #expect(try given[Self.count] == 64)
        #expect(try given[Self.note] == 0)
        #expect(try !given[Self.repeats])
        #expect(try given[Self.pause] == true)
        #expect(try given[Self.mode] == .soft)
        #expect(try given[Self.name] == "")
        #expect(try given[Self.kind] == "two")
        #expect(try given[Self.path] == "a.wav")
        #expect(try given[Self.phrases] == ["hello"])
        #expect(try given[Self.allow] == ["z"])
        #expect(try given[Self.level] == .string("auto"))
        #expect(given.gives(Self.mode) && !Settings().gives(Self.mode))
        #expect(try given[Self.mode.optional()] == .soft)
    }

    @Test(
        "What no key allows is refused with its name, and with what it may be",
        arguments: [
            ("tail_ms", .number(19.9), "tail_ms is 19.9", "use 20 to 1000 ms"),
            ("tail_ms", .number(.nan), "tail_ms must be a finite number", ""),
            ("tail_ms", .string("1"), "tail_ms must be a number", ""),
            ("count", .integer(65), "count is 65", "use 1 to 64"),
            ("count", .number(1), "count must be a whole number", ""),
            ("note", .integer(-1), "note is -1", "use 0 to 127"),
            ("repeat", .integer(1), "repeat must be true or false", ""),
            ("mode", .string("hard"), "mode is \"hard\"", "use soft or very hard"),
            ("kind", .string("four"), "kind is \"four\"", "use one, two or three"),
            ("name", .bool(true), "name must be a text", ""),
            ("allow", .list([.string("x"), .string("a")]), "allow is \"a\"", "use x, y or z"),
            ("phrase", .list([.integer(1)]), "phrase must be a text, or a list of them", ""),
        ] as [(String, SettingValue, String, String)])
    func refused(key: String, value: SettingValue, message: String, hint: String) {
        let given = Settings([key: value, "path": .string("a")])
        #expect(throws: NodeError(message, hint: hint, key: key)) {
            _ = (try given[Self.tail], try given[Self.count], try given[Self.note], try given[Self.repeats])
            _ = (try given[Self.mode], try given[Self.kind], try given[Self.name], try given[Self.allow])
            _ = try given[Self.phrases]
        }
    }

    @Test("A file is checked against the same declaration") func declared() {
        #expect(
            Self.tail.setting
                == Setting(
                    "tail_ms", VG_SET_NUMBER, "how long", default: "250", range: 20...1000, unit: "ms", live: true))
        #expect(
            Self.mode.setting
                == Setting(
                    "mode", VG_SET_STRING, "how", default: "\"very hard\"", choices: ["soft", "very hard"]))
        #expect(Self.name.setting.defaultText == #""a \"b\"""# && Self.name.setting.reach == .file)
        #expect(Self.allow.setting.defaultText == #"["x", "y"]"# && Self.level.setting.defaultText == "0.5")
        #expect(Self.path.setting.required && Self.path.setting.reach == .file && Self.phrases.setting.required)
        #expect(Self.note.setting == Setting("note", VG_SET_INTEGER, "which", range: 0...127))
        #expect(Self.tail.optional().setting.defaultText == nil && !Self.tail.optional().setting.isLive)
        #expect(Self.tail.described("else").setting.doc == "else")
        let number = Key.number("threshold", "", default: 1e-20)
        #expect(number.setting.defaultText == "1e-20")
    }

    private enum Knob: Int, ParameterList {
        case depth, rate

        var parameter: Parameter {
            switch self {
            case .depth: Parameter("depth", "how far", 0...1, default: 0.5)
            case .rate: Parameter("rate_hz", "how often", 1...40, default: 5)
            }
        }
    }

    @Test("Parameters are declared in the order in which they are read") func parameters() {
        #expect(Knob.all.map(\.key) == ["depth", "rate_hz"])
        var ramps = [vg_ramp(), vg_ramp()]
        ramps[0].target = 0.25
        ramps[1].target = 7
        ramps.withUnsafeBufferPointer { ramps in
            var io = vg_io()
            io.parameters = ramps.baseAddress
            let cycle = vg_cycle()
            withUnsafePointer(to: io) { io in
                withUnsafePointer(to: cycle) { cycle in
                    let block = Block(io, cycle)
                    let found = (block[Knob.depth].target, block[Knob.rate].target)
                    #expect(found == (0.25, 7))
                }
            }
        }
    }
}
