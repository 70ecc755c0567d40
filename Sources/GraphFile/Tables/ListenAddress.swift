// SPDX-License-Identifier: Apache-2.0

/// Where a server listens.
public struct ListenAddress: Sendable, Equatable {
    /// A name or an address, without the brackets of IPv6.
    public var host = "127.0.0.1"
    /// 0: any that is free.
    public var port = 8765

    /// How one is written.
    public static let usage = "HOST:PORT, as in \(WebDescription.standardListen), or PORT"

    /// Reads HOST:PORT, [ADDRESS]:PORT, PORT, :PORT or HOST; nil: it is none of them.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 47 }) else { return nil }
        if text.utf8.allSatisfy({ (48...57).contains($0) }) {
            guard set(port: text[...]) else { return nil }
        } else if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            host = String(text[text.index(after: text.startIndex)..<end])
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") && set(port: rest.dropFirst()) else { return nil }
        } else if let colon = text.lastIndex(of: ":") {
            guard text.firstIndex(of: ":") == colon, set(port: text[text.index(after: colon)...]) else { return nil }
            if colon > text.startIndex { host = String(text[..<colon]) }
        } else {
            host = text
        }
        if host.isEmpty { return nil }
    }

    private mutating func set(port text: Substring) -> Bool {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt16(text) else {
            return false
        }
        port = Int(number)
        return true
    }

    /// Whether only this machine reaches it.
    public var isLoopback: Bool {
        let name = host.lowercased()
        if name == "localhost" || name == "::1" { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether it is every address of the machine.
    public var isAny: Bool { host == "0.0.0.0" || host == "::" }
}
