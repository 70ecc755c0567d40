// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What every `[node.NAME]` may say beside the settings and parameters of its type.
public struct NodeKeys: KeyedTable {
    /// What becomes of the sound of a node that is removed while it plays.
    public enum Tail: String, Sendable, CaseIterable {
        /// It fades out.
        case cut
        /// It is heard to its end.
        case spill
    }

    /// Which process runs a node.
    public enum Isolation: Sendable {
        /// That of the host.
        case none
        /// One of its own.
        case own
        /// One for all nodes that say so.
        case group
    }

    /// Whether the graph fails when the node does; nil: it does where the node cannot be made and nothing can take its place,
    /// see `GraphBuilder`.
    public var required: Bool?
    /// Whether what goes in is heard instead of what comes out. It runs in any case.
    public var bypass = false
    /// Whether it is silent. It runs in any case.
    public var mute = false
    /// Whether it is silenced while it gives what is not a number, infinite, or above +24 dBFS.
    public var isGuarded = true
    /// What becomes of its sound when it is removed.
    public var tail = Tail.cut
    /// Where it runs.
    public var isolation = Isolation.none
    /// Whether what it tells of texts and takes is kept.
    public var keep = false
    /// Who is heard in that; nil: the node, by its name.
    public var givenSpeaker: String?

    /// As a node is without a word.
    public init() {}

    /// The name of this table.
    public static var table: String { "node.NAME" }

    /// The key that puts a node into a process of its own; no type's own setting.
    public static let isolate = TableKey<NodeKeys>(
        "isolate", \.isolation, process,
        "true: the node runs in a process of its own, where what goes wrong harms nothing else; \"group\": in one with all "
            + "that say so. For LV2 and other plugins")

    /// The keys by which what a node tells of texts and takes is kept.
    public static let keeping: [TableKey<NodeKeys>] = [
        TableKey(
            "keep", \.keep, .flag(),
            "true: its texts and takes are kept in the archive, if its type tells any: see `voicegraph transcripts` and "
                + "`voicegraph takes`"),
        TableKey(
            "speaker", \.givenSpeaker, speakerName,
            "who is heard in what is kept, in 1 to 100 bytes; otherwise the node's name"),
    ]

    /// Its keys.
    public static let keys: [TableKey<NodeKeys>] =
        [
            TableKey(
                elsewhere: Setting("type", VG_SET_STRING, "the node type, see Node types", required: true),
                otherNames: []),
            TableKey(
                "required", \.required, .flag(),
                "true: the graph does not run without the node; false: it does. Otherwise a node that cannot be made is passed "
                    + "by and told, if what goes into it can go where it leads, and else it is an error"),
            TableKey(
                "bypass", \.bypass, .flag(),
                "true: what goes in is heard in place of what comes out, as late; the node runs on"),
            TableKey("mute", \.mute, .flag(), "true: nothing is heard of it, and it sends no MIDI; the node runs on"),
            TableKey(
                "guard", \.isGuarded, .flag(),
                "false: what is not a number, infinite or above +24 dBFS is let through; otherwise it is silenced and told"
            ),
            TableKey(
                "tail", \.tail,
                .choice(hint: "spill: what still sounds of the node is heard to its end when it is removed"),
                "what becomes of its sound when it is removed while it plays: \"spill\" lets it end, \"cut\" fades it out"
            ),
            isolate,
        ] + keeping
}

private let process = TableValue<NodeKeys.Isolation>(
    VG_SET_VALUE, choices: ["true", "false", "\"group\""],
    write: { isolation in
        switch isolation {
        case .none: .bool(false)
        case .own: .bool(true)
        case .group: .string("group")
        }
    }
) { entry, key throws(Fault) in
    switch entry.reading {
    case .bool(let isOwn): return isOwn ? .own : .none
    case .string("group"): return .group
    default:
        let quoted = unquote(entry, .boolean)
        throw Fault(
            "'\(key)' must be true, false or \"group\", \(entry.refusal)",
            hint: quoted.isEmpty ? "true: a process of its own; \"group\": one for all nodes that say so" : quoted)
    }
}

private let speakerName = TableValue<String>.text(
    "a name", hint: "a name of 1 to 100 bytes without control characters, such as \"Anna\""
) { name in
    (1...100).contains(name.utf8.count) && !name.utf8.contains { $0 < 32 || $0 == 127 } && name.contains { $0 != " " }
}
