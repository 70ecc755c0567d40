// SPDX-License-Identifier: Apache-2.0
import CSQLite

/// A row that a statement gives, as long as it is the newest. What is not of the kind that is asked for is converted as
/// SQLite does; NULL is 0 or an empty text for who asks for no optional.
struct Row {
    private let statement: OpaquePointer
    private let columns: [String: Int32]

    init(_ statement: OpaquePointer) {
        self.statement = statement
        let names = (0..<sqlite3_column_count(statement)).map {
            (String(cString: sqlite3_column_name(statement, $0)), $0)
        }
        columns = Dictionary(names) { first, _ in first }
    }

    /// The value of a column, which must be there.
    subscript<Value: ColumnValue>(_ name: String) -> Value { self[columns[name]!] }

    /// The value of a column by its place, from 0 on.
    subscript<Value: ColumnValue>(_ index: Int32) -> Value { Value(statement, index) }
}

/// What a column may hold.
protocol ColumnValue {
    /// Reads it from a column of the row that a statement is at.
    init(_ statement: OpaquePointer, _ column: Int32)
    /// Puts it in place of a question mark, counted from 1; returns SQLite's result.
    func bind(to statement: OpaquePointer, _ index: Int32) -> Int32
}

extension Int64: ColumnValue {
    init(_ statement: OpaquePointer, _ column: Int32) { self = sqlite3_column_int64(statement, column) }
    func bind(to statement: OpaquePointer, _ index: Int32) -> Int32 { sqlite3_bind_int64(statement, index, self) }
}

extension Int: ColumnValue {
    init(_ statement: OpaquePointer, _ column: Int32) { self = Int(Int64(statement, column)) }
    func bind(to statement: OpaquePointer, _ index: Int32) -> Int32 { Int64(self).bind(to: statement, index) }
}

extension Double: ColumnValue {
    /// Within what all that reads an archive can count in, microseconds among it: another program may have written it.
    init(_ statement: OpaquePointer, _ column: Int32) {
        let number = sqlite3_column_double(statement, column)
        self = number.isNaN ? 0 : min(max(number, -1e12), 1e12)
    }
    func bind(to statement: OpaquePointer, _ index: Int32) -> Int32 { sqlite3_bind_double(statement, index, self) }
}

extension String: ColumnValue {
    init(_ statement: OpaquePointer, _ column: Int32) {
        // The text first: it may be converted, and only then has its length.
        let text = sqlite3_column_text(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        self = String(decoding: UnsafeBufferPointer(start: text, count: text == nil ? 0 : count), as: UTF8.self)
    }

    func bind(to statement: OpaquePointer, _ index: Int32) -> Int32 {
        var text = self
        return text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                // An empty text may have no address, which would be NULL.
                guard let start = bytes.baseAddress else { return vg_sqlite_bind_text(statement, index, "", 0) }
                return vg_sqlite_bind_text(statement, index, start, UInt64(bytes.count))
            }
        }
    }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    init(_ statement: OpaquePointer, _ column: Int32) {
        self = sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : Wrapped(statement, column)
    }

    func bind(to statement: OpaquePointer, _ index: Int32) -> Int32 {
        map { $0.bind(to: statement, index) } ?? sqlite3_bind_null(statement, index)
    }
}
