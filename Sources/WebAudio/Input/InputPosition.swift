// SPDX-License-Identifier: Apache-2.0

/// Follows the positions of what a client sends, modulo 2^32, and says what is missing.
struct InputPosition {
    /// What to do with the frames of one message.
    enum Verdict: Equatable {
        /// They follow what was before.
        case follows
        /// So many are missing before them, few enough to be silence.
        case missing(Int)
        /// So many of the first were there already.
        case repeated(Int)
        /// They begin anew, after so many that are lost; 0: after nothing that could be told.
        case begins(lost: Int)
    }

    /// Longer gaps are a pause of the client, not a loss to be filled.
    private let longestGap: Int
    /// Longer jumps say nothing of what was lost.
    private let longestLoss: Int
    private var next: UInt32?
    /// Frames since the first, with those that are missing.
    private(set) var total = 0

    /// For `rate` in Hz.
    init(rate: Double) {
        longestGap = Int(rate / 5)
        longestLoss = Int(rate * 60)
    }

    /// Takes the position of `frames` frames.
    mutating func take(_ position: UInt32, frames: Int) -> Verdict {
        let step = next.map { Int(Int32(bitPattern: position &- $0)) } ?? 0
        let isFirst = next == nil
        if step < 0, step >= -longestGap {
            let repeated = min(-step, frames)
            // What was there already does not move the end back.
            if repeated < frames { next = position &+ UInt32(truncatingIfNeeded: frames) }
            total += frames - repeated
            return repeated > 0 ? .repeated(repeated) : .follows
        }
        let jump = step < 0 || step > longestGap
        next = position &+ UInt32(truncatingIfNeeded: frames)
        total += frames + (jump ? 0 : step)
        if isFirst { return .begins(lost: 0) }
        if jump { return .begins(lost: step > 0 && step <= longestLoss ? step : 0) }
        return step > 0 ? .missing(step) : .follows
    }
}
