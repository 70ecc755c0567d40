// SPDX-License-Identifier: Apache-2.0

/// A JSON value. Whole numbers stay whole, also beyond what a Double holds exactly.
public enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case list([JSON])
    case object([String: JSON])

    /// Why a text is not JSON.
    public struct Fault: Error, Sendable, Equatable {
        /// What is wrong.
        public var message: String
        /// Where, in bytes from 0.
        public var offset: Int
    }

    /// Nothing deeper than this is read: the reader calls itself for every level.
    public static let depthLimit = 32

    /// Reads one value, with nothing after it. Any bytes will do. [any]
    public init(_ bytes: some Sequence<UInt8>) throws(Fault) {
        var reader = JSONReader(bytes: Array(bytes))
        self = try reader.whole()
    }

    /// As JSON; the keys of objects in alphabetical order. A number that JSON cannot hold, as infinity, becomes null;
    /// everything else reads back as the same value.
    public var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .number(let value): value.isFinite ? value.description : "null"
        case .string(let value): JSONText.string(value)
        case .list(let items): "[" + items.map(\.text).joined(separator: ",") + "]"
        case .object(let fields): JSONText.object(fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value.text) })
        }
    }

    /// The kind in words.
    public var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .integer, .number: "a number"
        case .string: "a text"
        case .list: "a list"
        case .object: "an object"
        }
    }

    /// What an object has under a key; nil of anything else.
    public subscript(key: String) -> JSON? {
        if case .object(let fields) = self { fields[key] } else { nil }
    }

    /// A text, if it is one.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// True or false, if it is one of them.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// A number, if it is one.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
    /// A whole number, if it is one.
    public var integer: Int? { double.flatMap { Int(exactly: $0) } }
    /// The items of a list; none of anything else.
    public var items: [JSON] { if case .list(let items) = self { items } else { [] } }
    /// The fields of an object; none of anything else.
    public var fields: [String: JSON] { if case .object(let fields) = self { fields } else { [:] } }
}
