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
    /// Whether it may listen where other machines reach it.
    public var allowsRemote = false

    /// This machine alone reaches it.
    public static let standardListen = "127.0.0.1:8765"

    /// As it is without a word.
    public init() {}
}
