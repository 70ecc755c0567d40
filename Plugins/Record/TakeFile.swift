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
    /// Of what was written.
    let levels: TakeLevels
    private let encoding: Encoding
    private let channels: Int
    private var dither: Dither?
    private var file: OpaquePointer?
    /// Frames that are still to be left out.
    private var skip: Int
    private let hold: Int
    /// Samples that are kept back: from `heldStart` on.
    private var held: [Float] = []
    private var heldStart = 0

    /// Makes the file: a new one, unless what is there may be overwritten. [control]
    init(_ target: RecordTarget, channels: Int, rate: Double, overwrites: Bool, host: NodeHost) throws(NodeError) {
        let (name, descriptor) = claim(target.path(now: time(nil)), overwrites: overwrites) {
            host.log(VG_LOG_INFO, "\($0) is being recorded, so that it is kept")
        }
        path = name
        self.channels = channels
        encoding = target.encoding
        skip = target.skip
        hold = target.hold
        levels = TakeLevels(channels: channels, rate: rate)
        dither = encoding.bits.map { Dither(target.encoding.dither, bits: $0, channels: channels) }
        if descriptor < 0 { throw NodeError("cannot record to \(name): \(String(cString: strerror(errno)))") }
        var info = SF_INFO()
        info.samplerate = Int32(rate)
        info.channels = Int32(channels)
        info.format = encoding.format
        file = sf_open_fd(descriptor, Int32(SFM_WRITE), &info, 1)
        guard let file else {
            throw NodeError("cannot record to \(name): \(String(cString: sf_strerror(nil)))")
        }
        encoding.apply(to: file)
        save()
    }

    deinit { _ = close() }

    /// Samples beyond full scale, which are integers now.
    var clipped: Int { dither?.clipped ?? 0 }

    /// Adds interleaved frames; what is wrong if not all were taken. [worker]
    func write(_ samples: UnsafePointer<Float>, _ count: Int) -> String? {
        let skipped = min(skip, count)
        skip -= skipped
        let (fresh, frames) = (samples + skipped * channels, count - skipped)
        if hold == 0 { return store(fresh, frames) }
        held += UnsafeBufferPointer(start: fresh, count: frames * channels)
        let ready = (held.count - heldStart) / channels - hold
        if ready <= 0 { return nil }
        defer {
            heldStart += ready * channels
            // Moved to the front now and then, not at each call.
            if heldStart > max(held.count / 2, 65_536) {
                held.removeFirst(heldStart)
                heldStart = 0
            }
        }
        return held.withUnsafeBufferPointer { store($0.baseAddress! + heldStart, ready) }
    }

    /// Writes what was kept back, up to `frames` in all; nil: all of it. What is wrong if that cannot be. [control]
    func release(upTo total: Int?) -> String? {
        let waiting = (held.count - heldStart) / channels
        let count = min(waiting, max(0, (total ?? .max) - frames))
        defer { (held, heldStart) = ([], 0) }
        return count == 0 ? nil : held.withUnsafeBufferPointer { store($0.baseAddress! + heldStart, count) }
    }

    private func store(_ samples: UnsafePointer<Float>, _ count: Int) -> String? {
        levels.add(samples, count)
        let written: sf_count_t
        if dither != nil {
            let integers = dither!.integers(UnsafeBufferPointer(start: samples, count: count * channels))
            written = sf_writef_int(file, integers, sf_count_t(count))
        } else {
            written = sf_writef_float(file, samples, sf_count_t(count))
        }
        frames += max(Int(written), 0)
        return written < count ? String(cString: sf_strerror(file)) : nil
    }

    /// Makes what was written outlive the process. [worker]
    func save() {
        // The other formats would get a second head in their middle.
        if encoding.hasLength { sf_command(file, Int32(SFC_UPDATE_HEADER_NOW), nil, 0) }
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
