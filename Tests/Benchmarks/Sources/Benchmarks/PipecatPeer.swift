// SPDX-License-Identifier: Apache-2.0
import Glibc
import JSON

/// A pipeline of pipecat with the same models, in a Python of its own that VOICEGRAPH_PIPECAT names.
struct PipecatPeer {
    private let python: String
    private let model: String

    /// Nil: there is none, or the model is not installed.
    init?(_ effort: Effort) throws {
        guard let python = getenv("VOICEGRAPH_PIPECAT").map({ String(cString: $0) }) else { return nil }
        let asked = try Child([effort.command, "models", "path", "moonshine-base-en"])
        guard asked.waitForEnd(seconds: 10) == 0 else { return nil }
        asked.stop()
        guard let model = asked.allLines.first?.text else { return nil }
        (self.python, self.model) = (python, model)
    }

    /// Milliseconds from the end of what a recording says to the text of a finished turn; nil: there was none.
    func textOfTurn(_ recording: Recording, length: Double) throws -> Double? {
        let child = try Child([python, "Tests/Benchmarks/Peers/pipecat_reply.py", model, recording.path])
        defer { child.stop() }
        guard child.waitForEnd(seconds: length + 60) == 0 else { return nil }
        child.stop()
        return child.allLines.compactMap { try? JSON($0.text.utf8) }.first { $0["path"] != nil }?["text"]?.double
    }
}
