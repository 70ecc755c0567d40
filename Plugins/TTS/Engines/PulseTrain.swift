// SPDX-License-Identifier: GPL-3.0-or-later
import Glibc

/// What vocal folds give: at each moment all harmonics of a pitch with one amplitude, none above 11 kHz. Their sum has a closed
/// form, Dirichlet's kernel: cos x + ... + cos nx = sin((n + 1/2) x) / (2 sin(x / 2)) - 1/2.
struct PulseTrain {
    /// Hz of each frame, 0 where there is no voice.
    private let pitch: [Float]
    private let hop: Int
    private let rate: Double
    /// In turns.
    private var phase = 0.0
    /// All samples so far.
    private(set) var samples: [Float] = []

    /// Below it there is no voice, in Hz, and above it no harmonic.
    private static let lowest: Float = 40
    private static let highest: Float = 11_000

    init(pitch: [Float], hop: Int, rate: Double) {
        self.pitch = pitch
        self.hop = hop
        self.rate = rate
        samples.reserveCapacity(pitch.count * hop)
    }

    /// How many samples there will be.
    var count: Int { pitch.count * hop }

    /// Makes samples until there are so many, or all.
    mutating func make(until end: Int) {
        let end = min(end, count)
        while samples.count < end {
            let frame = samples.count / hop
            let (before, own) = (pitch[max(frame - 1, 0)], pitch[frame])
            let after = pitch[min(frame + 1, pitch.count - 1)]
            for sample in 0..<hop {
                // Each frame's pitch is that of its middle; between two it changes evenly.
                let place = (Float(sample) + 0.5) / Float(hop) - 0.5
                let hertz = place < 0 ? before * -place + own * (1 + place) : own * (1 - place) + after * place
                samples.append(next(hertz))
            }
        }
    }

    private mutating func next(_ hertz: Float) -> Float {
        let isVoiced = hertz > Self.lowest
        let hertz = max(hertz, Self.lowest)
        phase += Double(hertz) / rate
        phase -= phase.rounded(.down)
        if !isVoiced { return 0 }
        let angle = Float(phase * 2 * .pi)
        let harmonics = (Self.highest / hertz).rounded(.down) + 0.5
        let below = 2 * sinf(angle / 2)
        return (abs(below) <= 2e-3 ? harmonics : sinf(harmonics * angle) / below) - 0.5
    }
}
