// SPDX-License-Identifier: Apache-2.0

/// One 60th of a second of audio, measured.
public struct LevelRecord: Sendable, Equatable {
    /// The first frame after what was measured, in the time given to `feed`.
    public var position: UInt64
    /// Largest absolute sample per channel, linear; NaN if a sample was.
    public var peak: [Float]
    /// Root mean square per channel, linear; NaN if a sample was.
    public var rms: [Float]
    /// What the needle of each channel showed at most, linear, 1 for a sine of full scale; empty: there is none.
    public var needle: [Float] = []
    /// 0...1, of the newest complete window of 1024 frames; always a number.
    public var orb: Float
    /// Records lost since the start because nobody took them in time.
    public var dropped: Int
}

/// The control half of a meter: owns its memory and takes out what it measured.
///
///     let levels = LevelQueue(channels: 2, rate: 48_000)
///     var meter = levels.meter                                        // into the processor
///     meter.feed(io.pointee.audio_in, count: 2, frames: 128, position: 0)   // [audio]
///     while let record = levels.next() { show(record) }               // [control]
public final class LevelQueue: @unchecked Sendable {
    // Sendable: the ring's ends meet in its atomics; the rest of the memory is the audio thread's alone.

    /// The audio thread's part, at its start. It must not be used after this queue is gone.
    public let meter: LevelMeter

    private let ring: Ring<UInt32>
    private let memory: LevelMemory
    private var words: [UInt32]

    /// Makes a meter of `channels` (1...`LevelMeter.maxChannels`; other values are clamped) for `rate` in Hz, with room
    /// for at least `records` records: 60 are a second. With a needle each channel has one. `range`: of the orb's scale, in dB.
    /// [control]
    public init(channels: Int, rate: Double, records: Int = 64, needle: Needle.Kind? = nil, range: Float = 50) {
        let channels = max(1, min(channels, LevelMeter.maxChannels))
        let interval = rate > 60 && rate < 1e9 ? Int(rate / 60 + 0.5) : 1
        let size = LevelMemory.recordSize(channels: channels, hasNeedle: needle != nil)
        ring = Ring(minimumCapacity: max(1, records) * size)
        memory = LevelMemory(channels: channels)
        words = Array(repeating: 0, count: size)
        meter = LevelMeter(
            channels: channels, interval: interval, needle: needle.map { Needle($0, rate: rate) }, range: range,
            writer: ring.writer, memory: memory)
    }

    deinit { memory.free() }

    /// Takes the oldest record; nil when there is none. [control]
    public func next() -> LevelRecord? {
        let channels = meter.channels
        // A record is written in one go, so there is all of it or nothing.
        guard ring.reader.read(into: &words, count: words.count) == words.count else { return nil }
        let peaks = words[LevelMemory.header...].prefix(channels)
        let rms = words[(LevelMemory.header + channels)...].prefix(channels)
        let needle = words[(LevelMemory.header + 2 * channels)...].prefix(channels)
        return LevelRecord(
            position: UInt64(words[0]) | UInt64(words[1]) << 32,
            peak: peaks.map(Float.init(bitPattern:)), rms: rms.map(Float.init(bitPattern:)),
            needle: needle.map(Float.init(bitPattern:)), orb: Float(bitPattern: words[2]), dropped: Int(words[3]))
    }
}
