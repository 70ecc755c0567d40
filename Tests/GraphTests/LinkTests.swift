// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit
import TestSupport

@Suite struct LinkTests {
    @Test("Equal channel counts pair up") func equalCounts() {
        let result = build(["a -> b"], ports("a", outs: 2), ports("b", ins: 2))
        #expect(result.wires == ["a.out_1 -> b.in_1", "a.out_2 -> b.in_2"])
        #expect(result.diagnostics.isEmpty)
    }

    @Test("One channel fans out to all") func fanOut() {
        let result = build(["a -> b"], ports("a", outs: 1), ports("b", ins: 3))
        #expect(result.wires == ["a.out -> b.in_1", "a.out -> b.in_2", "a.out -> b.in_3"])
    }

    @Test("Many channels sum into one") func fanIn() {
        let result = build(["a -> b"], ports("a", outs: 3), ports("b", ins: 1))
        #expect(result.wires == ["a.out_1 -> b.in", "a.out_2 -> b.in", "a.out_3 -> b.in"])
    }

    @Test("That channels are added into one is a warning, unless the link has a gain or names its ports") func sums() {
        let result = build(["a -> b"], ports("a", outs: 2), ports("b", ins: 1))
        #expect(result.messages == ["warning: 2 channels of 'a' are added into 1 of 'b', up to 6 dB louder"])
        let hint = "write { from = \"a\", to = \"b\", gain_db = -6 } in place of the link for their mean"
        #expect(result.diagnostics.first?.hint == hint)
        #expect(result.diagnostics.first?.location.line == 1)
        let more = build(["a -> b"], ports("a", ins: 1, outs: 3), ports("b", ins: 1, outs: 1))
        #expect(more.messages.contains("warning: 3 channels of 'a' are added into 1 of 'b', up to 10 dB louder"))
        #expect(build(["a.out_1 -> b", "a.out_2 -> b"], ports("a", outs: 2), ports("b", ins: 1)).messages == [])
    }

    @Test("Other counts are an error that shows both sides") func otherCounts() {
        let result = build(["a -> b"], ports("a", outs: 2), ports("b", ins: 3))
        #expect(result.graph == nil)
        #expect(
            result.messages == ["error: 'a' has 2 audio ports (out_1, out_2), 'b' has 3 audio ports (in_1, in_2, in_3)"]
        )
        #expect(result.diagnostics.first?.hint == "name the ports, for example \"a.out_1 -> b.in_1\"")
    }

    @Test("Named ports and side buses are joined") func namedPorts() {
        let b = ports("b", ins: 2, ["sidechain": .integer(2)])
        let result = build(["a.out_2 -> b.in_1", "a -> b.sidechain", "a.out_1 -> b.key_2"], ports("a", outs: 2), b)
        #expect(
            result.wires == ["a.out_2 -> b.in_1", "a.out_1 -> b.key_1", "a.out_2 -> b.key_2", "a.out_1 -> b.key_2"])
    }

    @Test("The side bus is no part of the main bus") func sideBus() {
        let result = build(["a -> b"], ports("a", outs: 1), ports("b", ins: 1, ["sidechain": .integer(1)]))
        #expect(result.wires == ["a.out -> b.in"])
    }

    @Test("A gain in decibels becomes linear") func decibels() throws {
        let result = build(["a -> b -20"], ports("a", outs: 1), ports("b", ins: 1))
        #expect(try abs(#require(result.graph?.links.first).gain - 0.1) < 1e-7)
    }

    @Test("One kind that both sides have is joined", arguments: ["midi", "message", "control"])
    func commonKind(_ kind: String) {
        let a = ports("a", outs: 2, ["others": .string("\(kind) out x")])
        let b = ports("b", outs: 1, ["others": .string("\(kind) in y")])
        #expect(build(["a -> b"], a, b).wires == ["a.x -> b.y"])
    }

    @Test("Audio goes before other kinds") func audioFirst() {
        let a = ports("a", outs: 1, ["others": .string("midi out x")])
        let b = ports("b", ins: 1, ["others": .string("midi in y")])
        #expect(build(["a -> b"], a, b).wires == ["a.out -> b.in"])
        #expect(build(["a.x -> b"], a, b).wires == ["a.x -> b.y"])
    }

    @Test("Several kinds without audio are ambiguous") func ambiguousKinds() {
        let a = ports("a", ["others": .list([.string("midi out x"), .string("message out t")])])
        let b = ports("b", ["others": .list([.string("midi in y"), .string("message in u")])])
        let result = build(["a -> b"], a, b)
        #expect(result.messages == ["error: 'a' and 'b' can be linked in more than one way: midi, message"])
        #expect(result.diagnostics.first?.hint == "name the ports, for example \"a.x -> b.y\"")
    }

    @Test("Messages do not fan in by themselves") func messageFanIn() {
        let a = ports("a", ["others": .list([.string("message out text"), .string("message out partial")])])
        let result = build(["a -> b"], a, ports("b", ["others": .string("message in in")]))
        #expect(result.messages == ["error: 'a' has 2 message ports (text, partial), 'b' has 1 message port (in)"])
        #expect(build(["a.text -> b"], a, ports("b", ["others": .string("message in in")])).wires == ["a.text -> b.in"])
    }

    @Test("A control output drives a parameter") func parameterLink() {
        let a = ports("a", ["others": .string("control out speech")])
        let b = ports("b", ins: 1, outs: 1)
        #expect(
            build(["a -> b.level", "c -> b"], a, b, ports("c", outs: 1)).wires == [
                "a.speech -> b.parameter level", "c.out -> b.in",
            ])
        #expect(build(["a.speech -> b.level", "c -> b"], a, b, ports("c", outs: 1)).graph != nil)
    }

    @Test("Only a control output drives a parameter") func otherKindToParameter() {
        let result = build(["a -> b.level"], ports("a", outs: 1), ports("b", ins: 1))
        #expect(
            result.messages == ["error: only one control output can drive the parameter 'b.level', and 'a' is none"])
    }

    @Test("Kinds that do not fit are named") func unfitKinds() {
        let b = ports("b", ["others": .string("message in text")])
        #expect(
            build(["a.out -> b.text"], ports("a", outs: 1), b).messages
                == ["error: cannot link 'a.out' to 'b.text': 'a.out' is audio, 'b.text' is message"])
        #expect(
            build(["a -> b"], ports("a", outs: 1), b).messages == [
                "error: cannot link 'a' to 'b': 'a' has 1 audio port (out), 'b' has 1 message port (text)"
            ])
    }

    @Test("A link that is there already is ignored with a warning") func twice() {
        let result = build(["a -> b", "a.out -> b.in"], ports("a", outs: 1), ports("b", ins: 1))
        #expect(result.wires == ["a.out -> b.in"])
        #expect(result.messages == ["warning: 'a.out -> b.in' links what is linked already; this one is ignored"])
        #expect(result.diagnostics.first?.hint == "the first one is in line 1")
    }

    @Test("Every unknown name is reported once") func unknownNames() {
        let result = build(
            ["a -> micc", "micc -> b", "a.outt -> b"], ports("a", outs: 1), ports("mic"), ports("b", ins: 1))
        #expect(result.messages == ["error: unknown node 'micc'", "error: node 'a' has no output 'outt'"])
        #expect(result.diagnostics.map(\.hint) == ["did you mean 'mic'?", "did you mean 'out'?"])
    }

    @Test("Nodes without links and without input are warned of") func unlinked() {
        let result = build(
            ["a -> b", "c -> b"], ports("a", outs: 1), ports("b", ins: 1), ports("c", ins: 1, outs: 1),
            ports("d", outs: 1))
        #expect(
            result.messages == [
                "warning: nothing goes into 'c', so nothing comes out of it",
                "warning: node 'd' is not linked to anything",
            ])
        #expect(result.graph != nil)
    }
}

