// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// How a child came to its end.
struct ExitCause: Sendable, Equatable {
    /// Why the host ended it; nil: it ended by itself.
    enum Verdict: Sendable, Equatable {
        case hangs(in: String, seconds: Double)
        case nonsense
        case mute
    }

    /// "signal", "exit", "hang", "nan" or "memory", for programs.
    var cause: String
    /// "SIGSEGV", or empty.
    var signal: String
    /// "crashed in process (SIGSEGV)"
    var text: String

    /// Reads what the kernel says of a child's end. `place` is the call that it was in.
    init(status: Int32, memory: UInt64, limit: UInt64, place: String, verdict: Verdict?) {
        let number = status & 0x7f
        signal = number == 0 ? "" : signalName(number)
        let during = place.isEmpty ? "" : " in \(place)"
        switch verdict {
        case .hangs(let call, let seconds):
            (cause, signal) = ("hang", "")
            text = "hung in \(call): no answer within \(duration(seconds))"
        case .nonsense:
            (cause, signal) = ("nan", "")
            text = "gave audio that is no number (NaN or infinity)"
        case .mute:
            (cause, signal) = ("hang", "")
            text = "stopped answering"
        case nil where number == SIGXCPU:
            cause = "hang"
            text = "hung\(during): computed without a pause at realtime priority (\(signal))"
        case nil where number != 0:
            cause = "signal"
            text = "crashed\(during) (\(signal))"
        case nil:
            cause = "exit"
            text = "ended its process\(during) (exit code \((status >> 8) & 0xff))"
        }
        if verdict == nil, limit > 0, memory > limit / 2 {
            cause = "memory"
            text += ", with \(memory >> 20) MiB of the \(limit >> 20) MiB that it may have in use"
        }
    }
}

/// For people.
func duration(_ seconds: Double) -> String {
    seconds < 1 ? "\(Int(seconds * 1000)) ms" : seconds == seconds.rounded(.down) ? "\(Int(seconds)) s" : "\(seconds) s"
}
