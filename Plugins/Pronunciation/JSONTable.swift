// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The entries of a JSON object, found in its text without anything else being read: a lexicon of 90 000 words is ready in
/// milliseconds and takes little more room than its file.
struct JSONTable: Sendable {
    /// All of the file.
    let text: [UInt8]
    /// Where keys begin in `text`, behind their quotes; 0: none. Open addressing, by `hash`.
    private var slots: [UInt32]
    private var count = 0

    /// An empty table.
    init() {
        text = []
        slots = [0]
    }

    /// Finds the entries of the object at `place`; of a list of texts these are keys without a value. The error names `path`.
    init(_ text: [UInt8], at place: Int = 0, path: String) throws(NodeError) {
        self.text = text
        slots = []
        var found: [UInt32] = []
        found.reserveCapacity(text.count / 48)
        var scan = JSONScan(text, at: place)
        guard text.count < Int(UInt32.max), scan.entries({ key, _ in found.append(UInt32(key.lowerBound)) }) else {
            throw NodeError("\(path) is broken: it is no JSON", hint: "remove and install it again: voicegraph models")
        }
        var size = 16
        while size < 2 * found.count { size *= 2 }
        slots = [UInt32](repeating: 0, count: size)
        for key in found { insert(key) }
    }

    private mutating func insert(_ key: UInt32) {
        var hash = Self.basis
        var end = Int(key)
        while text[end] != UInt8(ascii: "\"") {
            hash = Self.step(hash, text[end])
            end += 1
        }
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = key
        count += 1
    }

    // Fowler, Noll and Vo's hash, 1a (RFC 9923).
    private static let basis: UInt64 = 0xcbf2_9ce4_8422_2325
    private static func step(_ hash: UInt64, _ byte: UInt8) -> UInt64 { (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }

    /// Where the value of a key begins in `text`, or for keys of a list what stands behind them; nil: there is no such key.
    subscript(key: String) -> Int? {
        var key = key
        return key.withUTF8 { bytes in
            var hash = Self.basis
            for byte in bytes { hash = Self.step(hash, byte) }
            var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
            while case let start = Int(slots[slot]), start != 0 {
                let end = start + bytes.count
                if end < text.count, text[end] == UInt8(ascii: "\""), text[start..<end].elementsEqual(bytes) {
                    return JSONScan(text, at: end + 1).behindColon
                }
                slot = (slot + 1) & (slots.count - 1)
            }
            return nil
        }
    }

    /// The text that stands at a value's place; nil: something else does.
    func string(at place: Int) -> String? {
        var scan = JSONScan(text, at: place)
        guard let range = scan.string() else { return nil }
        return String(decoding: text[range], as: UTF8.self)
    }

    /// Calls `body` for each key and the place of its value of the object at a place; false: there is none.
    @discardableResult
    func entries(at place: Int, _ body: (Range<Int>, Int) -> Void) -> Bool {
        var scan = JSONScan(text, at: place)
        return scan.entries(body)
    }

    /// Whether an object stands there.
    func isObject(at place: Int) -> Bool { place < text.count && text[place] == UInt8(ascii: "{") }
}

/// Goes through JSON without making anything of it.
struct JSONScan {
    private let text: [UInt8]
    private(set) var place: Int

    init(_ text: [UInt8], at place: Int) {
        self.text = text
        self.place = place
    }

    /// Behind white space and a colon.
    var behindColon: Int {
        var scan = self
        scan.blank()
        if scan.take(":") { scan.blank() }
        return scan.place
    }

    /// Calls `body` for each entry of the object here, or each text of the list here; false: neither stands here.
    mutating func entries(_ body: (Range<Int>, Int) -> Void) -> Bool {
        blank()
        let isList = take("[")
        guard isList || take("{") else { return false }
        blank()
        if take(isList ? "]" : "}") { return true }
        while true {
            blank()
            guard let key = string() else { return false }
            blank()
            if !isList {
                guard take(":") else { return false }
                blank()
                let value = place
                body(key, value)
                guard skip() else { return false }
                blank()
            } else {
                body(key, place)
            }
            if take(",") { continue }
            return take(isList ? "]" : "}")
        }
    }

    /// The bytes between the quotes of a text here; nil: there is none.
    mutating func string() -> Range<Int>? {
        guard take("\"") else { return nil }
        let start = place
        while place < text.count, text[place] != UInt8(ascii: "\"") {
            place += text[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard place < text.count else { return nil }
        place += 1
        return start..<(place - 1)
    }

    /// Passes any value; false: it does not end.
    private mutating func skip() -> Bool {
        var depth = 0
        while place < text.count {
            switch text[place] {
            case UInt8(ascii: "\""):
                if string() == nil { return false }
                if depth == 0 { return true }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return true }
                depth -= 1
                if depth == 0 {
                    place += 1
                    return true
                }
            case UInt8(ascii: ","): if depth == 0 { return true }
            default: break
            }
            place += 1
        }
        return false
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard place < text.count, text[place] == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    private mutating func blank() {
        while place < text.count, [0x20, 0x0a, 0x0d, 0x09].contains(text[place]) { place += 1 }
    }
}
