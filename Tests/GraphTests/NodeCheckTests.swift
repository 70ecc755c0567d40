// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit
import TestSupport

@Suite struct NodeCheckTests {
    /// What is said of one entry of a `ports` node.
    private func fault(_ key: String, _ value: SettingValue) -> [String] {
        build([], ports("a", [key: value])).diagnostics.filter { $0.severity == .error }.flatMap {
            [$0.message, $0.hint].filter { !$0.isEmpty }
        }
    }

    @Test("Settings of the wrong kind are refused") func wrongKinds() {
        #expect(fault("ins", .number(1.5)) == ["'ins' must be a whole number, not a number with a fraction"])
        #expect(
            fault("loop", .string("true")) == [
                "'loop' must be true or false, not a string", "write it without quotes: true",
            ])
        #expect(fault("ratio", .string("x")) == ["'ratio' must be a number, not a string"])
        #expect(
            fault("wave", .integer(1)) == ["'wave' must be a string, not a whole number", "one of: sine, square"])
        #expect(fault("path", .bool(true)) == ["'path' must be a path in quotes, not true or false"])
        #expect(fault("others", .table([:])) == ["'others' must be a string or a list of strings, not a table"])
        #expect(fault("params", .list([])) == ["'params' must be a table, not a list", "params = { name = value }"])
    }

    @Test("Numbers are checked against their range") func ranges() {
        #expect(fault("ratio", .number(1.01)) == ["'ratio' is 1.01, outside its range", "it goes from 0 to 1 x"])
        #expect(fault("ratio", .number(.nan)) == ["'ratio' must be a finite number"])
        #expect(fault("ratio", .number(.infinity)) == ["'ratio' must be a finite number"])
        #expect(fault("ratio", .integer(1)).isEmpty)
        #expect(
            fault("ins", .integer(.max)) == [
                "'ins' is \(Double(Int64.max)), outside its range", "it goes from 0 to 100",
            ])
    }

    @Test("Choices and files must exist") func choicesAndFiles() {
        #expect(fault("wave", .string("squares")) == ["'wave' cannot be 'squares'", "did you mean 'square'?"])
        #expect(fault("wave", .string("noise")) == ["'wave' cannot be 'noise'", "one of: sine, square"])
        #expect(fault("path", .string("/no/such/file")) == ["'path' names a file that does not exist: /no/such/file"])
        #expect(fault("path", .string("")) == ["'path' is an empty path"])
        #expect(fault("path", .string("/etc/passwd")).isEmpty)
    }

    @Test("Strings with a NUL are refused") func nul() {
        #expect(fault("others", .list([.string("a\0b")])) == ["'others' holds a NUL character"])
        #expect(fault("path", .string("/etc/passwd\0x")) == ["'path' holds a NUL character"])
    }

    @Test("Parameters are checked like settings") func parameters() {
        #expect(
            fault("level", .integer(1)) == ["parameter 'level' is 1, outside its range", "it goes from -60 to 0 dB"])
        #expect(fault("level", .number(-.infinity)) == ["parameter 'level' must be a finite number"])
        #expect(
            fault("level", .list([])) == ["parameter 'level' must be a number, not a list", "it goes from -60 to 0 dB"])
        #expect(fault("step", .number(1.5)) == ["parameter 'step' must be a whole number, not 1.5"])
        #expect(
            fault("level", .bool(true)) == [
                "parameter 'level' must be a number, not true or false", "it goes from -60 to 0 dB",
            ])
    }

    @Test("Parameters hold the file's value before the first block") func firstValue() throws {
        let result = build([], ports("a", ["level": .number(-12.5), "on": .bool(true), "step": .integer(3)]))
        let instance = try #require(result.graph?.nodes.first?.instance)
        #expect((0..<3).map { instance.ramps[$0].target } == [-12.5, 3, 1])
        #expect((0..<3).map { instance.ramps[$0].frames } == [0, 0, 0])
    }

    @Test("Unknown keys suggest what was meant") func unknownKeys() {
        #expect(
            fault("levle", .integer(1)) == [
                "node type 'ports' has no setting or parameter 'levle'", "did you mean 'level'?",
            ])
        #expect(
            fault("reqired", .bool(true)) == [
                "node type 'ports' has no setting or parameter 'reqired'", "did you mean 'required'?",
            ])
    }

    @Test("All faults of a node are found at once") func allFaults() {
        let result = build([], ports("a", ["ratio": .integer(7), "levle": .integer(1), "step": .number(0.5)]))
        #expect(result.diagnostics.count { $0.severity == .error } == 3)
        #expect(result.diagnostics.map(\.location.line).sorted() == [101, 103, 104])
    }

    @Test("A missing setting is asked for with its meaning") func missingSetting() {
        let result = build([], node("a", "needy"))
        #expect(result.messages.first == "error: node 'a' of type 'needy' needs 'text'")
        #expect(result.diagnostics.first?.hint == "text: what to say")
    }

    @Test("A failure that blames a setting points at it") func blamedSetting() {
        let result = build([], node("a", "failing", ["blame": .string("must"), "must": .string("x")]))
        #expect(result.messages == ["error: node 'a': the device is on fire"])
        #expect(result.diagnostics.first?.location.line == 101)
        #expect(result.diagnostics.first?.hint == "put it out")
    }

    @Test("Unknown types suggest known ones") func unknownTypes() {
        let result = build([], node("a", "port"), node("b", "zzz"))
        #expect(result.messages == ["error: unknown node type 'port'", "error: unknown node type 'zzz'"])
        #expect(
            result.diagnostics.map(\.hint) == ["did you mean 'ports'?", "`voicegraph nodes` lists the types there are"])
        var catalog = builderCatalog
        catalog.pluginFolders = ["/a", "/b"]
        let hint = build([], [node("x", "zzz")], catalog).diagnostics.first?.hint
        #expect(hint?.contains("--plugin-path") == true && hint?.hasSuffix("one of /a, /b") == true)
    }

    @Test("Two nodes of one name are an error") func twoOfOneName() {
        let result = build(["a -> a"], ports("a", outs: 1), ports("a", outs: 1))
        #expect(result.messages.first == "error: duplicate node 'a'")
    }

    @Test("A graph without nodes is an error") func emptyGraph() {
        #expect(build([]).messages == ["error: the graph has no nodes"])
    }
}

