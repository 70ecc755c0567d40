// SPDX-License-Identifier: Apache-2.0
import System

/// A caption: lines of text, and from when to when they are shown. Times are in milliseconds.
package struct Cue: Equatable {
    /// A part of a line.
    package struct Part: Equatable {
        var text: String
        /// When it is said; nil: not known.
        var time: Int?
    }

    package var start, end: Int
    /// One or two. Where a line ends, the text has a blank.
    package var lines: [[Part]]

    /// What a line of television holds; letters of full width count two.
    package static let lineColumns = 42
    /// What two lines hold.
    package static let columns = 84
    /// How long a caption stays, in seconds.
    package static let longest = 7.0
    /// How long one stays at least that another one pushes on, in milliseconds.
    package static let shortest = 1000

    /// Milliseconds of seconds.
    package static func milliseconds(_ seconds: Double) -> Int { max(0, Int(saturating: (seconds * 1000).rounded())) }
}

/// Puts captions in a row: each has a length, and begins when the one before it has ended.
struct CueTrack {
    private var waiting: Cue?

    /// Takes the next one, and returns the one before it, whose end is known now.
    package mutating func add(_ cue: Cue) -> Cue? {
        var cue = cue
        cue.end = max(cue.end, cue.start + 1)
        defer { waiting = cue }
        guard var last = waiting else { return nil }
        let start = max(cue.start, last.start + min(Cue.shortest, last.end - last.start))
        last.end = min(last.end, start)
        cue.end = max(cue.end, start + min(Cue.shortest, cue.end - cue.start))
        cue.start = start
        return last
    }

    /// The last one.
    package mutating func end() -> Cue? {
        defer { waiting = nil }
        return waiting
    }
}
