// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// An item while it grows.
struct Segment {
    let item: UInt64
    /// Where it begins, in frames of the graph.
    let start: Double
    /// Where its first sample is; before `start`, so that the first sound is whole.
    let position: Double
    /// At 16 kHz.
    var samples: [Float]
    /// Samples that the recognizer has.
    var fed = 0
    /// Samples from which on there is another partial text.
    var nextPartial = 0
    /// The partial text that was told last.
    var partial = ""
}

/// The newest samples of a stream, for what began before anybody knew.
struct History {
    private var samples: [Float] = []
    private var position = 0.0
    private let length: Int
    private let step: Double

    /// Keeps so many samples, each of which takes `step` frames of the graph.
    init(length: Int, step: Double) {
        self.length = length
        self.step = step
    }

    /// Takes what follows, the first sample of which is at a position.
    mutating func append(_ new: UnsafeBufferPointer<Float>, at position: Double) {
        if samples.isEmpty { self.position = position }
        samples += new
        // Now and then, so that each sample is moved once.
        if samples.count > 2 * length {
            let old = samples.count - length
            samples.removeFirst(old)
            self.position += Double(old) * step
        }
    }

    /// What comes does not follow.
    mutating func forget() { samples.removeAll(keepingCapacity: true) }

    /// The samples from a position on, and where the first of them is.
    func samples(from wanted: Double) -> (samples: [Float], position: Double) {
        let first = max(0, min(samples.count, Int(((wanted - position) / step).rounded())))
        return (Array(samples[first...]), position + Double(first) * step)
    }
}

/// The middle of the quietest 100 ms among the samples of a range, looked at every 10 ms: where words are cut least.
func quietestPlace(_ samples: [Float], in range: Range<Int>) -> Int {
    let (window, hop) = (1600, 160)
    var best = (energy: Float.infinity, place: range.upperBound)
    for first in stride(from: range.lowerBound, through: range.upperBound - window, by: hop) {
        let energy = samples[first..<first + window].reduce(0) { $0 + $1 * $1 }
        if energy < best.energy { best = (energy, first + window / 2) }
    }
    return best.place
}
