// SPDX-License-Identifier: Apache-2.0

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

    /// What a theme may be.
    public static let themes = ["light", "dark", "system"]
    /// What a state may be.
    public static let states = ["collapsed", "expanded"]

    /// This machine alone reaches it.
    public static let standardListen = "127.0.0.1:8765"

    /// As it is without a word.
    public init() {}
}
