// SPDX-License-Identifier: Apache-2.0
import API
import Glibc
import Host
import System

/// What a client has to know: 128 bits of chance, unless the user chose another text.
struct Token: Sendable, Equatable {
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

    /// One that was kept: 16 to 200 letters, digits, '-', '.', '_' or '~', as a link and a header take them; else nil.
    init?(kept text: String) {
        let isPlain = text.utf8.allSatisfy {
            (48...57).contains($0) || (97...122).contains($0 | 32) || [45, 46, 95, 126].contains($0)
        }
        guard isPlain, (16...200).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    /// Whether this is it. How long the answer takes tells nothing about where two differ.
    func matches(_ other: some StringProtocol) -> Bool {
        guard other.utf8.count == text.utf8.count else { return false }
        return zip(text.utf8, other.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// A token for each right, and one for downloads: what plays or saves a file in a page can send no header.
struct Tokens: Sendable {
    private let texts: [Right: Token]
    let download = Token()

    /// New ones, for one run.
    init() { texts = Dictionary(uniqueKeysWithValues: Right.allCases.map { ($0, Token()) }) }

    /// Those of a file, a line "RIGHT TOKEN" each; what is missing is made and written there, so that links stay what they
    /// are. The file is the user's alone. [control]
    init(keptIn path: String) throws(Fault) {
        var texts: [Right: Token] = [:]
        func refuse(_ what: String, _ hint: String) -> Fault {
            Fault("the tokens of [web] cannot be kept in \(path): \(what)", hint: hint)
        }
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw refuse(String(cString: strerror(errno)), "name a file in a folder of yours") }
        defer { close(file) }
        var about = stat()
        guard fstat(file, &about) == 0, about.st_mode & S_IFMT == S_IFREG else {
            throw refuse("it is no file", "name another")
        }
        guard about.st_mode & 0o077 == 0, about.st_uid == geteuid() else {
            throw refuse("others may read it", "chmod 600 \(path)")
        }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &bytes, bytes.count)
        guard count >= 0 else { throw refuse(String(cString: strerror(errno)), "name another") }
        let lines = String(decoding: bytes.prefix(count), as: UTF8.self).split(whereSeparator: \.isNewline)
        for line in lines where !line.hasPrefix("#") {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count == 2, let right = Right(rawValue: String(words[0])), texts[right] == nil,
                let token = Token(kept: String(words[1])), !texts.values.contains(token)
            else {
                throw refuse(
                    "a line is no right with a token of its own",
                    "write visitor, operator or owner, a blank and 16 letters or digits at least; or delete the file")
            }
            texts[right] = token
        }
        let missing = Right.allCases.filter { texts[$0] == nil }
        for right in missing { texts[right] = Token() }
        self.texts = texts
        guard !missing.isEmpty else { return }
        let end = count == 0 || bytes[count - 1] == UInt8(ascii: "\n") ? "" : "\n"
        let more = end + missing.map { "\($0.rawValue) \(texts[$0]!.text)\n" }.joined()  // made above
        let written = write(file, more, more.utf8.count)
        guard written == more.utf8.count else {
            let reason = String(cString: strerror(errno))
            ftruncate(file, off_t(count))
            throw refuse(reason, "name a file where there is room")
        }
    }

    /// That of a right.
    subscript(right: Right) -> Token { texts[right]! }  // there is one for each

    /// The right of whoever knows a token; nil: it is none.
    func right(of text: some StringProtocol) -> Right? {
        texts.filter { $0.value.matches(text) }.map(\.key).max()
    }
}
