// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport
import Testing

@Suite("The agent among others", .timeLimit(.minutes(5))) struct AgentSpeechTests {
    /// Somebody speaks, is understood, answered, and hears the answer.
    private func graph(_ agent: String) -> String {
        """
        [graph]
        links = [
            "mic -> text", "text.text -> agent.text", "agent.text -> voice.text",
            "voice.speaking -> agent.speaking", "voice -> out",
        ]
        [node.mic]
        type = "input"
        channels = 1
        [node.text]
        type = "transcribe"
        engine = "pocketsphinx"
        [node.voice]
        type = "tts"
        queue = true
        [node.out]
        type = "output"
        channels = 1
        [node.agent]
        type = "agent"
        \(agent)

        """
    }

    @Test("What is said is answered aloud, and the render ends by itself", arguments: [false, true])
    func rendered(asksEndpoint: Bool) throws {
        let endpoint = try ChatEndpoint()
        let scratch = endpoint.scratch
        let agent =
            asksEndpoint ? "backend = \"openai\"\nurl = \"\(endpoint.url("good"))\"\nmodel = \"small\"" : ""
        try scratch.write("talk.conf", graph(agent))
        try run("flite", ["-voice", "kal16", "-t", "hello. how are you today?", "-o", scratch.file("said.wav")])
        func render(_ name: String) throws -> [Float] {
            try run(
                "timeout",
                [
                    "120", Program.voicegraph, "render", scratch.file("talk.conf"), "--input",
                    "mic=" + scratch.file("said.wav"), "-o", scratch.file(name),
                ])
            return try SoundFile(scratch.file(name)).samples[0]
        }
        let first = try render("first.wav")
        // After what was said, which itself goes nowhere, the answer is heard; and the same in every run.
        let said = try SoundFile(scratch.file("said.wav"))
        let end = said.samples[0].count * 48000 / said.rate
        #expect(first.count > end && first.prefix(end / 2).allSatisfy { $0 == 0 })
        #expect(first.dropFirst(end).contains { abs($0) > 0.1 })
        #expect(endpoint.requests.count == (asksEndpoint ? 1 : 0))
        if !asksEndpoint { #expect(try render("second.wav") == first) }
    }
}
