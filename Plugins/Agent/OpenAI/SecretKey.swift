// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// A key that nobody may see: it goes into one header of requests, and is struck out of whatever else is told.
struct SecretKey {
    static let variable = Key.text("key_env", "the variable that holds the key", names: .variable)
    static let file = Key.text(
        "key_file", "the file that holds the key; nobody else may read it", names: .file)

    private let text: String

    /// From the variable or the file that the settings name; nil: no key is needed.
    init?(_ settings: Settings, _ host: NodeHost) throws(NodeError) {
        switch try (settings[Self.variable], settings[Self.file]) {
        case (nil, nil): return nil
        case (_?, _?): throw NodeError("give key_env or key_file, not both", key: Self.file.name)
        case (let name?, nil):
            // Who wrote the key itself, or "${NAME}", must not read it in an error.
            guard Self.isVariable(name) else {
                throw NodeError(
                    "key_env is no name of a variable",
                    hint: "give the variable's name, as in \"LLM_KEY\", not its value",
                    key: Self.variable.name)
            }
            guard let value = getenv(name).map({ trimmed(String(cString: $0)) }), !value.isEmpty else {
                throw NodeError(
                    "the variable \(name) is not set", hint: "it holds the key", key: Self.variable.name)
            }
            text = value
        case (nil, let path?): text = try Self.read(host.resolve(path))
        }
        guard text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            let name = settings.gives(Self.variable) ? Self.variable.name : Self.file.name
            throw NodeError("what \(name) names is no key: it has spaces or other characters", key: name)
        }
    }

    /// Whether it may be told as the name of a variable. One that is set is one; else a long word is more likely to be a key,
    /// and so are small letters with digits among them.
    private static func isVariable(_ name: String) -> Bool {
        func isLetter(_ letter: Character) -> Bool { letter.isASCII && letter.isLetter || letter == "_" }
        guard let first = name.first, isLetter(first), name.allSatisfy({ isLetter($0) || $0.isASCII && $0.isNumber })
        else { return false }
        if getenv(name) != nil { return true }
        let longest = name.split(separator: "_").map(\.utf8.count).max() ?? 0
        let isMixed = name.contains(where: \.isLowercase) && name.contains(where: \.isNumber)
        return longest < 16 && (name.utf8.count < 16 || !isMixed)
    }

    private static func read(_ path: String) throws(NodeError) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            throw NodeError("cannot read \(path): \(String(cString: strerror(errno)))", key: Self.file.name)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw NodeError("\(path) is no file", key: Self.file.name)
        }
        if status.st_mode & 0o077 != 0 {
            throw NodeError(
                "others may read \(path), which holds a key", hint: "chmod 600 \(path)", key: Self.file.name)
        }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = Glibc.read(file, &bytes, bytes.count)
        let text = trimmed(String(decoding: bytes[..<max(0, count)], as: UTF8.self))
        if text.isEmpty { throw NodeError("\(path) is empty", hint: "it holds the key", key: Self.file.name) }
        return text
    }

    /// The header that has it.
    var header: (String, String) { ("Authorization", "Bearer " + text) }

    /// A text without it, and without any part of it that says something: a text may be cut in the middle of a key.
    func struck(from text: String) -> String {
        let (key, bytes) = (Array(self.text.utf8), Array(text.utf8))
        let least = min(key.count, Self.longestPart + 1)
        var result: [UInt8] = []
        var place = 0
        while place < bytes.count {
            var longest = 0
            for start in 0..<(key.count - least + 1) {
                var count = 0
                let most = min(key.count - start, bytes.count - place)
                while count < most, Self.isSame(key[start + count], bytes[place + count]) { count += 1 }
                longest = max(longest, count)
            }
            if longest >= least {
                result += "[key]".utf8
                place += longest
            } else {
                result.append(bytes[place])
                place += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// In small or large letters it tells as much.
    private static func isSame(_ a: UInt8, _ b: UInt8) -> Bool {
        a == b || a ^ b == 32 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(a | 32)
    }

    /// So many letters of it in a row tell nobody anything.
    private static let longestPart = 7
}
