// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Glibc
import NodeKit

/// A file that libsndfile writes.
final class SoundFileSink: SampleSink {
    private let output: TakeOutput
    private let encoding: Encoding
    private let file: OpaquePointer
    private let isTimed: Bool

    /// Begins a file. `stamp`: when its first frame is recorded; nil: that is not said. [control]
    init(
        _ output: TakeOutput, _ encoding: Encoding, channels: Int, rate: Double, stamp now: time_t?
    ) throws(NodeError) {
        var info = SF_INFO()
        info.samplerate = Int32(rate)
        info.channels = Int32(channels)
        info.format = encoding.format
        var functions = TakeOutput.functions
        let data = Unmanaged.passUnretained(output).toOpaque()
        guard let file = sf_open_virtual(&functions, Int32(SFM_WRITE), &info, data) else {
            throw NodeError(output.fault ?? String(cString: sf_strerror(nil)))
        }
        self.output = output
        self.encoding = encoding
        self.file = file
        isTimed = now != nil
        encoding.apply(to: file, rate: rate)
        if let now, encoding.hasLength { stamp(file, now, rate: rate) }
    }

    var size: Int { output.size }
    var fault: String { output.fault ?? String(cString: sf_strerror(file)) }
    var code: Int32 { output.code }

    func write(_ samples: UnsafePointer<Float>, _ frames: Int) -> Int {
        Int(sf_writef_float(file, samples, sf_count_t(frames)))
    }

    func write(_ integers: [Int32], _ frames: Int) -> Int { Int(sf_writef_int(file, integers, sf_count_t(frames))) }

    func save() {
        // The other formats would get a second head in their middle.
        if encoding.hasLength { sf_command(file, Int32(SFC_UPDATE_HEADER_NOW), nil, 0) }
    }

    private var cues = WaveCues()

    func mark(_ frame: Int, _ text: String) { cues.add(frame, text) }

    func synchronize() { output.synchronize() }

    func close() -> String? {
        let result = sf_close(file)
        if !isTimed, encoding.hasLength, encoding.bits == nil { forgetTime(output) }
        if encoding.hasLength, result == 0 { cues.write(to: output) }
        output.synchronize()
        if let fault = output.fault { return fault }
        return result == 0 ? nil : sf_error_number(result).map { String(cString: $0) } ?? "error \(result)"
    }
}

/// Clears the time in the chunk PEAK, which libsndfile writes into the head of an RF64 of floats even where it is asked not
/// to: what is rendered is the same in every run.
private func forgetTime(_ output: TakeOutput) {
    var head = [UInt8](repeating: 0, count: 512)
    _ = output.seek(0, SEEK_SET)
    let count = output.read(&head, head.count)
    guard let chunk = head[..<count].firstRange(of: Array("PEAK".utf8)) else { return }
    // Behind its name, size and version.
    _ = output.seek(chunk.lowerBound + 12, SEEK_SET)
    _ = output.write([0, 0, 0, 0], 4)
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
