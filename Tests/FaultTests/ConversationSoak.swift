// SPDX-License-Identifier: Apache-2.0
import Control
import Foundation
import Glibc
import JSON
import TestSupport

/// The assistant of config/assistant.conf in a conversation to which everything happens: what is said and typed comes at any
/// time, also while it speaks, it is interrupted, its settings change, whoever answers does what real endpoints do wrong, and
/// the server ends.
final class ConversationSoak {
    private enum Turn: String, CaseIterable { case say, type, typeTwice, sayWhileItSpeaks, typeWhileItSpeaks }
    private enum Fault: String, CaseIterable { case interrupt, kill, hang, settings, wrongName }

    /// What the endpoint may do. What it does well comes more often, so that there is something to interrupt.
    private static let modes = [
        "good", "plain", "slow", "crlf", "good", "plain", "slow", "long", "long", "long", "busy", "broken", "once",
        "denied",
        "bad", "elsewhere", "hang", "silent", "comments", "stall", "cut", "short", "garbage", "json", "page", "nothttp",
        "nothing", "inner", "endless", "line", "huge",
    ]
    /// Words that every recognizer knows, more or less.
    private static let sentences = [
        "go forward ten meters", "what will the weather be", "please stop", "how are you today",
        "one two three four five", "tell me the time",
    ]

    private(set) var figures = ConversationFigures()
    private let server: Jackd
    private let endpoint: ChatEndpoint
    private let secure: ChatEndpoint
    private let session: Session
    private let heap: CountedHeap
    private let client: ControlClient
    private let graph: String
    private var random: TestRandom
    private var told = Telling()
    private var changes = 0

    /// Starts server, endpoints and run.
    init(seed: UInt64) async throws {
        random = TestRandom(seed: seed)
        endpoint = try ChatEndpoint()
        // Whoever asks for localhost is not meant by its certificate.
        secure = try ChatEndpoint(certificateFor: "elsewhere.example")
        try endpoint.scratch.write("mode", "good")
        let scratch = try Scratch()
        graph = try Self.graph(endpoint.url("told"))
        server = try await Jackd.start(block: 256)
        figures.hasModels = try Self.lendModels(to: scratch)
        heap = try await CountedHeap(in: scratch)
        session = try Session(
            graph, ["--watch"], server: server.name,
            environment: heap.environment.merging(["XDG_DATA_HOME": scratch.file("data")]) { $1 }, in: scratch)
        try await session.plays()
        client = try ControlClient("assistant", folder: ControlFolder(path: scratch.file("voicegraph")))
        let tool = server
        try await eventually("it is connected", seconds: 60) {
            try await tool.tool("jack_lsp").contains("assistant:mic_1")
        }
    }

    /// The example with an endpoint that answers, and with limits that pass soon.
    private static func graph(_ url: String) throws -> String {
        var text = try String(contentsOfFile: "\(packageRoot)/config/assistant.conf", encoding: .utf8)
        let changes = [
            ("keep    = false", "keep = true"),
            (
                "backend = \"rules\"",
                """
                backend = "openai"
                url = "\(url)"
                model = "small"
                connect_time = 2
                token_time = 2
                silence_time = 1
                retries = 2
                retry_wait = 0.05
                longest_answer = 400
                history_turns = 5
                """
            ),
        ]
        for (old, new) in changes {
            try #require(text.contains(old), "config/assistant.conf")
            text = text.replacing(old, with: new)
        }
        return text
    }

