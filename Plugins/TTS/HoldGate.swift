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

    init(after: Int, release: Int) {
        self.after = after
        self.release = release
    }

    /// Whether a block of so many frames, in which the control is up or not, is held. [audio]
    @_noLocks
    mutating func take(_ isUp: Bool, frames: Int) -> Bool {
        if isUp {
            up = min(up, after) + frames
            if up > after { rest = release + 1 }
        } else {
            up = 0
            rest = max(0, rest - frames)
        }
        return rest > 0
    }
}
