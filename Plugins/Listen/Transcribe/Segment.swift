// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// An item while it grows.
struct Segment {
    let item: UInt64
    /// Where it begins, in frames of the graph.
    let start: Double
    /// Where its first sample is; before `start`, so that the first sound is whole.
    let position: Double
    /// Whether it is a text only where the engine is sure.
    let isStrict: Bool
    /// At 16 kHz.
    var samples: [Float]
    /// Samples after which nobody has spoken, as far as is known.
    var spoken: Int
    /// Samples that the recognizer has.
    var fed = 0
    /// Samples of which it was asked for a text last.
    var asked = 0
    /// Samples from which on there is another partial text.
    var nextPartial = 0
    /// The partial text that was told last.
    var partial = ""

    init(item: UInt64, start: Double, position: Double, isStrict: Bool, samples: [Float], partials: Double?) {
        self.item = item
        self.start = start
        self.position = position
        self.isStrict = isStrict
        self.samples = samples
        spoken = samples.count
        nextPartial = Int((partials ?? 0) * speechRate)
    }
}

/// Follows whether somebody speaks while an item grows whose end something else decides.
struct SpeechWatch {
    private let detector: any SpeechDetector
    private var window: [Float] = []
    /// Windows in a row without speech, and those with some since.
    private var (quiet, loud) = (0, 0)
    private var level = PauseGuess()

    /// From this probability on one window alone is speech after a pause, however soft; a breath lasts no longer.
    private static let certain: Float = 0.7

    init(_ detector: any SpeechDetector) { self.detector = detector }

    /// A new item begins.
    mutating func begin() {
        detector.reset()
        window.removeAll(keepingCapacity: true)
        (quiet, loud) = (0, 0)
        level = PauseGuess()
    }

    /// Takes what follows. Whether there is speech in it, or may be.
    mutating func take(_ samples: UnsafeBufferPointer<Float>) throws(NodeError) -> Bool {
        window += samples
        // What is not a whole window yet may hold some; but what comes after speech mostly does not.
        guard window.count >= detector.window else { return false }
        let whole = Array(window[..<detector.window])
        window.removeFirst(detector.window)
        level.take(whole)
        var result: Result<Float, NodeError> = .success(0)
        whole.withUnsafeBufferPointer { whole in
            result = Result { () throws(NodeError) in try detector.probability(whole) }
        }
        let probability = try result.get()
        guard probability >= speechMayBe else {
            quiet += 1 + loud
            loud = 0
            return false
        }
        if quiet >= 2, probability < Self.certain, loud == 0, level.length >= whole.count / 2 {
            loud = 1
            return false
        }
        (quiet, loud) = (0, 0)
        return true
    }
}

/// The probability from which on a window may hold speech: whoever takes it for silence may lose a word.
let speechMayBe: Float = 0.35

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
