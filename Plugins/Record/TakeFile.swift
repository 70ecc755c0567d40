// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Glibc
import NodeKit

/// A file that is being recorded to. By one thread at a time.
final class TakeFile: @unchecked Sendable {
    // Sendable: it is handed from one thread to the next, and used by one at a time.

    /// What it is, or is to be, called when it is complete.
    var path: String { name.final }
    /// What it is called now.
    private(set) var place: String
    /// Hz.
    let rate: Double
    /// In the file so far.
    private(set) var frames = 0
    /// Of what was written.
    let levels: TakeLevels
    private let encoding: Encoding
    private let channels: Int
    private var name: TakeName
    private let descriptor: Int32
    private var dither: Dither?
    private var file: OpaquePointer?
    private var reshape: Reshape
    private let inputChannels: Int
    /// Frames that are still to be left out.
    private var skip: Int
    private let hold: Int
    /// Samples that are kept back: from `heldStart` on.
    private var held: [Float] = []
    private var heldStart = 0

    /// Makes the file: a new one, unless what is there may be overwritten. `channels` and `rate`: of the audio. [control]
    init(_ target: RecordTarget, channels: Int, rate: Double, overwrites: Bool, host: NodeHost) throws(NodeError) {
        let own = target.encoding.rate(rate, target.rate)
        self.rate = own
        inputChannels = channels
        self.channels = target.channels ?? channels
        reshape = try Reshape(rate: rate, channels: channels, fileRate: own, fileChannels: self.channels)
        let now = time(nil)
        (name, descriptor) = TakeName.claim(target.path(now: now), overwrites: overwrites) {
            host.log(VG_LOG_INFO, "\($0) is being recorded, so that it is kept")
        }
        place = name.part
        encoding = target.encoding
        skip = target.skip
        hold = target.hold
        levels = TakeLevels(channels: self.channels, rate: own)
        dither = encoding.bits.map { Dither(target.encoding.dither, bits: $0, channels: target.channels ?? channels) }
        if descriptor < 0 { throw NodeError("cannot record to \(place): \(String(cString: strerror(errno)))") }
        var info = SF_INFO()
        info.samplerate = Int32(own)
        info.channels = Int32(self.channels)
        info.format = encoding.format
        file = sf_open_fd(descriptor, Int32(SFM_WRITE), &info, 1)
        guard let file else {
            name.remove()
            throw NodeError("cannot record to \(place): \(String(cString: sf_strerror(nil)))")
        }
        encoding.apply(to: file)
        if target.isStamped, encoding.hasLength { stamp(file, now, rate: own) }
        save()
    }

    deinit { _ = close() }

    /// Samples beyond full scale, which are integers now.
    var clipped: Int { dither?.clipped ?? 0 }

    /// Bytes on disk.
    var size: Int {
        var facts = stat()
        return fstat(descriptor, &facts) == 0 ? Int(facts.st_size) : 0
    }

    /// Takes audio of another rate from now on; the file's stays. What is wrong if that cannot be. [control]
    func take(rate: Double) -> String? {
        if rate == reshape.rate { return nil }
        let rest = reshape.end()
        do throws(NodeError) {
            reshape = try Reshape(rate: rate, channels: inputChannels, fileRate: self.rate, fileChannels: channels)
        } catch { return error.message }
        return rest.withUnsafeBufferPointer { keep($0.baseAddress, rest.count / channels) }
    }

    /// Adds interleaved frames of the audio; what is wrong if not all were taken. [worker]
    func write(_ samples: UnsafePointer<Float>, _ count: Int) -> String? {
        let skipped = min(skip, count)
        skip -= skipped
        let (fresh, frames) = (samples + skipped * inputChannels, count - skipped)
        if reshape.isNothing { return keep(fresh, frames) }
        let shaped = reshape.process(UnsafeBufferPointer(start: fresh, count: frames * inputChannels))
        return shaped.withUnsafeBufferPointer { keep($0.baseAddress, shaped.count / channels) }
    }

    /// Writes frames of the file, or keeps them back.
    private func keep(_ samples: UnsafePointer<Float>?, _ frames: Int) -> String? {
        guard let samples, frames > 0 else { return nil }
        if hold == 0 { return store(samples, frames) }
        held += UnsafeBufferPointer(start: samples, count: frames * channels)
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
        let rest = reshape.end()
        if let fault = rest.withUnsafeBufferPointer({ keep($0.baseAddress, rest.count / channels) }) { return fault }
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

    /// Completes the file and gives it its name; what is wrong if that cannot be. [control]
    func complete() -> String? {
        if let fault = close() { return fault }
        if let fault = name.complete() { return "it is called \(place): \(fault)" }
        place = name.final
        return nil
    }

    /// Ends the file as it is, under the name that it has. What is wrong if that cannot be. [any]
    func close() -> String? {
        guard let file else { return nil }
        self.file = nil
        let result = sf_close(file)
        return result == 0 ? nil : sf_error_number(result).map { String(cString: $0) } ?? "error \(result)"
    }

    /// Throws the file away. [control]
    func remove() {
        _ = close()
        name.remove()
    }
}

/// Says in a WAV when its first frame was recorded: date, time, and frames since midnight (EBU Tech 3285, the broadcast wave
/// format).
private func stamp(_ file: OpaquePointer, _ now: time_t, rate: Double) {
    var now = now
    var parts = tm()
    localtime_r(&now, &parts)
    var facts = SF_BROADCAST_INFO()
    func put<T>(_ format: String, _ field: inout T) {
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, format, &parts)
        withUnsafeMutableBytes(of: &field) { field in
            text[..<count].withUnsafeBytes {
                field.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(field.count)))
            }
        }
    }
    put("voicegraph", &facts.originator)
    put("%Y-%m-%d", &facts.origination_date)
    put("%H:%M:%S", &facts.origination_time)
    let seconds = Double(parts.tm_hour * 3600 + parts.tm_min * 60 + parts.tm_sec)
    let frames = UInt64(seconds * rate)
    facts.time_reference_low = UInt32(truncatingIfNeeded: frames)
    facts.time_reference_high = UInt32(truncatingIfNeeded: frames >> 32)
    facts.version = 1
    sf_command(file, Int32(SFC_SET_BROADCAST_INFO), &facts, Int32(MemoryLayout<SF_BROADCAST_INFO>.size))
}