@Suite struct CycleTests {
    private func through(_ name: String) -> NodeDescription { ports(name, ins: 1, outs: 1) }

    // a -> b -> c -> d
    //      ^---------'
    @Test("A cycle is printed, and pointed at where it closes") func cycle() {
        let result = build(
            ["a -> b", "b -> c", "c -> d", "d -> b"], ports("a", outs: 1), through("b"), through("c"), through("d"))
        #expect(result.messages == ["error: a cycle: b -> c -> d -> b"])
        #expect(result.diagnostics.first?.location.line == 4)
        #expect(result.diagnostics.first?.hint.contains("`delay`") == true)
    }

    @Test("Every knot is reported") func severalCycles() {
        let result = build(
            ["a -> b", "b -> a", "c -> d", "d -> c", "e -> e"], ["a", "b", "c", "d", "e"].map { through($0) })
        #expect(
            result.messages == [
                "error: a cycle: a -> b -> a", "error: a cycle: c -> d -> c", "error: 'e' is linked to itself",
            ])
    }

    @Test("A node that absorbs breaks a cycle") func brokenCycle() {
        let result = build(
            ["a -> b", "b -> loop", "loop -> b"], ports("a", outs: 1), through("b"), node("loop", "loop"))
        #expect(result.diagnostics.isEmpty)
        #expect(result.wires == ["a.out -> b.in", "b.out -> loop.in", "loop.out -> b.in"])
    }

    @Test("Messages may go in circles") func messageCircle() {
        let talk: [String: SettingValue] = ["others": .list([.string("message in hear"), .string("message out say")])]
        #expect(build(["a -> b", "b -> a"], ports("a", talk), ports("b", talk)).diagnostics.isEmpty)
    }

    @Test("A chain of many nodes does not end the stack") func longChain() {
        let nodes = [ports("n0", outs: 1)] + (1..<20_000).map { through("n\($0)") }
        let links = (1..<20_000).map { "n\($0 - 1) -> n\($0)" }
        #expect(build(links, nodes).graph?.links.count == 19_999)
        #expect(build(links + ["n19999 -> n1"], nodes).messages.count == 1)
    }
}
