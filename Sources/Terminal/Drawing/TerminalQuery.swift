// SPDX-License-Identifier: Apache-2.0
import Glibc
import Picture
import System

extension TerminalCapabilities {
    /// Asks the terminal for the colour of its background and, if `images`, how it shows pixels, and takes what it answers
    /// within `patience` seconds; one that does not say keeps what the environment told. What is typed meanwhile is lost.
    /// [any]
    public mutating func ask(
        images: Bool = false, input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO, patience: Double = 0.5
    ) {
        var mode = termios()
        guard addressable, isatty(output) == 1, isForeground(input), tcgetattr(input, &mode) == 0 else {
            return
        }
        var raw = unbuffered(mode)
        // Ctrl-C would leave the terminal like this: it comes as a byte, and counts below.
        raw.c_lflag &= ~tcflag_t(ISIG)
        tcsetattr(input, TCSANOW, &raw)
        // Every terminal answers the last question, so that one that does not know the others is not waited for. kitty's
        // is to show a picture of one pixel, which is not kept; 16t is for the size of a cell.
        let pixels = images ? "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[16t" : ""
        let question = Array("\u{1B}]11;?\u{1B}\\\(pixels)\u{1B}[c".utf8)
        let isAsked = write(output, question, question.count) == question.count
        let told = isAsked ? answer(input, patience) : []
        tcsetattr(input, TCSANOW, &mode)
        if told.contains(3) { kill(getpid(), SIGINT) }
        if let ground = background(told) {
            light = ground.luminance > 0.5
            self.told = ground
        }
        if images { graphics = Terminal.graphics(told, sizeOfCell(output)) }
    }

    /// What comes until the answer to the last question has.
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

/// The size of a cell of a terminal in pixels, as the system knows it; nil: it does not. [any]
func sizeOfCell(_ terminal: Int32) -> (width: Int, height: Int)? {
    var size = winsize()
    guard ioctl(terminal, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0,
        size.ws_xpixel >= size.ws_col, size.ws_ypixel >= size.ws_row
    else { return nil }
    return (Int(size.ws_xpixel / size.ws_col), Int(size.ws_ypixel / size.ws_row))
}

/// Whether a terminal has told its attributes.
private func hasAttributes(_ bytes: [UInt8]) -> Bool {
    numbers(String(decoding: bytes, as: UTF8.self), from: "\u{1B}[?", to: "c") != nil
}

/// How a terminal shows pixels, by its answers to the questions for kitty's protocol, the size of a cell in pixels and its
/// attributes, of which 4 is sixels; nil: it does not. `size`: what is known of a cell otherwise. A picture of sixels
/// needs to know it.
func graphics(_ answer: [UInt8], _ size: (width: Int, height: Int)?) -> Graphics? {
    let text = String(decoding: answer, as: UTF8.self)
    var cell = size
    if let told = numbers(text, from: "\u{1B}[6;", to: "t"), told.count == 2,
        told.allSatisfy({ (2...200).contains($0) })
    {
        cell = (told[1], told[0])
    }
    if text.range(of: "\u{1B}_Gi=31;OK") != nil {
        return cell.map { Graphics(.kitty, cellWidth: $0.width, cellHeight: $0.height) } ?? Graphics(.kitty)
    }
    guard let cell, numbers(text, from: "\u{1B}[?", to: "c")?.contains(4) == true, (try? Sixels.load()) != nil else {
        return nil
    }
    return Graphics(.sixel, cellWidth: cell.width, cellHeight: cell.height)
}

/// The numbers between a beginning and an end, where there is nothing else between them; nil: there are none such.
private func numbers(_ text: String, from start: String, to end: Character) -> [Int]? {
    var text = text[...]
    while let found = text.range(of: start) {
        text = text[found.upperBound...]
        let inner = text.prefix { $0.isNumber || $0 == ";" }
        if text[inner.endIndex...].first == end { return inner.split(separator: ";").compactMap { Int($0) } }
    }
    return nil
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
