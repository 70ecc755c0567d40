// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Where something stands in a file; lines and columns count from 1, columns in bytes. Line 0: nowhere (for example a
/// value from the command line).
public struct SourceLocation: Sendable, Hashable {
    /// The file as the user named it.
    public var file: String
    /// 1-based; 0: no place.
    public var line: Int
    /// 1-based, in bytes.
    public var column: Int
    /// How many bytes the caret underlines.
    public var length: Int
    /// What was read there, where it is known; no part of what makes two places equal.
    package var text: SourceText?

    /// Describes a place.
    public init(file: String = "", line: Int = 0, column: Int = 0, length: Int = 1) {
        self.file = file
        self.line = line
        self.column = column
        self.length = length
    }

    /// Describes a place in a text.
    public init(_ text: SourceText, line: Int, column: Int, length: Int = 1) {
        self.init(file: text.file, line: line, column: column, length: length)
        self.text = text
    }

    /// Whether both are the same place of the same file.
    public static func == (one: SourceLocation, other: SourceLocation) -> Bool {
        (one.line, one.column, one.length, one.file) == (other.line, other.column, other.length, other.file)
    }

    /// Hashes the place.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(file)
        hasher.combine(line)
        hasher.combine(column)
    }
}

/// A setting or parameter as the file gives it.
public struct Entry: Sendable, Equatable {
    /// The value; tables and lists keep their inner places in `inner`.
    public var value: SettingValue
    /// Where the key stands.
    public var keyLocation: SourceLocation
    /// Where the value stands.
    public var valueLocation: SourceLocation
    /// For tables: the entries by key. For lists: by index as decimal text.
    public var inner: [String: Entry]
    /// The variable that the value is, if it is a string that consists of one alone.
    public var variable: Variable?
    /// The text as the file has it, where variables stand in it.
    public var written: String?

    /// Describes an entry.
    public init(
        _ value: SettingValue, keyLocation: SourceLocation = SourceLocation(),
        valueLocation: SourceLocation = SourceLocation(), inner: [String: Entry] = [:]
    ) {
        self.value = value
        self.keyLocation = keyLocation
        self.valueLocation = valueLocation
        self.inner = inner
    }
}

/// What the readers of a node's audio and MIDI outputs get. Of a node without any it applies to the inputs.
public enum OutputMode: String, Sendable, Hashable {
    /// The node.
    case open
    /// What goes into the node, as late as the node would have given it; silence from a node whose inputs do not fit
    /// its outputs.
    case bypassed
    /// Silence.
    case muted
}

/// One `[node.NAME]` table. What it says by the `NodeKeys` are members of it, as in `node.mute`.
@dynamicMemberLookup public struct NodeDescription: Sendable, Equatable {
    /// The name in the file.
    public var name: String
    /// The node type.
    public var type: String
    /// Everything but the `NodeKeys`, settings and parameters alike; `keys` keeps the file's order.
    public var entries: [String: Entry]
    /// The keys of `entries` in the order of the file; those that it does not name come behind them.
    public var keys: [String]
    /// What it says by the keys that every node has.
    public var common = NodeKeys()
    /// What was written for the keys of `common`, with its places.
    public private(set) var commonEntries: [String: Entry] = [:]
    /// Where the name stands.
    public var location: SourceLocation
    /// Where the value of `type` stands.
    public var typeLocation: SourceLocation

    /// Describes a node. What `entries` has for the keys of `NodeKeys` becomes a member.
    public init(
        name: String, type: String, entries: [String: Entry] = [:], keys: [String] = [], required: Bool? = nil,
        location: SourceLocation = SourceLocation(), typeLocation: SourceLocation = SourceLocation()
    ) {
        self.name = name
        self.type = type
        self.entries = entries
        self.keys = keys
        self.location = location
        self.typeLocation = typeLocation
        // What cannot be read stays an entry, which no type takes.
        for key in Self.commonKeys {
            guard let entry = entries[key], set(key, entry) == nil else { continue }
            self.entries[key] = nil
            self.keys.removeAll { $0 == key }
        }
        if let required { common.required = required }
    }
}

extension NodeDescription {
    /// All keys of `entries`: in the order of the file, then those that no file ordered, by name. [any]
    public var allKeys: [String] {
        guard keys.count < entries.count else { return keys }
        return keys + Set(entries.keys).subtracting(keys).sorted()
    }

