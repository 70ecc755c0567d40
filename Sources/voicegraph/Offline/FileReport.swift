// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import NodeKit
import Terminal

/// What a command says of one file that it works on: at once where it is the only one, otherwise when its turn comes.
final class FileReport {
    private let bar: ProgressBar
    private let rate: Double
    private let batch: Batch?
    private let index: Int

    /// Of the file of that index among several, or of the only one; `rate` in Hz: of the frames that are told.
    init(rate: Double, in batch: Batch? = nil, index: Int = 0) {
        bar = ProgressBar(rate: rate)
        (self.rate, self.batch, self.index) = (rate, batch, index)
    }

    /// Does what says something of the file: now, or when its turn comes.
    func inTurn(_ action: @escaping @Sendable () -> Void) {
        if let batch { return batch.say(index, action) }
        bar.clear()
        action()
    }

    /// Lines for standard error.
    func tell(_ text: String) { inTurn { writeOut(text, to: STDERR_FILENO) } }

    /// Why the file is not done.
    func fail(_ fault: Fault) { tell("voicegraph: \(printableLines(fault.description))\n") }

    /// For standard output.
    func write(_ text: String) { inTurn { writeOut(text) } }

    /// How far it is.
    func show(_ frames: Int, of total: Int? = nil) {
        if let batch { batch.show(index, seconds: Double(frames) / rate) } else { bar.show(frames, of: total) }
    }

    /// Seconds of audio, and how many times faster than real time they came.
    func summary(_ frames: Int) -> String { bar.summary(frames) }

    /// Nothing more is shown of how far it is.
    func clear() { if batch == nil { bar.clear() } }
}
