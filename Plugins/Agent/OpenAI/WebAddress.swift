// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Which server an address means (RFC 3986, 3.2): what is sent there is sent nowhere else.
struct WebAddress: Equatable {
    let scheme: String
    /// In small letters; an address of IPv6 without its brackets.
    let host: String
    let port: Int

    /// nil: it names no server of the web.
    init?(_ url: String) {
        guard let mark = url.firstRange(of: "://") else { return nil }
        scheme = url[..<mark.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        var rest = url[mark.upperBound...].prefix { !"/?#\\".contains($0) }
        if let user = rest.lastIndex(of: "@") { rest = rest[rest.index(after: user)...] }
        var name = rest
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            name = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" else { return nil }
        } else {
            name = rest.prefix { $0 != ":" }
            rest = rest[name.endIndex...]
        }
        let number = rest.dropFirst()
        guard number.isEmpty || Int(number) != nil, !name.isEmpty else { return nil }
        port = Int(number) ?? (scheme == "https" ? 443 : 80)
        host = name.lowercased()
    }

    /// Whether it is this machine: by a name that means no other, or by an address of its own.
    var isLocal: Bool {
        if host == "localhost" || host == "localhost." { return true }
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
        var six = in6_addr()
        guard inet_pton(AF_INET6, host, &six) == 1 else { return false }
        let bytes = withUnsafeBytes(of: &six) { Array($0) }
        // ::1, or ::ffff:127.x.
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] == 1 || isMapped && bytes[12] == 127
    }

    /// For people.
    var shown: String { "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}
