// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import Testing
import TestSupport
@testable import VoiceGraph

/// Tells texts as a transcriber does, by its action.
private final class Teller: Node {
    static let calls: NodeCalls = [.perform]
    static let descriptor = NodeDescriptor(
        "teller", "for tests",
        actions: [
            Action(
                "tell", "tells",
                arguments: [
                    Setting("event", VG_SET_STRING, "which"), Setting("item", VG_SET_INTEGER, "of it"),
                    Setting("text", VG_SET_STRING, "of it"), Setting("start", VG_SET_NUMBER, "of it"),
                ])
        ],
        events: [
            EventType("told.partial", "so far", fields: fields, role: .text(.partial)),
            EventType("told.whole", "in the end", fields: fields, role: .text(.whole)),
            EventType("told.void", "not at all", fields: fields, role: .text(.withdrawn)),
        ])
    private static let fields = [
        Field("item", VG_INTEGER, "which"), Field("text", VG_STRING, "it"), Field("start", VG_NUMBER, "when"),
    ]

    private let host: NodeHost
    init(settings: Settings, host: NodeHost) throws(NodeError) { self.host = host }
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        let fields = arguments.values.filter { $0.key != "event" }.map { ($0.key, $0.value) }
        host.publish(arguments.string("event") ?? "", fields)
    }
}

