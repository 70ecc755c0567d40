// SPDX-License-Identifier: Apache-2.0
import API
import Archive
import NodeKit

/// What may be asked of the archive: the same as `voicegraph transcripts` and `voicegraph takes` do.
public enum ArchiveCalls {
    private static let limit = Setting(
        "limit", VG_SET_INTEGER, "how many of the newest", default: "100", range: 1...10_000)
    private static let items = Field(
        "items", VG_LIST, "id, session, graph, speaker, node, start, end, utc, state, text and original of each")

    /// Of the archive of this user.
    public static func table(_ path: String = Archive.standardPath) -> [HostCall] {
        let queue = ArchiveQueue(path)
        return queries(queue) + changes(queue)
    }

    private static func queries(_ queue: ArchiveQueue) -> [HostCall] {
        [
            HostCall(
                "transcripts", "the sessions of which something is kept", change: false, right: .operator,
                arguments: [limit],
                results: [
                    Field("sessions", VG_LIST, "id, graph, file, start, end, state, items, takes and speakers of each")
                ]
            ) { _, given in
                let sessions = try await queue.use { archive throws(ArchiveError) in
                    try archive.sessions(limit: given.integer("limit") ?? 100)
                }
                return [("sessions", .list((sessions ?? []).map(\.values)))]
            },
            HostCall(
                "transcript", "what was said in a session", change: false, right: .operator,
                arguments: [
                    Setting("session", VG_SET_INTEGER, "its number", required: true, range: 0...1e15)
                ], results: [items]
            ) { _, given in
                let session = Int64(given.integer("session") ?? 0)
                let found = try await queue.use { archive throws(ArchiveError) in
                    try archive.items(ArchiveFilter(sessions: [session]), limit: 100_000)
                }
                return [("items", .list((found ?? []).map(\.values)))]
            },
            HostCall(
                "search", "the newest items with all of these words", change: false, right: .operator,
                arguments: [
                    Setting(
                        "words", VG_SET_STRING, "words; \"some in a row\"; beginnings with a '*' behind them",
                        required: true), limit,
                ], results: [items]
            ) { _, given in
                let (words, limit) = (given.string("words") ?? "", given.integer("limit") ?? 100)
                let found = try await queue.use { archive throws(ArchiveError) in
                    try archive.search(words, limit: limit)
                }
                return [("items", .list((found ?? []).map(\.values)))]
            },
            HostCall(
                "takes", "recordings that are kept", change: false, right: .operator, arguments: [limit],
                results: [
                    Field(
                        "takes", VG_LIST,
                        "id, session, graph, speaker, node, path, seconds, rate, channels, start, utc, state, reason")
                ]
            ) { _, given in
                let takes = try await queue.use { archive throws(ArchiveError) in
                    try archive.takes(limit: given.integer("limit") ?? 100)
                }
                return [("takes", .list((takes ?? []).map(\.values)))]
            },
        ]
    }

    private static func changes(_ queue: ArchiveQueue) -> [HostCall] {
        [
            HostCall(
                "add_text", "keep a text that no node has told", change: true, right: .operator,
                arguments: [
                    Setting("text", VG_SET_STRING, "the text", required: true),
                    Setting("speaker", VG_SET_STRING, "who says it", default: "\"you\""),
                    Setting(
                        "session", VG_SET_INTEGER, "in which session; without it, one of its own", range: 0...1e15),
                ], results: [Field("item", VG_INTEGER, "its number")]
            ) { host, given in
                let (text, speaker) = (given.string("text") ?? "", given.string("speaker") ?? "you")
                let (graph, session) = (
                    await host.description?.name ?? "notes", given.integer("session").map(Int64.init)
                )
                let item = try await queue.perform { path throws(ArchiveError) in
                    try Archive.add(text, speaker: speaker, graph: graph, to: session, at: path)
                }
                return [("item", .integer(item))]
            },
            HostCall(
                "edit", "give an item another text; what was told stays beside it", change: true, right: .operator,
                arguments: [
                    Setting("item", VG_SET_INTEGER, "its number", required: true, range: 0...1e15),
                    Setting("text", VG_SET_STRING, "the text; without it what was told counts again"),
                ], results: [Field("text", VG_STRING, "what is shown now")]
            ) { _, given in
                let (id, text) = (Int64(given.integer("item") ?? 0), given.string("text"))
                let shown = try await queue.use { archive throws(ArchiveError) in
                    try archive.edit(id, to: text)
                    return try archive.items(ArchiveFilter(ids: [id])).first?.text ?? ""
                }
                guard let shown else { throw Fault("there is no item \(id)", hint: "see the call transcript") }
                return [("text", .string(shown))]
            },
            delete("delete", "items", "delete items of transcripts; nothing of them stays", .item, queue),
            delete("delete_takes", "takes", "forget takes; their files stay", .take, queue),
        ]
    }

    private static func delete(
        _ name: String, _ key: String, _ doc: String, _ part: Archive.Part, _ queue: ArchiveQueue
    ) -> HostCall {
        HostCall(
            name, doc, change: true, right: .operator,
            arguments: [Setting(key, VG_SET_VALUE, "their numbers, in a list", required: true)],
            results: [Field("count", VG_INTEGER, "how many there were")]
        ) { _, given in
            guard case .list(let numbers)? = given.values[key], !numbers.isEmpty, numbers.count <= 10_000 else {
                throw Fault("'\(key)' must be a list of numbers", hint: "for example [12, 13]")
            }
            let ids = try numbers.map { number throws(Fault) in
                guard case .integer(let id) = number else {
                    throw Fault("'\(key)' must be a list of numbers", hint: "for example [12, 13]")
                }
                return id
            }
            let count = try await queue.use { archive throws(ArchiveError) in
                try archive.delete(part, ArchiveFilter(ids: ids))
            }
            return [("count", .integer(Int64(count ?? 0)))]
        }
    }

    /// Where the file of a take lies; nil: there is none. [worker]
    public static func file(of take: Int64, _ path: String = Archive.standardPath) throws(Fault) -> String? {
        do throws(ArchiveError) {
            return try Archive.open(path)?.takes(ArchiveFilter(ids: [take])).first?.location
        } catch { throw Fault("\(error)") }
    }
}
