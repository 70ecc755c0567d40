// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// How a graph is shown to browsers: the table `[web]` of a file, and what the command line says on top.
public struct WebDescription: Sendable, Equatable {
    /// Where it listens: HOST:PORT, PORT or HOST. Port 0 is any that is free.
    public var listen = standardListen
    /// Pages elsewhere that may use it, as "https://example.org": scheme, host and port, as a browser tells them.
    public var origins: [String] = []
    /// Names under which it is reached beside its addresses, as behind a proxy: "voice.example.org".
    public var names: [String] = []
    /// Whether whoever looks may change nothing.
    public var isReadOnly = false
    /// Whether those who ask over the network may name programs, files, variables and addresses that the file does not.
    public var isTrusted = false
    /// The actions that may be done there, as NODE.ACTION with * for any part of it; nil: all. What visitors may do, they
    /// may do in any case.
    public var actions: [String]?
    /// Those that visitors may do beside what types declare public, in the same way.
    public var visitors: [String] = []
    /// The file that keeps the tokens, so that links stay what they are from run to run; nil: each run has new ones.
    public var tokens: String?
    /// Whether it may listen where other machines reach it.
    public var allowsRemote = false

    /// Words that are said otherwise, by the names that words.js has.
    public var texts: [String: String] = [:]
    /// Light, dark, or as the visitor's system is; nil: that.
    public var theme: String?
    /// An image that stands for the assistant.
    public var logo: String?
    /// Whether a conversation begins by itself: expanded, or collapsed as without a word.
    public var state: String?

    /// This machine alone reaches it.
    public static let standardListen = "127.0.0.1:8765"

    /// As it is without a word.
    public init() {}
}

extension WebDescription: FileTableDescription {
    /// Its name, and what it says.
    public static let (table, doc) = ("web", "how the graph is shown to browsers")
    /// What other programs call it.
    public static let otherNames = ["http", "server"]
    /// That the table is there is enough for the graph to be shown.
    public static var countsWhenEmpty: Bool { true }

    /// Its keys.
    public static let keys: [TableKey<WebDescription>] = [
        TableKey(
            "listen", \.listen, address, "where it listens: HOST:PORT, HOST or PORT; port 0 is any that is free",
            otherNames: ["port", "host", "address", "bind"]),
        TableKey(
            "origins", \.origins,
            .texts(
                "origins", hint: "scheme, host and port, without a path: [\"https://example.org\"]", where: isOrigin),
            "pages elsewhere that may use it, as \"https://example.org\""),
        TableKey(
            "names", \.names, .texts("host names", hint: "for example [\"voice.example.org\"]", where: isHost),
            "names under which a proxy passes requests on", isOfNodes: true),
        TableKey(
            "read_only", \.isReadOnly, .flag(), "true: whoever looks may change nothing", otherNames: ["readonly"]),
        TableKey(
            "remote", \.allowsRemote, .flag(), "true: it may listen where other machines reach it",
            otherNames: ["public"]),
        TableKey(
            "actions", \.actions,
            .texts("actions", hint: "as NODE.ACTION: [\"take.start\", \"voice.*\"]", where: isAction),
            "the actions that browsers may do, as \"take.start\" or \"voice.*\"; without it all",
            otherNames: ["allow"]),
        TableKey(
            "visitors", \.visitors,
            .texts("actions", hint: "as NODE.ACTION: [\"talk.press\", \"talk.release\"]", where: isAction),
            "the actions that visitors may do beside those that belong to talking, as \"talk.*\"",
            otherNames: ["guests"]),
        TableKey(
            "tokens", \.tokens, .path("the path of a file", hint: "it is made if it is not there"),
            "the file that keeps the tokens of its links; without it each run has new ones",
            otherNames: ["token", "token_file", "password", "secret"]),
        TableKey(
            "trust", \.isTrusted, .flag(),
            "true: browsers may name programs, files outside the graph's folder, variables and addresses",
            otherNames: ["trusted"]),
        TableKey(
            "texts", \.texts, words, "what the element says otherwise, by names of words.js: { start = \"Ask me\" }",
            otherNames: ["labels", "words", "text"]),
        TableKey(
            "theme", \.theme, .choice(["light", "dark", "system"]), "how it looks", default: "\"system\"",
            otherNames: ["color_scheme", "colors"]),
        TableKey(
            "logo", \.logo, .path("the path of an image", hint: "SVG, PNG, JPEG or WebP"),
            "an image for its button and the page's head: SVG, PNG, JPEG or WebP",
            otherNames: ["icon", "image", "picture"]),
        TableKey(
            "state", \.state, .choice(["collapsed", "expanded"]), "expanded: a conversation begins by itself",
            default: "\"collapsed\"", otherNames: ["default_state", "start"]),
    ]

    /// Its chapter in the reference.
    public static var chapter: [ReferenceBlock] {
        [
            .text("With this table, even an empty one, `run` shows the graph to browsers, as with `--web`."),
            .keys(settings),
            .lines(
                """
                [web]
                listen    = "127.0.0.1:8765"
                read_only = true
                """),
        ]
    }
}

private let address = TableValue<String>(VG_SET_VALUE, range: 0...65535, write: SettingValue.string) {
    entry, key throws(Fault) in
    switch entry.value {
    case .string(let text) where ListenAddress(text) != nil: return text
    case .integer(let port) where (0...65535).contains(port): return String(port)
    default: throw Fault("'\(key)' must be an address", hint: "write \(ListenAddress.usage)")
    }
}

private let words = TableValue<[String: String]>(
    VG_SET_TABLE, write: { .table($0.mapValues(SettingValue.string)) }, join: { $0.merging($1) { $1 } }
) { entry, key throws(Fault) in
    guard case .table(let table) = entry.value else {
        throw Fault("'\(key)' must be a table of texts", hint: "{ start = \"Ask me\" }")
    }
    var texts: [String: String] = [:]
    for (word, value) in table {
        guard case .string(let text) = value, text.utf8.count <= 1000 else {
            throw Fault("'\(word)' of '\(key)' must be a text", hint: "of at most 1000 bytes")
        }
        texts[word] = text
    }
    return texts
}

/// Scheme and host, perhaps a port (rfc-editor.org/rfc/rfc6454, 6.2).
private func isOrigin(_ text: String) -> Bool {
    guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return false }
    let parts = text.dropFirst(scheme.count).split(separator: ":", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), isHost(String(parts[0])) else { return false }
    return parts.count == 1 || UInt16(parts[1]) != nil
}

/// NODE.ACTION, in which * stands for any part.
private func isAction(_ text: String) -> Bool { text.contains(".") && !text.utf8.contains(0) }

private func isHost(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 253
        && text.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0 | 32) || $0 == 45 || $0 == 46 }
}
