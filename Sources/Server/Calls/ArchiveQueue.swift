// SPDX-License-Identifier: Apache-2.0
import API
import Archive
import Dispatch
import Glibc
import Host
import NodeKit

/// The archive of a user, opened for each use: so it may come, be renamed and go while a server runs. SQLite works on a
/// queue of its own, so that nobody else waits for a disk.
final class ArchiveQueue: Sendable {
    private let path: String
    private let queue = DispatchQueue(label: "vg-archive")

    init(_ path: String) { self.path = path }

    /// Does something with the archive; nil: nothing was kept yet.
    func use<Result: Sendable>(
        _ body: @escaping @Sendable (Archive) throws(ArchiveError) -> Result
    ) async throws(Fault) -> Result? {
        try await perform { path throws(ArchiveError) in
            guard let archive = try Archive.open(path) else { return nil }
            return try body(archive)
        }
    }

    /// Does something with the archive's path, whether it is there or not.
    func perform<Result: Sendable>(
        _ body: @escaping @Sendable (String) throws(ArchiveError) -> Result
    ) async throws(Fault) -> Result {
        let path = path
        let done = await withCheckedContinuation {
            (continuation: CheckedContinuation<Swift.Result<Result, Fault>, Never>) in
            queue.async {
                do throws(ArchiveError) { continuation.resume(returning: .success(try body(path))) } catch {
                    continuation.resume(returning: .failure(error.fault))
                }
            }
        }
        return try done.get()
    }
}

// What is kept, with the names that the commands have.

extension ArchivedSession {
    var values: SettingValue {
        var fields: [String: SettingValue] = [
            "id": .integer(id), "graph": .string(graph), "start": .string(EventJSON.timestamp(start)),
            "items": .integer(Int64(items)), "takes": .integer(Int64(takes)),
            "speakers": .list(speakers.map(SettingValue.string)),
        ]
        fields["file"] = file.map(SettingValue.string)
        fields["end"] = end.map { .string(EventJSON.timestamp($0)) }
        fields["ended"] = ended.map { .string($0.rawValue) }
        return .table(fields)
    }
}

extension ArchivedItem {
    var values: SettingValue {
        var fields: [String: SettingValue] = [
            "id": .integer(id), "session": .integer(session), "graph": .string(graph), "speaker": .string(speaker),
            "node": .string(node), "start": .number(start), "end": .number(end),
            "utc": .string(EventJSON.timestamp(utc)), "state": .string(state.rawValue), "text": .string(text),
        ]
        fields["original"] = original.map(SettingValue.string)
        return .table(fields)
    }
}

extension ArchivedTake {
    var values: SettingValue {
        var fields: [String: SettingValue] = [
            "id": .integer(id), "session": .integer(session), "graph": .string(graph), "speaker": .string(speaker),
            "node": .string(node), "path": .string(file), "exists": .bool(access(file, F_OK) == 0),
            "start": .number(start), "end": .number(end), "utc": .string(EventJSON.timestamp(utc)),
            "state": .string(state.rawValue),
        ]
        fields["frames"] = frames.map { .integer($0) }
        fields["rate"] = rate.map { .number($0) }
        fields["channels"] = channels.map { .integer(Int64($0)) }
        fields["seconds"] = seconds.map { .number($0) }
        fields["reason"] = reason.map(SettingValue.string)
        return .table(fields)
    }
}
