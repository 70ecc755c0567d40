// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Control
import Host
import JSON

/// What a shell offers for `voicegraph ctl`, as the host that is meant tells it; nothing where there is none.
extension CompletionKind {
    /// The nodes of the graph that plays.
    static var liveNodes: CompletionKind { .custom { words, _, _ in playing(words).compactMap(\.name) } }

    /// The parameters of the node that is the word before.
    static var liveParameters: CompletionKind {
        .custom { words, index, _ in
            guard words.indices.contains(index - 1),
                let node = playing(words).first(where: { $0.name == words[index - 1] })
            else { return [] }
            return node.json["parameters"]?.items.compactMap { $0["key"]?.string } ?? []
        }
    }

    /// The actions of the node that is the word before.
    static var liveActions: CompletionKind {
        .custom { words, index, _ in
            guard words.indices.contains(index - 1),
                let answer = try? host(words).call("actions", ["node": .string(words[index - 1])])
                    .answer
            else { return [] }
            return answer["actions"]?.items.compactMap { $0["name"]?.string } ?? []
        }
    }

    private static func playing(_ words: [String]) -> [(name: String?, json: JSON)] {
        guard let answer = try? host(words).call("nodes").answer else { return [] }
        return answer["nodes"]?.items.map { ($0["name"]?.string, $0) } ?? []
    }

    private static func host(_ words: [String]) throws -> ControlClient {
        // A key that is pressed logs in nowhere.
        guard !words.contains(where: { $0 == "--ssh" || $0.hasPrefix("--ssh=") }) else { throw ExitCode(1) }
        var client: String?
        for (place, word) in words.enumerated() {
            if word == "--client", words.indices.contains(place + 1) { client = words[place + 1] }
            if word.hasPrefix("--client=") { client = String(word.dropFirst("--client=".count)) }
        }
        return try ControlClient(client)
    }
}
