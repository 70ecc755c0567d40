// SPDX-License-Identifier: Apache-2.0
import NodeKit

extension GraphDescription: KeyedTable {
    /// `[graph]`.
    public static var table: String { "graph" }

    /// As it is without a word.
    public init() { self.init(name: "voicegraph") }

    /// Its keys.
    public static let keys: [TableKey<GraphDescription>] = [
        TableKey(
            "name", \.name, clientName, "the JACK client's name: 1 to 48 bytes, no colon and no control characters",
            otherNames: ["client", "client_name", "title", "id"], isOfNodes: true, isKept: true),
        TableKey(
            elsewhere: Setting(
                "links", VG_SET_VALUE, "what goes where, see Links: a list of strings and tables, or one string"),
            otherNames: ["connections", "connect", "pipeline", "routes", "wires", "edges", "patches"]),
        TableKey(
            "threads", \.threads, threadCount,
            "how many threads may run the graph together; \"auto\": one for each processor. What is heard is the same",
            otherNames: ["cores", "cpus", "jobs", "workers"]),
        TableKey(
            "archive", \.archive, .flag(hint: "false: nothing is kept, whatever nodes say with keep"),
            "false: nothing is kept of this graph, whatever its nodes say with `keep`"),
    ]
}

/// The JACK server cuts longer names, and ':' parts client from port.
private let clientName = TableValue<String>(VG_SET_STRING, write: SettingValue.string) {
    entry, _ throws(Fault) in
    guard case .string(let text) = entry.value else {
        throw Fault("the graph's name must be a string, not \(entry.value.kindText)")
    }
    guard (1...48).contains(text.utf8.count), !text.utf8.contains(where: { $0 < 32 || $0 == 58 || $0 == 127 }) else {
        throw Fault(
            "'\(shortened(text))' cannot be a graph's name",
            hint: "it becomes the JACK client's name: 1 to 48 bytes, no ':' and no control characters")
    }
    return text
}

private let threadCount = TableValue<Threads>(
    VG_SET_VALUE, range: 1...Threads.most, choices: ["\"auto\""],
    write: { if case .count(let count) = $0 { .integer(Int64(count)) } else { .string("auto") } }
) { entry, key throws(Fault) in
    let found: String
    switch entry.reading {
    case .integer(let count) where (1...Int64(Threads.most)).contains(count): return .count(Int(count))
    case .string("auto"): return .automatic
    case .integer(let count): found = "\(count)"
    case .string(let text): found = "'\(shortened(text))'"
    default: found = entry.value.kindText
    }
    let unquoted = entry.variable == nil ? unquote(entry, .integer) : ""
    throw Fault(
        "'\(key)' cannot be \(found)" + entry.origin,
        hint: unquoted.isEmpty
            ? "write a number from 1 to \(Threads.most), or \"auto\" for one thread per processor" : unquoted)
}
