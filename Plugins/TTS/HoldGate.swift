// SPDX-License-Identifier: GPL-3.0-or-later

/// When a control holds the voice: from a while after it rose to a while after it fell.
struct HoldGate: BitwiseCopyable {
    /// Frames that it must be up.
    let after: Int
    /// Frames that it holds on after it fell.
    let release: Int
    /// Frames since it rose.
    private var up = 0
    /// Frames that it will still hold.
    private var rest = 0
    /// How often speech was stopped, as the last block saw it.
    private var stops = 0

    init(after: Int, release: Int) {
        self.after = after
        self.release = release
    }

    /// Whether a block of so many frames, in which the control is up or not, is held. Only what is being heard waits for its
    /// release: a text that comes after a stop, or when nothing was heard, begins as soon as the control is down. [audio]
    @_noLocks
    mutating func take(_ isUp: Bool, frames: Int, isSpeaking: Bool, stops: Int) -> Bool {
        if isUp {
            up = min(up, after) + frames
            if up > after { rest = isSpeaking ? release + 1 : 1 }
        } else {
            up = 0
            rest = stops == self.stops ? max(0, rest - frames) : 0
        }
        self.stops = stops
        return rest > 0
    }
}