@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct ModelTests {
    private let scratch: Scratch
    private let host = Host()
    init() throws { scratch = try Scratch() }

    private func play(_ graph: Graph) async throws {
        var graph = graph
        graph.description.baseFolder = scratch.path
        try await host.load(graph)
        try await host.run(DriverRequest(kind: .dummy))
    }

    @Test(
        "A voice tells whether it speaks, its word and its level; another text stops the one before, a blank one only stops"
    )
    func speech() async throws {
        let speech = SpeechModel(host)
        await #expect(throws: Fault.self) { try await speech.speak("too early") }
        try await play(Graph { TTS("voice", engine: .espeakNg) => Meter("level") => Output("out", channels: 1) })
        #expect(!speech.isSpeaking && speech.level == 0 && speech.word == nil)
        try await speech.speak("  wonderful weather in the mountains of the moon, and nowhere else at all\n")
        try await until("a word is heard, and the level follows") { speech.word?.text == "weather" && speech.level > 0 }
        #expect(speech.isSpeaking && speech.text?.hasPrefix("wonderful weather") == true)
        #expect(speech.word == SpeechModel.Word(text: "weather", offset: 10, length: 7))
        try await speech.pause()
        try await until("it is held") { speech.isPaused }
        try await speech.resume()
        try await until("it goes on") { !speech.isPaused }
        try await speech.speak("stop", rate: 2)
        try await until("the other text is heard") { speech.text == "stop" }
        try await until("it ends by itself") { !speech.isSpeaking && speech.level == 0 && speech.word == nil }
        try await speech.speak("a long text that nobody hears to its end, since a blank one comes")
        try await until("it speaks") { speech.isSpeaking }
        try await speech.speak(" \n")
        try await until("it is silent") { !speech.isSpeaking }
        try await speech.stop()
        await host.close()
    }

    @Test("A recorder tells what it does, for how long and how loud; it is paused, limited, finished and discarded")
    func recorder() async throws {
        let recorder = RecorderModel(host)
        await #expect(throws: Fault.self) { try await recorder.finish() }
        try await play(
            Graph { Tone("tone") => Record("memo", path: "usual.wav", channels: 1, autostart: false, publish: true) })
        let audio = try await recorder.start(path: "memo.wav")
        let refused = await #expect(throws: Fault.self) { try await recorder.start(path: "other.wav") }
        #expect(refused?.message.contains("memo") == true)
        try await until("it records") {
            recorder.state == .recording && recorder.levels.count >= 5 && recorder.seconds > 0.5
        }
        try await recorder.pause()
        try await until("it is paused") { recorder.state == .paused }
        let stood = recorder.seconds
        try await Task.sleep(for: .milliseconds(1200))
        #expect(recorder.seconds - stood < 0.2 && recorder.levels.allSatisfy { $0 > -60 && $0 < 0 })
        try await recorder.resume()
        try await until("it goes on") { recorder.state == .recording }
        let memo = try await recorder.finish()
        // On a busy machine its driver may be late, and lose a block.
        #expect(memo.path == scratch.file("memo.wav") && memo.frames > 20_000)
        try await until("it is finished") { recorder.state == .finished && recorder.last == memo }
        // What was read is what the file has, and it ends with it.
        var samples: [Float] = []
        for await piece in audio { samples += piece.channels[0] }
        #expect(
            samples.count == memo.frames && audio.dropped == 0, "\(samples.count) of \(memo.frames), \(audio.dropped)")
        #expect(try samples == SoundFile(memo.path).samples[0])
        _ = try await recorder.start(path: "thrown.wav")
        try await recorder.discard()
        try await until("it is thrown away") { recorder.state == .idle }
        #expect(!FileManager.default.fileExists(atPath: scratch.file("thrown.wav")))
        _ = try await recorder.start(path: "short.wav", limit: 0.5)
        try await until("it ends by itself") { recorder.last?.path == scratch.file("short.wav") }
        #expect(recorder.last.map { abs($0.seconds - 0.5) < 0.001 } == true && recorder.failure == nil)
        await host.close()
    }

    @Test("Of several recorders one has to be named") func several() async throws {
        let graph = Graph {
            let tone = Tone("tone")
            for name in ["one", "two"] {
                tone => Record(name, path: "\(name).wav", channels: 1, autostart: false, publish: true)
            }
        }
        let (any, two, none) = (
            RecorderModel(host), RecorderModel(host, recorder: "two"), RecorderModel(host, recorder: "tone")
        )
        try await play(graph)
        let several = await #expect(throws: Fault.self) { try await any.start() }
        #expect(several?.hint == "name one: one, two")
        await #expect(throws: Fault.self) { try await none.start() }
        try await two.start()
        try await until("it records") { two.state == .recording }
        await host.close()
        try await until("its end is told") { two.last?.path == scratch.file("two.wav") }
    }

    @Test("Texts are items in their order: partial ones are replaced, blank and withdrawn ones go") func transcript()
        async throws
    {
        let transcript = TranscriptModel(host)
        try await play(Graph { OwnNode(Teller.self, "ear") })
        func tell(_ event: String, _ item: Int, _ text: String?, at start: Double) async throws {
            var fields: [String: SettingValue] = [
                "event": .string(event), "item": .integer(Int64(item)), "start": .number(start),
            ]
            fields["text"] = text.map { .string($0) }
            try await host.perform("tell", on: "ear", fields)
        }
        try await tell("told.partial", 1, "hello", at: 1)
        try await tell("told.partial", 3, "later", at: 9)
        try await tell("told.partial", 2, "mumble", at: 5)
        try await until("all are there") { transcript.items.count == 3 }
        #expect(transcript.items.map(\.text) == ["hello", "mumble", "later"])
        try await tell("told.whole", 1, "hello there", at: 1)
        try await tell("told.void", 2, nil, at: 5)
        try await tell("told.whole", 3, " ", at: 9)
        try await until("one is left") { transcript.items.count == 1 && transcript.items[0].isFinal }
        #expect(
            transcript.items.map(\.text) == ["hello there"]
                && transcript.items[0].id == TextItem.ID(node: "ear", number: 1))
        transcript.clear()
        #expect(transcript.items.isEmpty)
        await host.close()
    }

    @Test(
        "A conversation has what is typed at once and once, then the reply as it grows; it is ended, muted and refused")
    func conversation() async throws {
        let (conversation, speech) = (ConversationModel(host), SpeechModel(host))
        await #expect(throws: Fault.self) { try await conversation.send("too early") }
        #expect(conversation.items.isEmpty)
        let rules = try scratch.write(
            "long.rules", "*\n    One short sentence. And another one, which is heard later.\n")
        try await play(
            Graph {
                let (agent, voice) = (Agent("agent", rules: rules, user: "Anna"), TTS("voice", engine: .espeakNg))
                agent => voice => Output("out", channels: 1)
                voice["speaking"] => agent["speaking"]
                voice["heard"] => agent["heard"]
                Input("mic") => Tap("tap")
            })
        try await conversation.send("  \n")
        #expect(conversation.items.isEmpty && conversation.status == .idle)
        try await conversation.send(" hello ")
        try await until("it speaks") { conversation.status == .waiting && conversation.label == "Speak to interrupt" }
        #expect(conversation.items.map(\.text).first == "hello" && conversation.items[0].speaker == "Anna")
        try await until("the reply is whole") {
            conversation.items.last?.isFinal == true && conversation.status == .idle
        }
        #expect(
            conversation.items.map(\.isReply) == [false, true] && conversation.items.map(\.isFinal) == [true, true])
        #expect(conversation.items[1].text.hasSuffix("heard later."))
        try await conversation.send("hello")
        try await until("it speaks again") { speech.word?.text == "sentence" && conversation.status == .waiting }
        try await conversation.interrupt()
        try await until("it is quiet") { conversation.status == .idle }
        try await until("what was heard is left") {
            conversation.items.count == 4 && conversation.items.last?.isFinal == true
        }
        #expect(conversation.items.last.map { $0.text.count < conversation.items[1].text.count } == true)
        try await conversation.mute(true)
        #expect(conversation.isMuted)
        #expect(await host.description?.nodes.first { $0.name == "mic" }?.mute == true)
        try await conversation.end()
        #expect(conversation.items.isEmpty && conversation.failure == nil)
        await host.close()
    }

    @Test("A model that nobody has any more lets its host go on, and is freed") func freed() async throws {
        try await play(Graph { Tone("tone") => Meter("level") => Output("out", channels: 1) })
        weak var gone: SpeechModel?
        do {
            let model = SpeechModel(host)
            gone = model
        }
        #expect(gone == nil)
        await host.close()
    }

    @Test("Levels are told of each meter, per channel, with a hundred of them") func levels() async throws {
        let levels = LevelsModel(host)
        let one = LevelsModel(host, meter: "right")
        try await play(
            Graph {
                let tone = Tone("tone", frequency: 1000, levelDB: -20)
                tone => Meter("left") => Output("out", channels: 1)
                tone => Gain(gainDB: -10) => Meter("right") => Output("other", channels: 1)
            })
        try await until("there are a hundred") { levels.history["right"]?.count == 100 && one.levels["right"] != nil }
        let (left, right) = (try #require(levels.levels["left"]), try #require(levels.levels["right"]))
        #expect(abs(left.rms[0] + 23.01) < 0.2 && abs(left.peak[0] + 20) < 0.2, "\(left)")
        #expect(abs(right.rms[0] + 33.01) < 0.2 && left.rms.count == 1, "\(right)")
        #expect(Set(one.levels.keys) == ["right"])
        await host.stop()
    }

    @Test("A graph's nodes, parameters, switches and troubles are told as they change") func graphs() async throws {
        let model = GraphModel(host)
        #expect(model.nodes.isEmpty && model.state == nil)
        try await play(Graph { Input("mic") => Gain("gain", gainDB: -6) => Output("out") })
        model.refresh()
        try await until("it plays") { model.state == "running" }
        #expect(model.nodes.map(\.name) == ["mic", "gain", "out"] && model.links.map(\.from) == ["mic", "gain"])
        #expect(model.nodes[1].parameters == ["gain_db": -6] && model.nodes[1].type == "gain")
        try await host.set("gain", "gain_db", to: -12)
        try await until("it was turned") { model.nodes[1].parameters["gain_db"] == -12 }
        try await host.mute("gain")
        try await until("it is muted") { model.nodes[1].isMuted && !model.nodes[1].isBypassed }
        try await host.add(NodeDescription(name: "late", type: "delay", entries: [:]), into: "gain -> out")
        try await until("it is there") { model.nodes.count == 4 && model.links.count == 3 }
        // What gives no numbers is silenced.
        let other = GraphModel(host)
        await host.stop()
        model.refresh()
        try await until("it ended") { model.state == nil }
        try await play(
            Graph {
                SourceNode("bad") { block in
                    let output = block.output(0)
                    for frame in 0..<block.frames { output[frame] = .nan }
                } => Output("out", channels: 1)
            })
        try await until("it is told") { other.nodes.first?.trouble != nil }
        await host.stop()
    }
}
