// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import System
import Terminal

/// Shows how far a render is, on a terminal only.
final class ProgressBar {
    private let rate: Double
    private let started = monotonicSeconds()
    private let visible = isatty(STDERR_FILENO) == 1
    private var shownAt = 0.0

    init(rate: Double) { self.rate = rate }

    func show(_ progress: Render.Progress) { show(progress.frames, of: progress.total) }

    /// Frames done, and in all, if that is known.
    func show(_ frames: Int, of total: Int? = nil) {
        let now = monotonicSeconds()
        guard visible, now - shownAt > 0.1 else { return }
        shownAt = now
        var text = "\r\u{1b}[K"
        if let total {
            let share = Double(frames) / Double(max(1, total))
            let filled = Int(share * 30)
            text += "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: 30 - filled) + "] "
            text += "\(Int(share * 100)) %  "
        }
        writeOut(text + summary(frames), to: STDERR_FILENO)
    }

    func clear() { if visible, shownAt > 0 { writeOut("\r\u{1b}[K", to: STDERR_FILENO) } }

    /// Seconds of audio, and how many times faster than real time they came.
    func summary(_ frames: Int) -> String { speedText(Double(frames) / rate, in: monotonicSeconds() - started) }
}

/// Seconds of audio, and how many times faster than real time they came in so many seconds.
func speedText(_ seconds: Double, in time: Double) -> String {
    let speed = seconds / max(1e-6, time)
    return
        "\(Double(Int(seconds * 100)) / 100) s at \(speed < 10 ? Double(Int(speed * 10)) / 10 : speed.rounded(.down))x real time"
}
