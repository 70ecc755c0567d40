// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Glibc
import NodeKit

/// A file that is being recorded to. By one thread at a time.
final class TakeFile: @unchecked Sendable {
    // Sendable: it is handed from one thread to the next, and used by one at a time.

    /// What it is called.
    let path: String
    /// Written so far.
    private(set) var frames = 0
    private let hasLength: Bool
    private var file: OpaquePointer?

    /// Makes the file: a new one, unless what is there may be overwritten. [control]
    init(_ target: RecordTarget, channels: Int, rate: Double, overwrites: Bool, host: NodeHost) throws(NodeError) {
        let (name, descriptor) = claim(target.path(now: time(nil)), overwrites: overwrites) {
            host.log(VG_LOG_INFO, "\($0) is being recorded, so that it is kept")
        }
        path = name
        hasLength = target.hasLength
        if descriptor < 0 { throw NodeError("cannot record to \(name): \(String(cString: strerror(errno)))") }
        var info = SF_INFO()
        info.samplerate = Int32(rate)
        info.channels = Int32(channels)
        info.format = target.format
        file = sf_open_fd(descriptor, Int32(SFM_WRITE), &info, 1)
        if file == nil { throw NodeError("cannot record to \(name): \(String(cString: sf_strerror(nil)))") }
        sf_command(file, Int32(SFC_SET_ADD_PEAK_CHUNK), nil, 0)
        sf_command(file, Int32(SFC_SET_CLIPPING), nil, 1)
        save()
    }

    deinit { _ = close() }

    /// Adds interleaved frames; what is wrong if not all were taken. [worker]
    func write(_ samples: UnsafePointer<Float>, _ count: Int) -> String? {
        let written = Int(sf_writef_float(file, samples, sf_count_t(count)))
        frames += max(written, 0)
        return written < count ? String(cString: sf_strerror(file)) : nil
    }

    /// Makes what was written outlive the process. [worker]
    func save() {
        // The other formats would get a second head in their middle.
        if hasLength { sf_command(file, Int32(SFC_UPDATE_HEADER_NOW), nil, 0) }
        sf_write_sync(file)
    }

    /// Completes the file; what is wrong if that cannot be. [control]
    func close() -> String? {
        guard let file else { return nil }
        self.file = nil
        let result = sf_close(file)
        return result == 0 ? nil : sf_error_number(result).map { String(cString: $0) } ?? "error \(result)"
    }
}

/// Opens a file that is nobody else's; negative: `errno` says why not.
private func claim(_ first: String, overwrites: Bool, kept: (String) -> Void) -> (path: String, descriptor: Int32) {
    var name = overwrites ? first : freePath(first)
    for _ in 0..<100 {
        // Not sf_open: without O_EXCL another process could lose its take to this one.
        let isFirst = overwrites && name == first
        let descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC | (isFirst ? 0 : O_EXCL), 0o644)
        if descriptor < 0, errno != EEXIST || isFirst { return (name, descriptor) }
        if descriptor >= 0 {
            // Held as long as it is recorded to, by another node of this process too: one that makes room for this one
            // goes on for some blocks. Where files cannot be locked there is nothing to look at.
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK {
                if isFirst { ftruncate(descriptor, 0) }
                return (name, descriptor)
            }
            close(descriptor)
            kept(name)
        }
        name = freePath(first)
    }
    errno = EEXIST
    return (name, -1)
}

/// The first of NAME, NAME-2, NAME-3, ... that there is not.
private func freePath(_ first: String) -> String {
    if access(first, F_OK) != 0 { return first }
    let dot = first.lastIndex(of: ".") ?? first.endIndex
    for number in 2...9999 {
        let next = "\(first[..<dot])-\(number)\(first[dot...])"
        if access(next, F_OK) != 0 { return next }
    }
    return first
}
