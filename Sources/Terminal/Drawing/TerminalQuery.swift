// SPDX-License-Identifier: Apache-2.0
import Glibc
import Picture
import System

extension TerminalCapabilities {
    /// Asks the terminal for the colour of its background, and takes what it answers within `patience` seconds; one that
    /// does not say keeps what the environment told. What is typed meanwhile is lost. [any]
    public mutating func ask(
        input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO, patience: Double = 0.5
    ) {
        var mode = termios()
        guard addressable, isatty(output) == 1, isForeground(input), tcgetattr(input, &mode) == 0 else {
            return
        }
        var raw = unbuffered(mode)
        // Ctrl-C would leave the terminal like this: it comes as a byte, and counts below.
        raw.c_lflag &= ~tcflag_t(ISIG)
        tcsetattr(input, TCSANOW, &raw)
        // Every terminal answers the second question, so that one that does not know the first is not waited for.
        let question = Array("\u{1B}]11;?\u{1B}\\\u{1B}[c".utf8)
        let isAsked = write(output, question, question.count) == question.count
        let told = isAsked ? answer(input, patience) : []
        tcsetattr(input, TCSANOW, &mode)
        if told.contains(3) { kill(getpid(), SIGINT) }
        if let ground = background(told) { light = ground.luminance > 0.5 }
    }

    /// What comes until the answer to the second question has.
    private func answer(_ input: Int32, _ patience: Double) -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 256)
        let deadline = monotonicSeconds() + patience
        while monotonicSeconds() < deadline, bytes.count < 4096, !hasAttributes(bytes) {
            var request = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, Int32(max(1, (deadline - monotonicSeconds()) * 1000))) > 0 else { continue }
            let count = read(input, &part, part.count)
            guard count > 0 else { break }
            bytes += part[..<count]
        }
        return bytes
    }
}

/// Whether a terminal has told its attributes: escape, [, ?, numbers, c.
private func hasAttributes(_ bytes: [UInt8]) -> Bool {
    var text = Substring(String(decoding: bytes, as: UTF8.self))
    while let start = text.range(of: "\u{1B}[?") {
        text = text[start.upperBound...]
        if text.drop(while: { $0.isNumber || $0 == ";" }).first == "c" { return true }
    }
    return false
}

/// The colour of "11;rgb:RRRR/GGGG/BBBB", in one to four digits each, as terminals answer; nil: it is not there.
func background(_ answer: [UInt8]) -> Color? {
    let text = String(decoding: answer, as: UTF8.self)
    guard let start = text.range(of: "]11;rgb") else { return nil }
    // "rgba:" has a fourth part.
    let parts = text[start.upperBound...].drop { $0 != ":" }.dropFirst().prefix { $0.isHexDigit || $0 == "/" }
        .split(separator: "/", omittingEmptySubsequences: false)
    let values = parts.prefix(3).compactMap { part -> Float? in
        guard (1...4).contains(part.count), let value = UInt32(part, radix: 16) else { return nil }
        return Float(value) / Float((1 << (4 * part.count)) - 1)
    }
    return values.count == 3 ? Color(values[0], values[1], values[2]) : nil
}

extension Substring {
    /// Where a text begins and ends in this one, the first time.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            formIndex(after: &start)
        }
        return nil
    }
}

extension String {
    fileprivate func range(of text: String) -> Range<Index>? { self[...].range(of: text) }
}
