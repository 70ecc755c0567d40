// SPDX-License-Identifier: Apache-2.0

/// Guesses by loudness alone whether a speaker pauses: for what may be done ahead, and must not be wrong if he does not.
struct PauseGuess {
    /// Samples since anything was loud.
    private(set) var length = 0
    private var window: [Float] = []
    /// The mean square of the loudest windows, less the longer they are over.
    private var loudest: Float = 0

    /// 10 ms.
    private static let window = 160
    /// A window is quiet 26 dB below the loudest, which counts half after two seconds.
    private static let ratio: Float = 1 / 400
    private static let kept: Float = 0.9965

    /// Takes what follows, mono at 16 kHz.
    mutating func take(_ samples: [Float]) {
        window += samples
        var start = 0
        while window.count - start >= Self.window {
            let square = window[start..<start + Self.window].reduce(0) { $0 + $1 * $1 } / Float(Self.window)
            loudest = max(loudest * Self.kept, square)
            length = square < loudest * Self.ratio ? length + Self.window : 0
            start += Self.window
        }
        window.removeFirst(start)
    }
}
