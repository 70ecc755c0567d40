// SPDX-License-Identifier: Apache-2.0

/// Something that a node type declares, described field by field. The tables of calls, of `describe --json` and of frames
/// to an isolated node are made from `fields`; a test holds the structs of node.h to them.
package protocol Declared: Equatable, Sendable {
    /// Every stored property.
    static var fields: [DeclaredField<Self>] { get }
    /// One that says nothing.
    static var blank: Self { get }
}

extension Declared {
    /// As a table; what is not said is left out. [any]
    package var values: [String: SettingValue] {
        Self.fields.reduce(into: [:]) { values, field in field.write(self, &values) }
    }

    /// Reads a table; what is missing or of another kind is as in `blank`. [any]
    package init(_ values: [String: SettingValue]) {
        self = Self.fields.reduce(into: .blank) { declared, field in field.read(&declared, values) }
    }
}

/// A property of what is declared, with its name in tables.
package struct DeclaredField<Root: Sendable>: Sendable {
    let write: @Sendable (Root, inout [String: SettingValue]) -> Void
    let read: @Sendable (inout Root, [String: SettingValue]) -> Void

    /// A property that `write` makes a value, or nil where it says nothing, and `read` takes from one.
    static func value<Value>(
        _ name: String, _ path: WritableKeyPath<Root, Value> & Sendable,
        write: @escaping @Sendable (Value) -> SettingValue?, read: @escaping @Sendable (SettingValue) -> Value?
    ) -> DeclaredField {
        DeclaredField {
            $1[name] = write($0[keyPath: path])
        } read: { root, values in
            if let value = values[name].flatMap(read) { root[keyPath: path] = value }
        }
    }

    static func text(
        _ name: String, _ path: WritableKeyPath<Root, String> & Sendable, unlessEmpty isShort: Bool = false
    ) -> DeclaredField {
        value(name, path, write: { isShort && $0.isEmpty ? nil : .string($0) }, read: \.text)
    }

    static func text(_ name: String, _ path: WritableKeyPath<Root, String?> & Sendable) -> DeclaredField {
        value(name, path, write: { $0.map(SettingValue.string) }, read: \.text)
    }

    static func texts(_ name: String, _ path: WritableKeyPath<Root, [String]> & Sendable) -> DeclaredField {
        value(name, path, write: { .list($0.map(SettingValue.string)) }, read: { $0.items?.compactMap(\.text) })
    }

    static func bool(_ name: String, _ path: WritableKeyPath<Root, Bool> & Sendable) -> DeclaredField {
        value(name, path, write: SettingValue.bool) { if case .bool(let bool) = $0 { bool } else { nil } }
    }

    static func number(_ name: String, _ path: WritableKeyPath<Root, Float> & Sendable) -> DeclaredField {
        value(name, path, write: { SettingValue($0) }, read: { $0.real.map(Float.init) })
    }

    static func number(_ name: String, _ path: WritableKeyPath<Root, Double> & Sendable) -> DeclaredField {
        value(name, path, write: SettingValue.number, read: \.real)
    }

    static func integer(_ name: String, _ path: WritableKeyPath<Root, Int> & Sendable) -> DeclaredField {
        value(name, path, write: { .integer(Int64($0)) }) {
            if case .integer(let integer) = $0 { Int(exactly: integer) } else { nil }
        }
    }

    /// A value of an enumeration in C, in its word.
    static func word<Value: Worded>(_ name: String, _ path: WritableKeyPath<Root, Value> & Sendable) -> DeclaredField {
        value(name, path, write: { .string($0.name) }) { $0.text.flatMap(Value.init(name:)) }
    }

    /// Bits that have words.
    static func bits(
        _ name: String, _ path: WritableKeyPath<Root, UInt32> & Sendable, _ words: KeyValuePairs<Int, String>
    ) -> DeclaredField {
        let words = words.map { (UInt32($0.key), $0.value) }
        return value(name, path) { bits in
            .list(words.filter { bits & $0.0 != 0 }.map { .string($0.1) })
        } read: { value in
            value.items.map { items in
                words.reduce(0) { items.contains(.string($1.1)) ? $0 | $1.0 : $0 }
            }
        }
    }

    static func list<Item: Declared>(
        _ name: String, _ path: WritableKeyPath<Root, [Item]> & Sendable, unlessEmpty isShort: Bool = false
    ) -> DeclaredField {
        value(name, path) {
            isShort && $0.isEmpty ? nil : .list($0.map { .table($0.values) })
        } read: {
            $0.items?.map { if case .table(let table) = $0 { Item(table) } else { .blank } }
        }
    }

    /// The two ends of a range, which stand in the table by themselves.
    static func range<Bound: Comparable & Sendable>(
        _ path: WritableKeyPath<Root, ClosedRange<Bound>> & Sendable,
        write: @escaping @Sendable (Bound) -> SettingValue, read: @escaping @Sendable (Double) -> Bound
    ) -> DeclaredField {
        DeclaredField {
            $1["minimum"] = write($0[keyPath: path].lowerBound)
            $1["maximum"] = write($0[keyPath: path].upperBound)
        } read: { root, values in
            if let range = ends(values, read) { root[keyPath: path] = range }
        }
    }

    static func range(_ path: WritableKeyPath<Root, ClosedRange<Double>?> & Sendable) -> DeclaredField {
        DeclaredField {
            $1["minimum"] = ($0[keyPath: path]?.lowerBound).map(SettingValue.number)
            $1["maximum"] = ($0[keyPath: path]?.upperBound).map(SettingValue.number)
        } read: { root, values in
            root[keyPath: path] = ends(values) { $0 }
        }
    }

    private static func ends<Bound: Comparable>(
        _ values: [String: SettingValue], _ read: (Double) -> Bound
    ) -> ClosedRange<Bound>? {
        guard let low = values["minimum"]?.real.map(read), let high = values["maximum"]?.real.map(read), low <= high
        else { return nil }
        return low...high
    }
}

extension SettingValue {
    /// A float as the number that has the same digits. [any]
    package init(_ value: Float) { self = .number(Double(value.description) ?? Double(value)) }

    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }

    fileprivate var items: [SettingValue]? { if case .list(let items) = self { items } else { nil } }

    fileprivate var real: Double? {
        switch self {
        case .number(let number): number
        case .integer(let integer): Double(integer)
        default: nil
        }
    }
}