@Suite struct DegradeTests {
    private let mic = ports("mic", outs: 1)
    private let out = ports("out", ins: 2)

    @Test("A node that cannot be made is spliced out", arguments: ["tts", "failing"])
    func lostNode(_ type: String) {
        let result = build(["mic -> x", "x -> out -6"], mic, node("x", type), out)
        #expect(result.wires.count == 2)
        #expect(result.graph?.links.allSatisfy { abs($0.gain - 0.501) < 0.001 } == true)
        #expect(result.degraded.keys.sorted() == ["x"])
        #expect(result.diagnostics.map(\.severity) == [.warning])
    }

    @Test("The warning names reason and package") func lostNodeWarning() {
        let result = build(["mic -> x", "x -> out"], mic, node("x", "tts"), out)
        #expect(
            result.messages == [
                "warning: node type 'tts' is not available: libespeak-ng.so.1 is missing; 'x' is left out"
            ])
        #expect(result.diagnostics.first?.hint == "apt install libespeak-ng1")
    }

    @Test(
        "What leaves the rest silent or deaf without it is an error, which names the link",
        arguments: ["tts", "failing"])
    func neededNode(_ type: String) {
        let text = ports("text", ["others": .string("message out say")])
        let two = ports("two", outs: 2)
        let cases: [(links: [String], others: [NodeDescription], needs: String)] = [
            (["x -> out"], [out], "x -> out"), (["mic -> x"], [mic], "mic -> x"),
            (["mic -> x.in", "x.out -> out.in_1"], [mic, out], "x.out -> out.in_1"),
            (["text -> x", "x -> out"], [text, out], "x -> out"),
            (["mic -> x", "two -> out", "x -> out.level"], [mic, two, out], "x -> out.level"),
        ]
        for (links, others, needs) in cases {
            let result = build(links, others + [node("x", type)])
            #expect(result.graph == nil && result.diagnostics.map(\.severity) == [.error], "\(links)")
            #expect(result.messages.first?.hasSuffix("; '\(needs)' needs it") == true, "\(result.messages)")
            let way = "required = false on the node plays without it"
            #expect(result.diagnostics.first?.hint.hasSuffix(way) == (needs != "x -> out.level"))
            let without = build(links, others + [node("x", type, required: false)])
            #expect(without.graph != nil && without.diagnostics.contains { $0.message.hasSuffix("'x' is left out") })
        }
    }

    @Test("What drives a control of another node is an error, and no way round it is named: the control would be open")
    func lostGate() {
        let result = build(
            ["mic -> x", "mic -> g", "x.closed -> g.mute", "g -> out"], mic, node("x", "tts"),
            ports("g", ins: 1, outs: 1, ["others": .list([.string("control in mute")])]), out)
        #expect(
            result.messages == [
                "error: node type 'tts' is not available: libespeak-ng.so.1 is missing; 'x.closed -> g.mute' needs it"
            ])
        #expect(result.diagnostics.first?.hint == "apt install libespeak-ng1")
    }

    @Test("A source that leads through another lost node is an error; one without links is not") func lostSource() {
        let result = build(["x -> y", "y -> out"], node("x", "tts"), node("y", "failing"), out)
        #expect(result.messages.filter { $0.hasPrefix("error: ") }.count == 2)
        let alone = build(["mic -> out"], mic, node("x", "tts"), out)
        #expect(alone.graph != nil && alone.messages.first?.hasSuffix("'x' is left out") == true)
    }

    @Test("A required node that cannot be made is an error", arguments: ["tts", "failing"])
    func requiredNode(_ type: String) {
        let result = build(["mic -> x", "x -> out"], mic, node("x", type, required: true), out)
        #expect(result.graph == nil)
        #expect(result.diagnostics.map(\.severity) == [.error])
        #expect(result.messages.first?.hasSuffix("; the node is required") == true)
    }

    @Test("Several in a row are spliced out") func severalLost() {
        let result = build(
            ["mic -> x", "x -> y", "y -> z", "z -> out"], mic, node("x", "tts"), node("z", "tts"), node("y", "failing"),
            out)
        #expect(result.wires == ["mic.out -> out.in_1", "mic.out -> out.in_2"])
    }

    @Test("A side chain of a lost node is dropped, in whatever order they come") func lostSideChain() {
        for nodes in [[node("x", "tts"), node("y", "failing")], [node("y", "failing"), node("x", "tts")]] {
            let result = build(
                ["mic -> x", "mic -> x.sidechain", "x -> y", "x -> y", "y -> out"], [mic] + nodes + [out])
            #expect(result.wires == ["mic.out -> out.in_1", "mic.out -> out.in_2"])
            #expect(result.diagnostics.map(\.severity) == [.warning, .warning])
        }
    }

    @Test("A node that a lost one fed back into itself plays on") func lostFeedback() {
        let a = ports("a", ins: 1, outs: 1)
        let result = build(["mic -> a", "a -> x", "x -> a", "a -> out"], mic, a, node("x", "tts"), out)
        #expect(result.wires == ["mic.out -> a.in", "a.out -> out.in_1", "a.out -> out.in_2"])
        #expect(result.diagnostics.map(\.severity) == [.warning])
    }

    @Test("A loop through a lost node is cut") func lostInALoop() {
        let a = ports("a", ins: 1, outs: 1)
        let b = ports("b", ins: 1, outs: 1)
        let result = build(["mic -> a", "a -> b", "b -> x", "x -> a", "b -> out"], mic, a, b, node("x", "tts"), out)
        #expect(result.wires == ["mic.out -> a.in", "a.out -> b.in", "b.out -> out.in_1", "b.out -> out.in_2"])
        #expect(result.diagnostics.map(\.severity) == [.warning])
    }
}
