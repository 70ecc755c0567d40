// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// What the two processes say to each other. Each frame: length of the rest (4 bytes), kind (1), node (4), call (4), then
/// what the kind needs. A call that is not 0 is answered with a frame of the same number.
enum FrameKind: UInt8 {
    // From the host. `hello` comes first, once.
    case hello, create, prepare, activate, finish, deactivate, destroy, poll, settle, save, schedule, hostFacts
    // From the host too; these may overtake each other, and begin with whether they do.
    case receive, perform, setting
    // From the child.
    case answer, refusal, log, publish, series, audio, health, count, send, notice, turn, state

    /// Whether a frame of this kind begins with whether it is urgent.
    var mayBeUrgent: Bool { self == .receive || self == .perform || self == .setting }
}

/// A frame being written.
struct FrameWriter {
    private(set) var bytes: [UInt8]

    init(_ kind: FrameKind, node: UInt32 = 0, call: UInt32 = 0) {
        bytes = [0, 0, 0, 0, kind.rawValue]
        put(node)
        put(call)
    }

    /// The finished frame.
    var finished: [UInt8] {
        var result = bytes
        withUnsafeBytes(of: UInt32(bytes.count - 4)) { for index in 0..<4 { result[index] = $0[index] } }
        return result
    }

    mutating func put<T: BitwiseCopyable>(_ value: T) { withUnsafeBytes(of: value) { bytes += $0 } }

    mutating func put(_ data: [UInt8]) { bytes += data }

    mutating func put(_ text: String) {
        put(UInt32(text.utf8.count))
        bytes += Array(text.utf8)
    }

    mutating func put(_ samples: UnsafePointer<Float>?, _ count: Int) {
        guard let samples else { return }
        bytes += UnsafeRawBufferPointer(start: samples, count: count * MemoryLayout<Float>.stride)
    }

    mutating func put(_ value: SettingValue) {
        switch value {
        case .bool(let bool): put(UInt8(0)); put(UInt8(bool ? 1 : 0))
        case .integer(let integer): put(UInt8(1)); put(integer)
        case .number(let number): put(UInt8(2)); put(number)
        case .string(let text): put(UInt8(3)); put(text)
        case .list(let items):
            put(UInt8(4))
            put(UInt32(items.count))
            for item in items { put(item) }
        case .table(let table):
            put(UInt8(5))
            put(UInt32(table.count))
            for (key, value) in table.sorted(by: { $0.key < $1.key }) {
                put(key)
                put(value)
            }
        }
    }

    mutating func put(_ error: NodeError) {
        put(error.message)
        put(error.hint)
        put(error.key)
    }
}

/// A frame that was received. What is missing or makes no sense is read as zero or empty: the other side may be
/// anything.
struct FrameReader {
    let kind: FrameKind?
    let node: UInt32
    let call: UInt32
    private let bytes: [UInt8]
    private var place = 0

    /// A frame without its length.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        kind = bytes.first.flatMap(FrameKind.init)
        place = 1
        var numbers = [UInt32](repeating: 0, count: 2)
        if bytes.count >= 9 {
            numbers.withUnsafeMutableBytes { $0.copyBytes(from: bytes[1..<9]) }
            place = 9
        }
        (node, call) = (numbers[0], numbers[1])
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= bytes.count - place else {
            place = bytes.count
            return nil
        }
        defer { place += count }
        return bytes[place..<place + count]
    }

    mutating func number<T: BitwiseCopyable & ExpressibleByIntegerLiteral>(_ type: T.Type = T.self) -> T {
        guard let slice = take(MemoryLayout<T>.size) else { return 0 }
        return slice.withUnsafeBytes { $0.loadUnaligned(as: T.self) }
    }

    mutating func text() -> String {
        take(Int(number(UInt32.self))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    mutating func samples(_ count: Int) -> [Float] {
        guard let slice = take(count * MemoryLayout<Float>.stride) else { return [] }
        return slice.withUnsafeBytes { bytes in
            (0..<count).map { bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Float>.stride, as: Float.self) }
        }
    }

    /// A count of things that take at least a byte each.
    mutating func count() -> Int { min(Int(number(UInt32.self)), bytes.count - place) }

    mutating func value(depth: Int = 0) -> SettingValue {
        guard depth < 32 else { return .list([]) }
        switch number(UInt8.self) {
        case 0: return .bool(number(UInt8.self) != 0)
        case 1: return .integer(number())
        case 2: return .number(number())
        case 3: return .string(text())
        case 4: return .list((0..<count()).map { _ in value(depth: depth + 1) })
        default:
            var table: [String: SettingValue] = [:]
            for _ in 0..<count() {
                let key = text()
                table[key] = value(depth: depth + 1)
            }
            return .table(table)
        }
    }

    /// A table; empty when it is something else.
    mutating func table() -> [String: SettingValue] {
        if case .table(let table) = value() { table } else { [:] }
    }

    /// A count of bytes, and they.
    mutating func data() -> [UInt8] { Array(take(Int(number(UInt32.self))) ?? []) }

    mutating func error() -> NodeError { NodeError(text(), hint: text(), key: text()) }
}
