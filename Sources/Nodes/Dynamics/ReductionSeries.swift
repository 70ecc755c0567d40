// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What one 60th of a second showed.
struct ReductionRecord: BitwiseCopyable {
    /// Of the first frame after it.
    var position: UInt64
    var largest: Float
    /// Records that nobody took in time, since the start.
    var dropped: UInt32
}

/// Keeps the largest value of every 60th of a second, on the audio thread.
struct ReductionMeter: BitwiseCopyable {
    fileprivate var interval: Int
    fileprivate var writer: RingWriter<ReductionRecord>
    private var count = 0
    private var largest: Float = 0
    private var dropped: UInt32 = 0

    fileprivate init(interval: Int, writer: RingWriter<ReductionRecord>) {
        self.interval = interval
        self.writer = writer
    }

    /// Takes the value of one frame; `next`: the position of the frame after it. [audio]
    @_noLocks @inline(__always)
    mutating func feed(_ value: Double, next: UInt64) {
        if Float(value) > largest { largest = Float(value) }
        count &+= 1
        if count >= interval { emit(next) }
    }

    /// Takes the values of a part of a block. [audio]
    @_noLocks
    mutating func feed(_ values: AudioArray<Double>, _ part: Range<Int>, of block: borrowing Block) {
        if count &+ part.count < interval { return take(maximum(values, part.count), part.count) }
        for frame in part { feed(values[frame - part.lowerBound], next: block.position &+ UInt64(frame) &+ 1) }
    }

    /// Takes the same value for all frames of a part. [audio]
    @_noLocks
    mutating func feed(_ value: Double, _ part: Range<Int>, of block: borrowing Block) {
        if count &+ part.count < interval { return take(value, part.count) }
        for frame in part { feed(value, next: block.position &+ UInt64(frame) &+ 1) }
    }

    /// The same for a whole block. [audio]
    @_noLocks
    mutating func feed(_ value: Double, block: borrowing Block) { feed(value, 0..<block.frames, of: block) }

    /// Frames that no interval ends with. [audio]
    @_noLocks @inline(__always)
    private mutating func take(_ most: Double, _ frames: Int) {
        if Float(most) > largest { largest = Float(most) }
        count &+= frames
    }

    @_noLocks
    private mutating func emit(_ position: UInt64) {
        let record = ReductionRecord(position: position, largest: largest, dropped: dropped)
        if !writer.push(record) { dropped &+= 1 }
        count = 0
        largest = 0
    }
}

/// The largest of the first values, or 0. Four at once, so that none waits for the one before. [audio]
@_noLocks
private func maximum(_ values: AudioArray<Double>, _ count: Int) -> Double {
    var most = SIMD4<Double>()
    var index = 0
    while index &+ 4 <= count {
        let four = SIMD4(values[index], values[index &+ 1], values[index &+ 2], values[index &+ 3])
        most.replace(with: four, where: four .> most)
        index &+= 4
    }
    while index < count {
        most.x = max(most.x, values[index])
        index &+= 1
    }
    return max(max(most.x, most.y), max(most.z, most.w))
}

/// The control half of a `ReductionMeter`: publishes the series "gain_reduction". [control]
final class ReductionPublisher {
    /// How what is fed becomes decibels.
    enum Scale { case decibels, oneMinusGain }

    private let host: NodeHost
    private let scale: Scale
    private var ring: Ring<ReductionRecord>?
    private var dropped: UInt32 = 0

    init(host: NodeHost, scale: Scale) {
        self.host = host
        self.scale = scale
    }

    /// A meter at its start; the one made before must not run any more.
    func meter(rate: Double) -> ReductionMeter {
        let ring = Ring<ReductionRecord>(minimumCapacity: 64)
        self.ring = ring
        dropped = 0
        return ReductionMeter(interval: max(1, Int(rate / 60 + 0.5)), writer: ring.writer)
    }

    /// Publishes what was measured since the last time.
    func poll() {
        while let record = ring?.reader.pop() {
            let value =
                switch scale {
                case .decibels: record.largest
                case .oneMinusGain: 0 - 20 * vg_log10(max(1 - record.largest, 1e-6))
                }
            host.publish([[value]], at: record.position)
            if record.dropped > dropped { host.count("dropped_levels", Int(record.dropped - dropped)) }
            dropped = record.dropped
        }
    }
}

extension [Series] {
    /// What `ReductionPublisher` publishes.
    static let gainReduction = [
        Series(
            "gain_reduction", "the most that was taken away in each 60th of a second", unit: "dB", rate: 60, width: 1)
    ]
}
