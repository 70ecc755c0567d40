// SPDX-License-Identifier: Apache-2.0
import API
import Archive
import Dispatch
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

extension ArchivedRecord {
    /// What is known of it.
    var values: SettingValue {
        .table(Dictionary(uniqueKeysWithValues: fields.compactMap { field in field.value.map { (field.name, $0) } }))
    }
}