    /// The run keeps what was said in a folder of its own. It has the models of this user, if there are any.
    private static func lendModels(to scratch: Scratch) throws -> Bool {
        let models = userData + "/voicegraph/models"
        try FileManager.default.createDirectory(
            atPath: scratch.file("data/voicegraph"), withIntermediateDirectories: true)
        guard FileManager.default.fileExists(atPath: models) else { return false }
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("data/voicegraph/models"), withDestinationPath: models)
        return true
    }

    /// Lets it happen for so long.
    func run(seconds: Double) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            for fault in Fault.allCases.shuffled(using: &random) where ContinuousClock.now < end {
                for _ in 0..<Int.random(in: 2...5, using: &random) where ContinuousClock.now < end {
                    try await take(Turn.allCases.randomElement(using: &random)!)
                }
                try await happen(fault)
                try await calm()
            }
            figures.memory.append(session.resources.kilobytes)
            figures.heap.append(try heap.use())
            // What engines keep for the longest that they have heard is not there in the first rounds.
            if figures.settled == nil || ContinuousClock.now < end - .seconds(seconds / 3) {
                figures.settled = session.resources
            }
        }
        try await calm()
        // What it cannot reach is given up after a while.
        figures.last = session.resources
        figures.status = try await session.status()
        try await session.end()
        try look()
        try await compareWithArchive()
        server.stop()
    }

    // MARK: what is said

    private func take(_ turn: Turn) async throws {
        let mode = Self.modes.randomElement(using: &random)!
        try endpoint.scratch.write("mode", mode)
        figures.turns[turn.rawValue, default: 0] += 1
        figures.modes[mode, default: 0] += 1
        switch turn {
        case .say: try await say()
        case .type: try type()
        case .typeTwice:
            try type()
            try type()
        case .sayWhileItSpeaks, .typeWhileItSpeaks:
            try endpoint.scratch.write("mode", "long")
            try type()
            try await until("it speaks") { $0.isSpeaking }
            try endpoint.scratch.write("mode", mode)
            if turn == .sayWhileItSpeaks { try await say() } else { try type() }
        }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...2500, using: &random)))
    }

    private func say() async throws {
        try await TestSupport.say(
            Self.sentences.randomElement(using: &random)!, to: "assistant:mic_1", on: server)
    }

    private func type() throws {
        let text = Self.sentences.randomElement(using: &random)!
        let answer = try act("send", ["text": .string(text)])
        // Nothing can be typed while whoever answers is gone; this asks again what had no answer, unless what was said
        // meanwhile is being answered.
        guard let answer, answer.contains("it is not connected") else { return }
        figures.disconnected += 1
        figures.refused.removeLast()
        if try act("retry") != nil { figures.refused.removeLast() }
    }

    /// Does an action of the agent; returns why that was refused.
    @discardableResult
    private func act(_ action: String, _ arguments: [String: JSON] = [:]) throws -> String? {
        let fields: [String: JSON] = [
            "node": .string("agent"), "action": .string(action), "arguments": .object(arguments),
        ]
        let answer = try client.call("do", fields).answer
        guard case .object(let fields) = answer, case .bool(true)? = fields["ok"] else {
            figures.refused.append("\(action): \(answer.text)")
            return answer.text
        }
        return nil
    }

    // MARK: what happens

    private func happen(_ fault: Fault) async throws {
        figures.faults[fault.rawValue, default: 0] += 1
        switch fault {
        case .interrupt:
            try type()
            try act("interrupt")
        case .kill:
            server.crash()
            let session = session
            try await session.until("the loss is noticed") { $0.state != "running" }
            try server.restart(block: [128, 256, 512].randomElement(using: &random)!)
            try await session.until("audio flows") { $0.state == "running" }
        case .hang:
            server.hang()
            try await session.until("the hang is noticed") { $0.state == "stalled" }
            try type()
            server.unhang()
            try await session.until("it goes on") { $0.state == "running" }
        case .settings:
            let turns = Int.random(in: 3...9, using: &random)
            try await change(graph.replacing("history_turns = 5", with: "history_turns = \(turns)\n# \(changes)"))
        case .wrongName:
            try await change(graph.replacing(endpoint.url("told"), with: secure.url("good")))
            try type()
            try await until("it is not taken for another") {
                $0.failures.values.contains { $0.contains("certificate") }
            }
            try await change(graph + "\n# \(changes)\n")
        }
    }

    /// Gives the run another file, and waits until it has it.
    private func change(_ text: String) async throws {
        changes += 1
        let before = told.changes
        try session.scratch.write("graph.conf", text)
        try await until("it has the new file") { $0.changes > before }
    }

    // MARK: what must be

    /// Reads what was told since the last time.
    private func look() throws {
        for line in session.run.lines[told.lines...] { try told.take(line) }
    }

    private func until(_ what: String, seconds: Double = 30, _ condition: (Telling) -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            try look()
            if condition(told) { return }
            guard ContinuousClock.now < deadline else {
                let last = session.run.lines.filter { $0.contains(/^{"event":"(vad|turn|server|echo|driver)/) }.suffix(
                    40)
                throw NeverHappened(
                    description: "within \(seconds) s: \(what); \(told.summary)\n\(last.joined(separator: "\n"))\n"
                        + session.run.errors)
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Whatever happened, it has answered, refused or reported all that it was asked some seconds later, and does nothing.
    private func calm() async throws {
        let begin = ContinuousClock.now
        try await until("everything is answered, refused or reported, and nothing goes on", seconds: 60) {
            $0.open.isEmpty && $0.isQuiet
        }
        figures.calmTimes.append(begin.duration(to: .now))
        figures.replies = told.replies.count
        figures.interrupted = told.interrupted
        figures.failures = told.failures.count
        figures.ignored = told.ignored.count
        figures.heard = told.heard
    }

    /// What was kept is what was told, each text once, and every reply behind what it answers.
    private func compareWithArchive() async throws {
        let kept = try await session.kept()
        figures.kept = kept.count
        func key(_ text: (node: String, text: String)) -> String { "\(text.node): \(text.text)" }
        let texts = told.texts.map { key(($0.node, $0.text)) }
        #expect(kept.map(key).sorted() == texts.sorted(), "what is kept is what was told")
        // The same words may be said twice: of each, the places are compared in their order.
        var places = Dictionary(grouping: kept.indices, by: { key(kept[$0]) })
        var place: [Int: Int] = [:]
        for (index, text) in texts.enumerated() where places[text]?.isEmpty == false {
            place[index] = places[text]!.removeFirst()
        }
        for (index, text) in told.texts.enumerated() {
            guard let user = text.answers, let question = told.texts.firstIndex(where: { $0.item == user }) else {
                continue
            }
            figures.compared += 1
            #expect(place[question, default: 0] < place[index, default: -1], "\(text) answers \(told.texts[question])")
        }
    }
}
