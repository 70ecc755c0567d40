// SPDX-License-Identifier: Apache-2.0

/// Reads JSON as RFC 8259 has it, strictly: no comments, no trailing commas, no key twice in an object, no NUL in texts
/// (they become C strings), no number that a Double cannot hold.
struct JSONReader {
    let bytes: [UInt8]
    private var at = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func whole() throws(JSON.Fault) -> JSON {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw fault("this is not UTF-8", at: 0) }
        let value = try value(depth: 0)
        skipSpace()
        guard at == bytes.count else { throw fault("there is something after the end of the value") }
        return value
    }

    private func fault(_ message: String, at offset: Int? = nil) -> JSON.Fault {
        JSON.Fault(message: message, offset: offset ?? at)
    }

    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 32 || byte == 9 || byte == 10 || byte == 13 { at += 1 }
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        at += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSON.Fault) -> JSON {
        skipSpace()
        guard let byte = next else { throw fault("it ends too early") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try list(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default:
            for (word, value) in [("true", JSON.bool(true)), ("false", .bool(false)), ("null", .null)]
            where bytes[at...].starts(with: word.utf8) {
                at += word.utf8.count
                return value
            }
            throw fault("no value begins like this")
        }
    }

    private mutating func open(_ depth: Int) throws(JSON.Fault) {
        guard depth < JSON.depthLimit else { throw fault("it is nested more than \(JSON.depthLimit) deep") }
        at += 1
        skipSpace()
    }

    private mutating func list(depth: Int) throws(JSON.Fault) -> JSON {
        try open(depth)
        var items: [JSON] = []
        if take("]") { return .list(items) }
        repeat {
            items.append(try value(depth: depth + 1))
            skipSpace()
        } while take(",")
        guard take("]") else { throw fault(next == nil ? "it ends too early" : "',' or ']' is missing") }
        return .list(items)
    }

    private mutating func object(depth: Int) throws(JSON.Fault) -> JSON {
        try open(depth)
        var fields: [String: JSON] = [:]
        if take("}") { return .object(fields) }
        repeat {
            skipSpace()
            let start = at
            guard next == UInt8(ascii: "\"") else {
                throw fault(next == nil ? "it ends too early" : "a key in quotes is missing")
            }
            let key = try string()
            skipSpace()
            guard take(":") else { throw fault(next == nil ? "it ends too early" : "':' is missing") }
            let item = try value(depth: depth + 1)
            guard fields.updateValue(item, forKey: key) == nil else {
                throw fault("the key '\(key)' is there twice", at: start)
            }
            skipSpace()
        } while take(",")
        guard take("}") else { throw fault(next == nil ? "it ends too early" : "',' or '}' is missing") }
        return .object(fields)
    }

    private mutating func number() throws(JSON.Fault) -> JSON {
        let start = at
        func isDigit(_ byte: UInt8?) -> Bool { byte.map { (48...57).contains($0) } ?? false }
        func digits(_ reader: inout JSONReader) throws(JSON.Fault) {
            guard isDigit(reader.next) else { throw reader.fault("a digit is missing") }
            while isDigit(reader.next) { reader.at += 1 }
        }
        _ = take("-")
        if take("0") {
            if isDigit(next) { throw fault("a number begins with 0", at: start) }
        } else {
            try digits(&self)
        }
        var isWhole = true
        if take(".") {
            isWhole = false
            try digits(&self)
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            try digits(&self)
        }
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw fault("the number is too large", at: start) }
        return .number(number)
    }

    private mutating func string() throws(JSON.Fault) -> String {
        let start = at
        at += 1
        var result: [UInt8] = []
        while let byte = next {
            at += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: result, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(&result)
            case 0..<32: throw fault("a control character in a text must be escaped", at: at - 1)
            default: result.append(byte)
            }
        }
        throw fault("a text does not end", at: start)
    }

    private mutating func escape(_ result: inout [UInt8]) throws(JSON.Fault) {
        guard let byte = next else { throw fault("it ends too early") }
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(byte)
        case UInt8(ascii: "b"): result.append(8)
        case UInt8(ascii: "f"): result.append(12)
        case UInt8(ascii: "n"): result.append(10)
        case UInt8(ascii: "r"): result.append(13)
        case UInt8(ascii: "t"): result.append(9)
        case UInt8(ascii: "u"):
            let first = try unit()
            var value = UInt32(first)
            if (0xD800...0xDBFF).contains(first), next == UInt8(ascii: "\\"), at + 1 < bytes.count,
                bytes[at + 1] == UInt8(ascii: "u")
            {
                at += 2
                let second = try unit()
                guard (0xDC00...0xDFFF).contains(second) else { throw fault("half of a character is missing") }
                value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
            }
            guard value != 0 else { throw fault("a NUL has no place in a text") }
            guard let scalar = Unicode.Scalar(value) else { throw fault("half of a character is missing") }
            result += Array(String(scalar).utf8)
        default: throw fault("there is no such escape", at: at - 1)
        }
    }

    private mutating func unit() throws(JSON.Fault) -> UInt16 {
        let digits = bytes[at..<min(at + 4, bytes.count)]
        func isHex(_ byte: UInt8) -> Bool {
            (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
        }
        guard digits.count == 4, digits.allSatisfy(isHex),
            let value = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw fault("\\u needs four hexadecimal digits") }
        at += 4
        return value
    }
}
