// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a client has to know: 128 bits of chance, made for one run.
struct Token: Sendable {
    /// 32 hexadecimal digits.
    let text: String

    /// A new one.
    init() {
        var generator = SystemRandomNumberGenerator()
        text = (0..<2).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Whether this is it. How long the answer takes tells nothing about where two differ.
    func matches(_ other: some StringProtocol) -> Bool {
        guard other.utf8.count == text.utf8.count else { return false }
        return zip(text.utf8, other.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
