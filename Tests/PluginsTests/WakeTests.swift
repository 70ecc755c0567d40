// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@Suite(.serialized, .timeLimit(.minutes(5))) struct WakeTests {
    private func harness(_ settings: [String: SettingValue] = [:], rate: Double = 48000) throws -> NodeHarness {
        let all = settings.merging(["phrase": .string("hello computer")]) { given, _ in given }
        return try NodeHarness(pluginType("wake"), all, rate: rate, offline: true)
    }

    /// The seconds for which the gate was open, block by block.
    private func open(_ node: NodeHarness) -> Double {
        Double(node.controlOutputs.count { $0[0] == 1 } * 1024) / node.preparation.rate
    }

    @Test("The phrase opens the gate for as long as it is to, and other speech does not", arguments: [16000.0, 48000])
    func phrase(rate: Double) throws {
        let node = try harness(["seconds": .number(2)], rate: rate)
        try node.hear(silence(0.5) + spoken("he was not an ill disposed young man") + silence(1))
        #expect(node.capture.events("wake.heard").isEmpty && open(node) == 0)
        let before = Double(node.position) / rate
        try node.hear(spoken("well then hello computer please go on") + silence(4))
        let heard = node.capture.events("wake.heard")
        #expect(heard.map { $0.string("phrase") } == ["hello computer"])
        let end = try #require(heard.first?.number("end"))
        #expect(abs(end - before - 1.5) < 0.3 && abs(Double(heard[0].frame) / rate - end) < 0.01)
        #expect(abs(open(node) - 2) < 0.2, "\(open(node))")
        #expect(node.capture.events("wake.state").map { $0.bool("open") } == [false, true, false])
    }

    @Test("With until_turn it stays open until the turn is over, or closes when there is none")
    func turn() throws {
        let node = try harness(["seconds": .number(1), "until_turn": .bool(true)])
        try node.perform("open")
        node.controlInputs[0] = 1
        try node.hear(silence(3))
        #expect(abs(open(node) - 3) < 0.1)
        node.controlInputs[0] = 0
        try node.hear(silence(1))
        #expect(abs(open(node) - 3) < 0.1)
        // A turn that was over before does not count.
        try node.perform("open")
        try node.hear(silence(3))
        #expect(abs(open(node) - 4) < 0.1)
    }

    @Test("Actions open and close the gate") func actions() throws {
        let node = try harness()
        try node.perform("open")
        try node.hear(silence(0.5))
        try node.perform("close")
        try node.hear(silence(1))
        #expect(abs(open(node) - 0.5) < 0.1)
    }

    @Test("A phrase with a word that nobody knows is refused") func unknownWord() throws {
        let error = #expect(throws: NodeError.self) { try harness(["phrase": .string("hello xyzzy")]) }
        #expect(error?.key == "phrase" && error?.message.contains("\"xyzzy\"") == true)
    }
}
