// SPDX-License-Identifier: Apache-2.0
import CSQLite

/// An open file of SQLite, for one thread at a time. What SQLite refuses is thrown in the archive's words.
final class Connection {
    private let handle: OpaquePointer
    private let patience: Double

    /// Opens a file, and makes it if it is not there. A call waits so many seconds for what others have locked.
    init(_ path: String, patience: Double) throws(ArchiveError) {
        var opened: OpaquePointer?
        // Without SQLite's own lock: its owner has one.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let result = sqlite3_open_v2(path, &opened, flags, nil)
        guard let opened, result == SQLITE_OK else {
            let message = String(cString: sqlite3_errmsg(opened))
            sqlite3_close_v2(opened)
            throw ArchiveError(sqlite: result, message)
        }
        handle = opened
        self.patience = patience
        wait(patience)
    }

    private func wait(_ seconds: Double) {
        sqlite3_busy_timeout(handle, Int32(clamping: Int(min(seconds, 1e6) * 1000)))
    }

    deinit { sqlite3_close_v2(handle) }

    /// Runs statements that take nothing and give nothing.
    func run(_ statements: String) throws(ArchiveError) {
        try check(sqlite3_exec(handle, statements, nil, nil, nil))
    }

    /// Runs one statement, with values in place of its question marks.
    func execute(_ sql: String, _ values: [any ColumnValue] = []) throws(ArchiveError) {
        _ = try rows(sql, values) { _ in }
    }

    /// What `make` makes of each row.
    func rows<Result>(
        _ sql: String, _ values: [any ColumnValue] = [], _ make: (Row) throws(ArchiveError) -> Result
    ) throws(ArchiveError) -> [Result] {
        var prepared: OpaquePointer?
        try check(sqlite3_prepare_v2(handle, sql, -1, &prepared, nil))
        guard let prepared else { return [] }
        defer { sqlite3_finalize(prepared) }
        for (index, value) in values.enumerated() { try check(value.bind(to: prepared, Int32(index + 1))) }
        let row = Row(prepared)
        var results: [Result] = []
        while true {
            switch sqlite3_step(prepared) {
            case SQLITE_ROW: results.append(try make(row))
            case SQLITE_DONE: return results
            case let code: try check(code)
            }
        }
    }

    /// The first column of the first row; nil: there is none.
    func value<Value: ColumnValue>(_ sql: String, _ values: [any ColumnValue] = []) throws(ArchiveError) -> Value? {
        try rows(sql, values) { row -> Value in row[0] }.first
    }

    /// How many rows the last statement that changes some has changed.
    var changes: Int { Int(sqlite3_changes64(handle)) }

    /// The number of the row that was inserted last.
    var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Runs `body` with all that it changes, or nothing. One that will write locks the file at once, since others may have
    /// changed what it has read until then.
    func transaction<Result>(
        writing: Bool, _ body: () throws(ArchiveError) -> Result
    ) throws(ArchiveError) -> Result {
        try run(writing ? "BEGIN IMMEDIATE" : "BEGIN")
        do throws(ArchiveError) {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            // Some failures have ended it already.
            if sqlite3_get_autocommit(handle) == 0 { try? run("ROLLBACK") }
            throw error
        }
    }

    /// Writes the log into the file, and empties it. Throws where others read of it for longer than `patience` seconds; nil:
    /// as long as for any other call.
    func emptyLog(patience seconds: Double? = nil) throws(ArchiveError) {
        if let seconds { wait(seconds) }
        defer { wait(patience) }
        try check(sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil))
    }

    /// Lets the log lie when the connection ends.
    func keepLog() {
        var keeps: Int32 = 1
        sqlite3_file_control(handle, nil, SQLITE_FCNTL_PERSIST_WAL, &keeps)
    }

    private func check(_ code: Int32) throws(ArchiveError) {
        if code != SQLITE_OK { throw ArchiveError(sqlite: code, String(cString: sqlite3_errmsg(handle))) }
    }
}
