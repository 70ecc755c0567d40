// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// What a run that converses has told, as far as it must come to an end.
struct Telling {
    /// A text that is complete; a reply answers an item of the user.
    struct Text {
        var node: String
        var item: Int
        var text: String
        var answers: Int?
    }

    /// So many lines were read.
    private(set) var lines = 0
    /// What the user said or typed, by its item.
    private(set) var said: [Int: String] = [:]
    private(set) var replies: Set<Int> = []
    /// Items of the user that could not be answered, and why.
    private(set) var failures: [Int: String] = [:]
    private(set) var ignored: Set<Int> = []
    private(set) var texts: [Text] = []
    private(set) var interrupted = 0
    /// What was spoken and recognized.
    private(set) var heard = 0
    /// How often the graph became another.
    private(set) var changes = 0
    private(set) var isSpeaking = false
    private var states: [String: String] = [:]

    /// What is neither answered nor reported.
    var open: [Int: String] {
        said.filter { !replies.contains($0.key) && failures[$0.key] == nil && !ignored.contains($0.key) }
    }

    /// Nobody speaks, and nothing is made.
    var isQuiet: Bool {
        !isSpeaking && ["idle", "error"].contains(states["agent"] ?? "idle")
            && ["idle", "listening"].contains(states["text"] ?? "idle")
    }

    var summary: String { "open: \(open); states: \(states), speaking: \(isSpeaking)" }

    mutating func take(_ line: String) throws {
        lines += 1
        let names = ["agent.", "transcribe.", "speech.state", "graph.changed"]
        guard names.contains(where: { line.hasPrefix("{\"event\":\"\($0)") }) else { return }
        let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let text = event["text"] as? String ?? ""
        let item = event["item"] as? Int ?? 0
        switch event["event"] as? String {
        case "transcribe.final":
            guard !text.isEmpty else { return }
            said[item] = text
            heard += 1
            texts.append(Text(node: "text", item: item, text: text))
        case "agent.user": said[item] = text
        case "agent.typed": texts.append(Text(node: "agent", item: item, text: text))
        case "agent.final":
            let user = event["user"] as? Int ?? 0
            replies.insert(user)
            if event["interrupted"] as? Bool == true { interrupted += 1 }
            if !text.isEmpty { texts.append(Text(node: "agent", item: item, text: text, answers: user)) }
        case "agent.failed": failures[event["user"] as? Int ?? 0] = event["reason"] as? String ?? ""
        case "agent.ignored": ignored.insert(item)
        case "agent.state", "transcribe.state":
            states[event["node"] as? String ?? ""] = event["state"] as? String
        case "speech.state": isSpeaking = event["speaking"] as? Bool ?? false
        case "graph.changed": changes += 1
        default: break
        }
    }
}

extension Session {
    /// What the archive has of its last run, in the order in which it shows that. What was cut off, as when the agent became
    /// another one in the middle of its reply, is no text that was told in the end.
    func kept() async throws -> [(node: String, text: String)] {
        let program = try Program([Program.voicegraph, "transcripts", "show", "--json"], environment: environment)
        let code = try await program.end()
        #expect(code == 0, "\(program.errors)")
        return try program.lines.filter { !$0.isEmpty }.compactMap { line in
            let item = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            if item["state"] as? String == "cut" { return nil }
            #expect(item["state"] as? String == "whole", "\(line)")
            return (item["node"] as? String ?? "", item["text"] as? String ?? "")
        }
    }
}

/// What was counted and measured in a conversation to which everything happens.
struct ConversationFigures {
    var turns: [String: Int] = [:]
    var modes: [String: Int] = [:]
    var faults: [String: Int] = [:]
    var refused: [String] = []
    /// How often nothing could be typed, since whoever answers was gone.
    var disconnected = 0
    var heard = 0
    var replies = 0
    var interrupted = 0
    var failures = 0
    var ignored = 0
    var kept = 0
    var compared = 0
    /// Whether speech was recognized by a model, which keeps memory for the longest that it has heard.
    var hasModels = false
    var calmTimes: [Duration] = []
    /// Kilobytes after each round.
    var memory: [Int] = []
    /// What it had from malloc after each round.
    var heap: [HeapUse] = []
    var settled: Resources?
    var last: Resources?
    var status: RunStatus?

    var table: String {
        """
        cycles                    \(status?.blocks ?? 0)
        late cycles, by cause     \(SoakFigures.list(status?.dropouts ?? [:]))
        turns                     \(SoakFigures.list(turns))
        the endpoint              \(SoakFigures.list(modes))
        faults                    \(SoakFigures.list(faults)), disconnected \(disconnected)
        refused                   \(refused.isEmpty ? "none" : "\(refused)")
        heard                     \(heard)
        answered                  \(replies), of those interrupted \(interrupted)
        reported, ignored         \(failures), \(ignored)
        until all was quiet       \(SoakFigures.spread(calmTimes))
        kept                      \(kept), of replies to what was heard \(compared)
        memory after each round   \(memory.map(String.init).joined(separator: " ")) kB
        malloc after each round   \(heap.map(\.description).joined(separator: ", "))
        settled                   \(settled?.description ?? "not yet")
        at the end                \(last?.description ?? "none")
        """
    }
}
