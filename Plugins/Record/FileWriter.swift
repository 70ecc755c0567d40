// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Glibc
import NodeKit
import Realtime

/// Moves interleaved frames from a ring to a file, on a thread of its own, and keeps the file readable all the time.
final class FileWriter: @unchecked Sendable {
    // Sendable: `monitor` guards what both threads change; the file belongs to the worker while it runs.
    private let template: String
    private let channels: Int
    private let overwrites: Bool
    private let format: Int32
    private let host: NodeHost
    private let monitor = Monitor()
    private var ring: Ring<Float>?
    private var rate = 0.0
    private var worker: Worker?
    private var file: OpaquePointer?
    private var path = ""
    private var frames = 0
    private var ending = false
    private var failed = false
    /// Raised by `settle`, lowered by the thread when all is saved.
    private var settling = false

    /// Checks suffix and folder; writes nothing. [control]
    init(path: String, channels: Int, overwrites: Bool, host: NodeHost) throws(NodeError) {
        let formats: [(String, Int)] = [
            (".wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT), (".flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_24),
            (".ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS),
        ]
        guard let format = formats.first(where: { path.lowercased().hasSuffix($0.0) }) else {
            throw NodeError("cannot tell the format of \(path)", hint: "end it in .wav, .flac or .ogg", key: "path")
        }
        if format.0 == ".flac", channels > 8 {
            throw NodeError("FLAC holds 8 channels, not \(channels)", hint: "end it in .wav", key: "channels")
        }
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        if access(folder.isEmpty ? "/" : folder, W_OK) != 0 {
            throw NodeError(
                "cannot write to the folder \(folder): \(String(cString: strerror(errno)))",
                hint: "make it with mkdir -p, or choose another", key: "path")
        }
        template = path
        self.channels = channels
        self.overwrites = overwrites
        self.format = Int32(format.1)
        self.host = host
    }

    /// Makes the ring: ten seconds. A file at another rate is finished, the next one gets a number. [control]
    func prepare(rate: Double, maxBlock: Int, dropped: Int) throws(NodeError) -> Ring<Float> {
        if let ring, self.rate == rate, ring.capacity >= 4 * maxBlock * channels { return ring }
        if self.rate == rate { stopWorker() } else { finish(dropped: dropped) }
        let fresh = Ring<Float>(minimumCapacity: channels * max(Int(rate * 10), 8 * maxBlock))
        monitor.locked {
            ring = fresh
            self.rate = rate
            ending = false
        }
        return fresh
    }

    /// Opens the file, if it is not open, and starts the thread. [control]
    func start() {
        if worker != nil { return }
        open()
        do {
            worker = try Worker { [self] in run() }
        } catch {
            fail(error.message)
        }
    }

    /// Returns when everything is on disk and the file's head says so. [control]
    func settle() {
        monitor.locked {
            guard worker != nil else { return }
            settling = true
            monitor.signal()
            while settling, !failed { monitor.wait() }
        }
    }

    /// Ends the recording. [control]
    func finish(dropped: Int) {
        stopWorker()
        guard let file else { return }
        sf_close(file)
        self.file = nil
        host.publish(
            "record.finished",
            [
                ("path", .string(path)), ("frames", .integer(Int64(frames))), ("dropped", .integer(Int64(dropped))),
                ("seconds", .number(Double(frames) / rate)),
            ])
    }

    /// Returns when the ring is on disk and the thread has ended. [control]
    private func stopWorker() {
        monitor.locked {
            ending = true
            monitor.signal()
        }
        worker?.join()
        worker = nil
    }

    /// Wakes the writer when much waits for it; it looks by itself otherwise. [control]
    func wake() {
        guard let ring, ring.writer.space < ring.capacity * 7 / 8 else { return }
        monitor.locked { monitor.signal() }
    }

    /// Offline: returns when `frames` fit into the ring. [control]
    func wait(frames: Int) {
        guard let ring, ring.writer.space < frames * channels else { return }
        monitor.locked {
            while !failed, worker != nil, ring.writer.space < frames * channels {
                monitor.signal()
                monitor.wait()
            }
        }
    }

    private func run() {
        guard let ring = monitor.locked({ self.ring }) else { return }
        let size = 8192 * channels
        let buffer = UnsafeMutablePointer<Float>.allocate(capacity: size)
        defer { buffer.deallocate() }
        // What is not on disk for certain, and since when.
        var unsaved = 0
        var saved = vg_nanoseconds()
        while true {
            // Asked before the ring is read: what was in it when `settle` was called is then on disk once it is empty.
            let asked = monitor.locked { settling }
            let count = ring.reader.read(into: buffer, count: size)
            if count > 0, let file {
                let written = Int(sf_writef_float(file, buffer, sf_count_t(count / channels)))
                frames += written
                unsaved += written
                if written < count / channels { fail(String(cString: sf_strerror(file))) }
            }
            let done = monitor.locked { ending && count == 0 }
            // Four times a second at least: what a crash can cost.
            let isDue = vg_nanoseconds() &- saved > 200_000_000
            if unsaved > 0, isDue || done || (asked && count == 0) {
                save()
                unsaved = 0
                saved = vg_nanoseconds()
            }
            if done { return }
            monitor.locked {
                if count == 0, asked { settling = false }
                monitor.signal()
                if count == 0, !ending, !settling { monitor.wait(milliseconds: 50) }
            }
        }
    }

    private func save() {
        guard let file else { return }
        // Only a WAV states its length at its head; the other formats would get a second head in their middle.
        if template.lowercased().hasSuffix(".wav") { sf_command(file, Int32(SFC_UPDATE_HEADER_NOW), nil, 0) }
        sf_write_sync(file)
    }

    private func open() {
        if file != nil || failed { return }
        let descriptor = claim()
        guard descriptor >= 0 else { return fail(String(cString: strerror(errno))) }
        var info = SF_INFO()
        info.samplerate = Int32(rate)
        info.channels = Int32(channels)
        info.format = format
        file = sf_open_fd(descriptor, Int32(SFM_WRITE), &info, 1)
        guard let file else {
            return fail(String(cString: sf_strerror(nil)))
        }
        frames = 0
        sf_command(file, Int32(SFC_SET_ADD_PEAK_CHUNK), nil, 0)
        sf_command(file, Int32(SFC_SET_CLIPPING), nil, 1)
        save()
        host.publish(
            "record.started",
            [("path", .string(path)), ("rate", .number(rate)), ("channels", .integer(Int64(channels)))])
    }

    private func fail(_ reason: String) {
        monitor.locked {
            failed = true
            monitor.signal()
        }
        if let file { sf_close(file) }
        file = nil
        host.log(VG_LOG_ERROR, "recording to \(path) ended: \(reason)")
        host.publish(
            "record.failed",
            [("path", .string(path)), ("reason", .string(reason)), ("frames", .integer(Int64(frames)))])
    }

    /// Opens a file that is nobody else's, as `path`; negative: `errno` says why not.
    private func claim() -> Int32 {
        let first = firstPath()
        var name = overwrites ? first : freePath(first)
        for _ in 0..<100 {
            path = name
            // Not sf_open: without O_EXCL another process could lose its take to this one.
            let isFirst = overwrites && name == first
            let descriptor = Glibc.open(name, O_RDWR | O_CREAT | O_CLOEXEC | (isFirst ? 0 : O_EXCL), 0o644)
            if descriptor < 0, errno != EEXIST || isFirst { return descriptor }
            if descriptor >= 0 {
                // Held as long as it is recorded to, by another node of this process too: one that makes room for this
                // one goes on for some blocks. Where files cannot be locked there is nothing to look at.
                if flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK {
                    if isFirst { ftruncate(descriptor, 0) }
                    return descriptor
                }
                close(descriptor)
                host.log(VG_LOG_INFO, "\(name) is being recorded, so that it is kept")
            }
            name = freePath(first)
        }
        errno = EEXIST
        return -1
    }

    private func firstPath() -> String {
        var now = time(nil)
        var parts = tm()
        localtime_r(&now, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        let clock = "\(two(parts.tm_hour))-\(two(parts.tm_min))-\(two(parts.tm_sec))"
        return replace("{time}", clock, replace("{date}", date, template))
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
}

private func replace(_ word: String, _ value: String, _ text: String) -> String {
    var text = text
    while let range = text.firstRange(of: word) { text.replaceSubrange(range, with: value) }
    return text
}
