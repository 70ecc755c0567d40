// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// How a recording stands: what keeps it from going on. With its monitor's lock.
struct Standing {
    /// Whether the user has paused it.
    var isPaused = false
    /// Why nothing can be heard, though audio comes; nil: something can.
    var silence: String?
    /// Why no audio comes; nil: it does, or is to.
    var stopped: String?
    /// Whether it waits to be activated.
    var isInactive = false
    /// Why what comes next does not follow on what was heard; nil: it does.
    var broken: String?
    /// When what was heard last ended, by `vg_nanoseconds`; nil: nothing was.
    private(set) var heardUntil: UInt64?
    /// What was lost of it lately.
    var losses = Losses()
    /// When what it is now began, by `vg_nanoseconds`, and what that is.
    private(set) var since: UInt64 = 0
    private(set) var told = ""
    /// Why it was told to be interrupted.
    private var toldReason: String?

    /// Why it is interrupted; nil: it is not.
    var reason: String? { isPaused ? nil : silence ?? stopped ?? (isInactive ? Self.inactive : losses.reason) }
    private static let inactive = "no audio comes"

    /// A recording begins.
    mutating func begin() {
        (isPaused, broken, heardUntil) = (false, nil, nil)
        losses = Losses()
    }

    /// The user lets it go on: what was left out meanwhile is not missing.
    mutating func proceed() {
        (isPaused, broken) = (false, reason)
        heardUntil = vg_nanoseconds()
    }

    /// Nothing is heard from now on, and why, whatever else is so.
    mutating func interrupt(_ reason: String) { broken = broken ?? reason }

    /// It waits to be activated.
    mutating func deactivate() {
        isInactive = true
        interrupt(Self.inactive)
    }

    /// Audio comes, whatever was said.
    mutating func hear(until time: UInt64) { (stopped, broken, heardUntil) = (nil, nil, time) }

    /// What is told of it now.
    mutating func tell(_ state: String) {
        if told != state { (told, since) = (state, vg_nanoseconds()) }
        toldReason = reason
    }

    /// Whether it stands otherwise than was told, or for another reason: a server that hung is gone.
    var isNews: Bool { told != state || toldReason != reason }

    /// Recording, paused by the user, or interrupted.
    var state: String { isPaused ? "paused" : reason == nil ? "recording" : "interrupted" }

    /// Seconds for which it has been interrupted; 0: it is not.
    var interrupted: Double { told == "interrupted" ? Double(vg_nanoseconds() &- since) * 1e-9 : 0 }
}

/// Frames that were lost to dropouts within the last second. Three that cost a tenth of it together interrupt the recording,
/// until a second passes without any.
struct Losses {
    private var recent: [(time: UInt64, seconds: Double)] = []
    private(set) var isRun = false

    mutating func add(_ seconds: Double) {
        recent.append((vg_nanoseconds(), seconds))
        look()
    }

    /// Forgets what is older than a second.
    mutating func look() {
        guard !recent.isEmpty else { return }
        let now = vg_nanoseconds()
        recent.removeAll { now &- $0.time > 1_000_000_000 }
        if recent.isEmpty { isRun = false }
        if recent.count >= 3, recent.reduce(0, { $0 + $1.seconds }) >= 0.1 { isRun = true }
    }

    var reason: String? { isRun ? "the audio drops out, one time after the other" : nil }
}

/// A loss that is not told yet.
struct Untold {
    var frames: Int
    /// The frame of the file.
    var at: Int
    var cause: Lost.Cause
    var reason: String
}

/// What a recording is without.
struct Lost {
    enum Cause: String {
        /// The disk was too slow.
        case disk
        /// The server, or a program, was too late.
        case dropout
        /// Nothing came, or nothing could be heard.
        case interruption
    }

    /// Frames of the audio that were lost to the disk or to dropouts.
    private(set) var frames = 0
    /// Of the time that passed, pauses left out, so much is in no file, but for silence that took its place.
    private(set) var seconds = 0.0

    mutating func add(_ count: Int, _ cause: Cause, rate: Double) {
        if cause != .interruption { frames += count }
        seconds += Double(count) / max(rate, 1)
    }
}
