// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// Rules as a file has them: lines at the margin are patterns, indented lines below them replies, `#` begins a comment.
enum RuleFile {
    /// A file is read whole.
    private static let largest = 1 << 20

    /// Reads a file. The error tells line and column.
    static func read(_ path: String) throws(NodeError) -> [Rule] {
        let bytes = try contents(path)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            // The line of the first byte that is no UTF-8.
            let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
            let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
            throw fault(path, line + 1, 1, "this is not UTF-8")
        }
        return try rules(text, path: path)
    }

    private static func contents(_ path: String) throws(NodeError) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unread(path) }
        defer { close(file) }
        var result: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65536)
        while result.count <= largest {
            let count = Glibc.read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw unread(path) }
            if count == 0 { return result }
            result += piece[..<count]
        }
        throw NodeError(
            "\(path) has more than \(largest >> 20) MB", hint: "a file of rules is a text",
            key: RulesBackend.rules.name)
    }

    private static func unread(_ path: String) -> NodeError {
        NodeError("cannot read \(path): \(String(cString: strerror(errno)))", key: RulesBackend.rules.name)
    }

    /// Reads the lines.
    static func rules(_ text: String, path: String) throws(NodeError) -> [Rule] {
        var result: [Rule] = []
        for (index, whole) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let isReply = whole.first?.isWhitespace ?? false
            let start = whole.prefix { $0.isWhitespace }.count
            let line = trimmed(whole)
            if line.isEmpty || line.hasPrefix("#") { continue }
            do throws(RuleFault) {
                if isReply {
                    guard let names = result.last?.patterns.map(\.names) else {
                        throw RuleFault(message: "a reply needs a pattern above it, at the margin", place: 0)
                    }
                    // A name is there whichever pattern matched only if all capture it.
                    let common = names.dropFirst().reduce(names.first ?? []) { $0.intersection($1) }
                    result[result.count - 1].replies.append(try RuleReply(line, names: common))
                } else {
                    var reader = PatternReader(line)
                    let pattern = try reader.read()
                    if result.last?.replies.isEmpty ?? false {
                        result[result.count - 1].patterns.append(pattern)
                    } else {
                        result.append(Rule(patterns: [pattern]))
                    }
                }
            } catch {
                throw fault(path, index + 1, start + error.place + 1, error.message)
            }
        }
        guard let last = result.last else {
            throw NodeError(
                "\(path) has no rule", hint: "a pattern at the margin, below it replies with spaces before them",
                key: RulesBackend.rules.name)
        }
        if last.replies.isEmpty {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let line = lines.lastIndex { !($0.first?.isWhitespace ?? true) && !$0.hasPrefix("#") } ?? 0
            throw fault(path, line + 1, 1, "this pattern has no reply below it")
        }
        return result
    }

    private static func fault(_ path: String, _ line: Int, _ column: Int, _ message: String) -> NodeError {
        NodeError("\(path):\(line):\(column): \(message)", key: RulesBackend.rules.name)
    }

    /// What it says without a file.
    static let builtIn = """
        (hello | hi | hey | good (morning | afternoon | evening)) *
            Hello. What can I do for you?
            Hello again. I am listening.

        * my name is <name>
        * call me <name>
            Nice to meet you, {name}.

        * how are you *
            I am well, thank you. How are you?
            Still well. Thank you for asking.

        * (what is your name | who are you | what are you) *
            I am the voice of this graph. I answer by a few rules, without any network.

        * what can you do *
        * help *
            I can greet you, remember nothing, and repeat what you say. Say repeat, and then something.

        [please] (repeat | say) <what>
            {what}.

        * thank (you | s) *
        * thanks *
            You are welcome.

        * (goodbye | bye | see you | good night) *
            Goodbye. Until next time.

        * (yes | yeah | yep) *
            Good. Tell me more.

        * (no | nope) *
            All right.

        *
            I heard you, but I have no rule for that. Ask me what I can do.
            That is beyond my rules. Ask me what I can do.

        """
}
