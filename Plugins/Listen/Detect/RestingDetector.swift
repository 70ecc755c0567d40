// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A detector that is not asked while a room sounds as it did when there was no speech last: a network that looks at a quiet
/// room takes more of a processor than all else that waits for somebody to speak. When it sounds otherwise, the detector is
/// given the windows before that, too, so that it knows the room.
final class RestingDetector: SpeechDetector {
    private let detector: any SpeechDetector
    /// All that is heard, and what of it changes fast: hum and rumble are loud in the first, hiss in the second.
    private var bands = [Background(), Background()]
    /// Windows until it rests, unless something is heard.
    private var patience = RestingDetector.patience
    /// The last windows of a rest, one after the other.
    private var before: [Float] = []

    /// Windows that are judged behind the last that may be speech: a second.
    private static let patience = 32
    /// Windows from before that the detector is given: a quarter of a second.
    private static let warmUp = 8
    /// From this probability on a window may be speech.
    private static let doubt: Float = 0.1

    init(_ detector: any SpeechDetector) { self.detector = detector }

    var window: Int { detector.window }
    var name: String { detector.name }

    func probability(_ window: UnsafeBufferPointer<Float>) throws(NodeError) -> Float {
        let powers = Self.powers(window)
        let isUsual = zip(bands, powers).allSatisfy { $0.covers($1) }
        if patience == 0, isUsual {
            learn(powers)
            if before.count >= Self.warmUp * window.count { before.removeFirst(window.count) }
            before += window
            return 0
        }
        if patience == 0 { try wake() }
        let probability = try detector.probability(window)
        if probability < Self.doubt { learn(powers) }
        patience = probability >= Self.doubt || !isUsual ? Self.patience : patience - 1
        return probability
    }

    func reset() {
        detector.reset()
        bands = [Background(), Background()]
        patience = Self.patience
        before.removeAll(keepingCapacity: true)
    }

    private func learn(_ powers: [Float]) {
        for (band, power) in powers.enumerated() where power.isFinite { bands[band].learn(power) }
    }

    /// Something is heard: the detector begins anew, with what was before.
    private func wake() throws(NodeError) {
        let size = detector.window
        for start in stride(from: 0, to: before.count, by: size) {
            let part = Array(before[start..<start + size])
            var fault: NodeError?
            part.withUnsafeBufferPointer { samples in
                do throws(NodeError) { _ = try detector.probability(samples) } catch { fault = error }
            }
            if let fault { throw fault }
        }
        before.removeAll(keepingCapacity: true)
    }

    /// Mean squares of the samples, and of the differences between them.
    private static func powers(_ window: UnsafeBufferPointer<Float>) -> [Float] {
        var (all, fast, last): (Float, Float, Float) = (0, 0, window.first ?? 0)
        for sample in window {
            let change = sample - 0.9 * last
            all += sample * sample
            fast += change * change
            last = sample
        }
        return [all, fast].map { $0 / Float(max(1, window.count)) }
    }
}

/// How loud it is while nobody speaks, and how much that varies.
private struct Background {
    private var mean: Float = 0
    /// Mean distance from it.
    private var spread: Float = 0
    private var count: Float = 0

    /// Below this is nothing: -95 dBFS.
    private static let nothing: Float = 3e-10
    /// Windows that count.
    private static let memory: Float = 64

    mutating func learn(_ power: Float) {
        count = min(count + 1, Self.memory)
        spread += (abs(power - mean) - spread) / count
        mean += (power - mean) / count
    }

    /// Whether a window is as loud as others are. What is no number is not.
    func covers(_ power: Float) -> Bool { power <= max(mean + max(5 * spread, 0.2 * mean), Self.nothing) }
}
