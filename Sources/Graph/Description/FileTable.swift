// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The tables of a graph file, apart from those of nodes: the keys that its reader takes, and how they are told.
public enum FileTable: String, Sendable, CaseIterable {
    /// What stands before the first line in brackets, and the tables themselves.
    case file
    case graph, driver, web
    /// A link that is written as a table.
    case link

    /// The keys that may stand in it.
    public var keys: [String] {
        switch self {
        case .file: ["include", "graph", "node", "driver", "web"]
        case .graph: ["name", "links", "threads", "archive"]
        case .driver: ["kind", "server", "device", "capture", "playback", "rate", "block", "periods"]
        case .web:
            [
                "listen", "origins", "names", "read_only", "remote", "actions", "tokens", "trust", "texts", "theme",
                "logo", "state",
            ]
        case .link: ["from", "to", "gain_db"]
        }
    }

    /// As messages name it.
    public var title: String { self == .file ? "the top of the file" : "[\(rawValue)]" }

    /// What other programs call a key of this table.
    public var otherNames: [String: [String]] {
        switch self {
        case .file:
            [
                "driver": ["devices", "device", "audio", "jack", "alsa", "settings"],
                "graph": ["pipeline", "connections", "patchbay", "routing", "project"],
                "node": ["plugins", "filters", "effects", "processors", "units", "mixers"], "web": ["http", "server"],
            ]
        case .graph:
            [
                "links": ["connections", "connect", "pipeline", "routes", "wires", "edges", "patches"],
                "name": ["client", "client_name", "title", "id"], "threads": ["cores", "cpus", "jobs", "workers"],
            ]
        case .driver:
            [
                "rate": ["samplerate", "sample_rate", "sample-rate", "sr", "fs", "srate", "frequency"],
                "block": [
                    "buffer", "buffersize", "buffer_size", "buffer-size", "chunksize", "chunk_size", "blocksize",
                    "block_size", "frames", "period", "period_size", "quantum",
                ],
                "periods": ["nperiods", "buffers"], "kind": ["backend", "driver", "type", "api"],
                "device": ["card", "soundcard", "interface"], "capture": ["input", "capture_device", "microphone"],
                "playback": ["output", "playback_device", "speakers"],
            ]
        case .web:
            [
                "listen": ["port", "host", "address", "bind"], "remote": ["public"], "read_only": ["readonly"],
                "tokens": ["token", "token_file", "password", "secret"], "actions": ["allow"], "trust": ["trusted"],
                "texts": ["labels", "words", "text"], "logo": ["icon", "image", "picture"],
                "state": ["default_state", "start"], "theme": ["color_scheme", "colors"],
            ]
        case .link:
            ["gain_db": ["gain", "volume", "level"], "from": ["source", "src"], "to": ["dest", "target", "sink"]]
        }
    }

    /// What to say of a key that does not belong here: what is meant and what to write. `place` is where it stands, as in
    /// "[node.mic]"; `known` what may stand there.
    public static func unknown(
        _ key: String, in place: String, known: [String], otherNames: [String: [String]] = [:], otherwise: String,
        _ suggester: inout Suggester
    ) -> (message: String, hint: String) {
        let other = otherNames.first { $0.value.contains(key.lowercased()) }?.key
        if let found = suggester.nearest(key, among: known) ?? other {
            return ("unknown key '\(shortened(key))'", "did you mean '\(found)'?")
        }
        let isNode = place.hasPrefix("[node.")
        if let home = home(of: key, isNode: isNode), home.title != place {
            let hint =
                home == .file
                ? "write it before the first line in brackets"
                : place == FileTable.file.title
                    ? "write \(home.title) on a line of its own before it" : "write it below a line with \(home.title)"
            return ("'\(key)' belongs to \(home.title), not to \(place)", hint)
        }
        if !isNode, key != nameKey, NodeDescription.commonKeys.contains(key) {
            return ("'\(key)' belongs to a node, not to \(place)", "write it below a line with [node.NAME]")
        }
        return ("unknown key '\(shortened(key))'", otherwise)
    }

    /// The table of which a key is; nil: of none, or, of a node's, a word that means something else there.
    private static func home(of key: String, isNode: Bool) -> FileTable? {
        if key == "include" { return .file }
        if isNode, [nameKey, "names", "kind", "device", "server"].contains(key) { return nil }
        return [graph, driver, web].first { $0.keys.contains(key) }
    }
}

private let nameKey = "name"
