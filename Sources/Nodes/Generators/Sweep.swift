// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// A sweep that is even in octaves (the exponential sine sweep of Farina, AES 108, 2000): the frequency at the time t
/// is start * (end / start)^(t / T), and the phase is its integral in closed form, so that no error adds up.
struct SweepLaw: BitwiseCopyable {
    /// Hz.
    private let start: Double
    /// The natural logarithm of what the frequency is multiplied by in a frame.
    private let growth: Double
    /// Hz.
    private let rate: Double

    /// `start` and `end` in Hz, above 0. [control]
    init(start: Double, end: Double, seconds: Double, rate: Double) {
        self.start = start
        self.rate = rate
        growth = log(end / start) / (seconds * rate)
    }

    /// The cycles since the beginning of the sweep, and the frequency in Hz, at a frame of it. [audio]
    @_noLocks
    func at(_ frame: UInt64) -> (cycles: Double, frequency: Double) {
        let frames = Double(frame)
        let x = growth * frames
        let factor = vg_exp64(x)
        // (e^x - 1) / x, by its series where the difference would lose digits.
        let mean =
            x > -0.01 && x < 0.01
            ? 1 + x * (1 / 2.0 + x * (1 / 6.0 + x * (1 / 24.0 + x * (1 / 120.0 + x / 720)))) : (factor - 1) / x
        return (start * frames / rate * mean, start * factor)
    }

    /// What a sweep of `length` frames is multiplied by so that it ends in silence: the half of a raised cosine in its
    /// last 5 ms, or its last quarter if that is shorter. [audio]
    @_noLocks
    func fade(_ frame: UInt64, of length: UInt64) -> Double {
        let left = Double(length - frame)
        let span = min(0.005 * rate, Double(length) / 4)
        return left >= span ? 1 : 0.5 - 0.5 * vg_cos64(.pi * left / span)
    }
}

/// Silences what is beyond half the sample rate, where it would be heard as another frequency, and says so once. A
/// signal that comes there or back is faded by a raised cosine in 5 ms.
struct NyquistGate: BitwiseCopyable {
    /// Frames of a fade.
    private let span: Double
    /// How far it is open, in frames of `span`; negative: nothing has been heard yet.
    private var open = -1.0
    /// Whether the log has it.
    private var isTold = false

    /// [control]
    init(_ preparation: Preparation) {
        span = max(1, (0.005 * preparation.rate).rounded())
    }

    /// What the next sample is multiplied by. [audio]
    @_noLocks @inline(__always)
    mutating func next(_ frequency: Double, _ block: borrowing Block, _ frame: Int) -> Double {
        if open == span, frequency <= 0.5 * block.rate { return 1 }
        return move(frequency, block, frame)
    }

    @_noLocks
    private mutating func move(_ frequency: Double, _ block: borrowing Block, _ frame: Int) -> Double {
        let isBeyond = frequency > 0.5 * block.rate
        if isBeyond, !isTold {
            block.log("a frequency beyond half the sample rate is silent (Hz)", frequency, frame: frame)
            isTold = true
        }
        if open < 0 { open = isBeyond ? 0 : span }
        let level = open >= span ? 1 : open <= 0 ? 0 : 0.5 - 0.5 * vg_cos64(.pi * open / span)
        open = isBeyond ? max(0, open - 1) : min(span, open + 1)
        return level
    }
}

/// Cycles per frame, at most half of one; 0 for what is no frequency. [audio]
@_noLocks
func cyclesPerFrame(_ frequency: Double, _ rate: Double) -> Double {
    frequency > 0 ? min(frequency / rate, 0.5) : 0
}
