// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import Picture

/// What `voicegraph record` shows on one line: whether it records, how much, how loud, and where to. It knows no clock: it
/// is drawn ten times a second.
public struct RecordingLine: Sendable {
    private var state = "idle"
    private var seconds = 0.0
    private var file = ""
    /// In dBFS: the peak, which falls slowly, and whether it was beyond full scale.
    private var level = -Double.infinity
    private var isClipped = false
    private let unicode: Bool
    private let color: Bool

    /// The quietest level that the bar shows, in dBFS, and how far the level falls from one drawing to the next.
    private static let (floor, fall) = (-60.0, 2.0)

    /// Nothing seen yet; `color`: with escape sequences.
    public init(unicode: Bool, color: Bool) {
        self.unicode = unicode
        self.color = color
    }

    /// Takes levels.
    public mutating func update(_ frame: SeriesFrame) {
        for peak in frame.peak {
            level = max(level, decibels(peak))
            if peak > 1 { isClipped = true }
        }
    }

    /// Takes an event with which the recorder tells how it stands.
    public mutating func update(_ event: Event) {
        state = event.text("state") ?? state
        if case .number(let number)? = event.fields["seconds"] { seconds = number }
        if let path = event.text("path"), !path.isEmpty {
            file = printable(path.split(separator: "/").last.map(String.init) ?? path)
        }
    }

    /// Takes how much is recorded, in seconds.
    public mutating func update(seconds: Double) { self.seconds = seconds }

    /// The line, at most so many columns wide, and a step of the level's fall.
    public mutating func line(width: Int) -> String {
        let sign = unicode ? (state == "recording" ? "●" : "‖") : (state == "recording" ? "*" : "=")
        let head = "\(sign) \(clock(seconds))"
        let word = state == "recording" ? "" : "  \(state)"
        let shown = "\(decibelText(level, unicode: unicode)) dBFS\(isClipped ? " clipped" : "")"
        let keys = "  space: \(state == "paused" ? "go on" : "pause"), q: finish"
        let rest = width - head.count - word.count - shown.count - 6
        var bar = ""
        let cells = min(40, rest)
        if cells >= 8 {
            let share = level > Self.floor ? min(1, (level - Self.floor) / -Self.floor) : 0
            let filled = Int((share * Double(cells)).rounded())
            let (full, empty) = unicode ? ("█", "░") : ("#", "-")
            let body = String(repeating: full, count: filled) + String(repeating: empty, count: cells - filled)
            bar = "  [" + paint(body, level > -1 ? 31 : level > -12 ? 33 : 32) + "]"
        }
        level = max(level - Self.fall, -200)
        if level <= -200 { level = -.infinity }
        var tail = "  \(file)\(keys)"
        if rest - cells < tail.count { tail = keys }
        if rest - cells < tail.count { tail = "" }
        return paint(sign, state == "recording" ? 31 : 33) + head.dropFirst() + word + bar + "  \(shown)" + tail
    }

    private func paint(_ text: String, _ code: Int) -> String { color ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
