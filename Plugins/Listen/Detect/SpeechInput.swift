// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Resampling

/// What a processor hears, for a control half that listens: mono at 16 kHz, with its place in the graph's time.
final class SpeechInput {
    /// Samples at 16 kHz, all of them in one piece of time.
    struct Piece {
        var samples: [Float]
        /// Of the first sample, in frames of the graph.
        var position: Double
        /// Whether it does not follow the piece before it: that was lost, or this is the first.
        var isNew: Bool
    }

    /// For the processor.
    let pipe: CapturePipe
    /// Frames of the graph that a sample at 16 kHz takes.
    let step: Double
    private let rate: Double
    private let isOffline: Bool
    private var resampler: Resampler
    /// Where the next frame has to be to follow.
    private var expected: UInt64?
    /// Of the next sample that comes out of the resampler.
    private var position = 0.0

    /// Holds so many seconds until somebody listens. [control]
    init(_ preparation: Preparation, seconds: Double) throws(NodeError) {
        rate = preparation.rate
        step = preparation.rate / speechRate
        isOffline = preparation.offline
        pipe = CapturePipe(
            channels: 1, frames: Int(seconds * preparation.rate), maxBlock: preparation.maxBlock)
        resampler = try Resampler(from: rate, to: speechRate, channels: 1, quality: isOffline ? .offline : .prompt)
    }

    /// What was heard since the last call, a piece at a time; nil: nothing. By one thread at a time. [control]
    func next() throws(NodeError) -> Piece? {
        guard let audio = pipe.take() else { return nil }
        let isNew = expected != audio.position
        if isNew {
            resampler.reset()
            position = Double(audio.position)
        }
        expected = audio.position + UInt64(audio.frames)
        let heard = UnsafeBufferPointer(start: audio.samples, count: audio.frames)
        // What is no number would stay in the resampler for ever.
        let isWell = heard.allSatisfy { $0.isFinite }
        let samples =
            isWell
            ? resampler.process(heard, end: false)
            : heard.map { $0.isFinite ? $0 : 0 }.withUnsafeBufferPointer { resampler.process($0, end: false) }
        defer { position += Double(samples.count) * step }
        return Piece(samples: samples, position: position, isNew: isNew)
    }

    /// The end of what was heard, which the resampler holds back until more comes; nil: there is none. What is heard
    /// after it does not follow it. By one thread at a time. [control]
    func rest() -> Piece? {
        guard expected != nil else { return nil }
        expected = nil
        let samples = resampler.process(UnsafeBufferPointer(start: nil, count: 0), end: true)
        resampler.reset()
        return samples.isEmpty ? nil : Piece(samples: samples, position: position, isNew: false)
    }
}

/// Cuts a stream into windows of equal length.
struct Windows {
    let length: Int
    /// Frames of the graph that a sample takes.
    let step: Double
    private var samples: [Float] = []
    private var position = 0.0

    init(length: Int, step: Double) {
        self.length = length
        self.step = step
    }

    /// Samples that the next window waits for.
    var missing: Int { max(0, length - samples.count) }

    /// Takes a piece, and gives every window that is whole, with the position at which it begins.
    mutating func take<E: Error>(
        _ piece: SpeechInput.Piece, _ body: (UnsafeBufferPointer<Float>, Double) throws(E) -> Void
    ) throws(E) {
        if piece.isNew { samples.removeAll(keepingCapacity: true) }
        if samples.isEmpty { position = piece.position }
        samples += piece.samples
        var start = 0
        defer {
            samples.removeFirst(start)
            position += Double(start) * step
        }
        while samples.count - start >= length {
            let window = Array(samples[start..<start + length])
            let place = position + Double(start) * step
            start += length
            var problem: E?
            window.withUnsafeBufferPointer { window in
                do throws(E) { try body(window, place) } catch { problem = error }
            }
            if let problem { throw problem }
        }
    }
}