    /// What every node may say.
    public subscript<Value>(dynamicMember path: WritableKeyPath<NodeKeys, Value>) -> Value {
        get { common[keyPath: path] }
        set { common[keyPath: path] = newValue }
    }

    /// The keys that nodes of every type have.
    public static let commonKeys = NodeKeys.keys.map(\.setting.key)

    /// The key of the table by which a type that does not know its parameters beforehand takes them.
    public static let tableOfParameters = "params"

    /// Sets what stands behind a key, one of every node or one of its type; nil: done. What a type does not take is found when
    /// the graph is built.
    package mutating func set(_ key: String, _ entry: Entry) -> Fault? {
        if let declared = NodeKeys.keys.first(where: { $0.setting.key == key }) {
            commonEntries[key] = entry
            return declared.read(&common, entry)
        }
        if entries.updateValue(entry, forKey: key) == nil { keys.append(key) }
        return nil
    }

    /// Its settings for whoever looks, those of its type and those that every node has, but for flags.
    public var shownSettings: [String: SettingValue] {
        var shown = entries.mapValues(\.shown)
        let flags = NodeKeys.settings.filter { $0.kind == VG_SET_BOOL }.map(\.key)
        for (key, value) in common.entries where !flags.contains(key) {
            shown[key] = commonEntries[key]?.shown ?? value
        }
        return shown
    }

    /// Who is heard in what is kept of it: what the file says, else its name.
    public var speaker: String { common.givenSpeaker ?? name }

    /// What its readers hear.
    public var outputMode: OutputMode { common.mute ? .muted : common.bypass ? .bypassed : .open }
}

/// One end of a link: a node, or one of its ports (or parameters) by symbol.
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// The node's name.
    public var node: String
    /// The port's symbol; nil: the main bus.
    public var port: String?
    /// Where it stands.
    public var location: SourceLocation

    /// Describes an end.
    public init(_ node: String, _ port: String? = nil, location: SourceLocation = SourceLocation()) {
        self.node = node
        self.port = port
        self.location = location
    }

    /// As it would be written in the file.
    public var description: String { port.map { "\(node).\($0)" } ?? node }
}

/// One arrow. A chain "a -> b -> c" is two of these.
public struct LinkDescription: Sendable, Equatable {
    /// Where the signal comes from.
    public var from: Endpoint
    /// Where it goes.
    public var to: Endpoint
    /// Gain of an audio link in dB.
    public var gainDB: Double
    /// Where the link stands.
    public var location: SourceLocation

    /// Describes a link.
    public init(from: Endpoint, to: Endpoint, gainDB: Double = 0, location: SourceLocation = SourceLocation()) {
        self.from = from
        self.to = to
        self.gainDB = gainDB
        self.location = location
    }
}

/// A whole graph, as the file says it: nothing is resolved yet.
public struct GraphDescription: Sendable, Equatable {
    /// The JACK client's name.
    public var name: String
    /// In the order of the file.
    public var nodes: [NodeDescription]
    /// In the order of the file.
    public var links: [LinkDescription]
    /// The folder of the main file: relative paths start here.
    public var baseFolder: String
    /// Where what concerns the whole graph is reported: the start of the main file.
    public var location: SourceLocation
    /// How many threads may run it together.
    public var threads = Threads.one
    /// What the tables say that stand apart from nodes and links.
    public var tables = FileTables()
    /// Whether anything may be kept of it: what the nodes with `keep` tell.
    public var archive = true
    /// Whether something was too faulty to be here, so that what seems to be missing is no news.
    public var isPartial = false

    /// Describes a graph.
    public init(
        name: String = "voicegraph", nodes: [NodeDescription] = [], links: [LinkDescription] = [],
        baseFolder: String = "", location: SourceLocation = SourceLocation()
    ) {
        self.name = name
        self.nodes = nodes
        self.links = links
        self.baseFolder = baseFolder
        self.location = location
    }

    /// What shall call the audio.
    public var driver: DriverDescription {
        get { tables[DriverDescription.self] ?? DriverDescription() }
        set { tables[DriverDescription.self] = newValue }
    }

    /// How it is shown to browsers; nil: not, unless somebody asks for that.
    public var web: WebDescription? {
        get { tables[WebDescription.self] }
        set { tables[WebDescription.self] = newValue }
    }
}
