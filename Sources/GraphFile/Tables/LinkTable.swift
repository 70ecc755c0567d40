// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A link that is written as a table.
extension LinkDescription: KeyedTable {
    /// It has no header.
    public static var table: String { "link" }
    /// It has no header.
    public static var title: String { "a link" }

    /// Its ends are still to be said.
    public init() { self.init(from: Endpoint(""), to: Endpoint("")) }

    /// The key of its gain.
    public static let gain = TableKey<LinkDescription>(
        "gain_db", \.gainDB, .number(in: -200...200, unit: "dB", hint: "leave the link out to have silence"),
        "how much louder or quieter an audio link is", otherNames: ["gain", "volume", "level"])

    /// Its keys. The ends are read with the places of their names.
    public static let keys: [TableKey<LinkDescription>] = [
        TableKey(
            elsewhere: Setting(
                "from", VG_SET_STRING, "where the signal comes from: a node, or node.port", required: true),
            otherNames: ["source", "src"]),
        TableKey(
            elsewhere: Setting(
                "to", VG_SET_STRING, "where it goes: a node, node.port or node.parameter", required: true),
            otherNames: ["dest", "target", "sink"]),
        gain,
    ]
}
