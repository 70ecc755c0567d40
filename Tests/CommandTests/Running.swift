// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// A tone through a gain and a meter: it never ends by itself.
let endless = """
    [graph]
    name = "endless"
    links = ["tone -> gain -> meter -> out"]
    [node.tone]
    type = "tone"
    level_db = -6
    [node.gain]
    type = "gain"
    [node.meter]
    type = "meter"
    [node.out]
    type = "output"

    """

/// Starts the command with these arguments.
func voicegraph(_ arguments: String..., environment: [String: String] = [:]) throws -> Program {
    try Program([Program.voicegraph] + arguments, environment: environment)
}

extension Program {
    /// The JSON lines so far; one that does not parse, or has no event and time, fails the test.
    func events() throws -> [[String: Any]] {
        try lines.map { line in
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(object["event"] is String && object["time"] is Double, "\(line)")
            return object
        }
    }

    /// Waits until the run plays.
    func plays() async throws {
        try await wait("it shows levels") { $0.lines.contains { $0.contains("\"event\":\"series\"") } }
    }
}

/// Whether there is no such process any more; one that only waits to be reaped is none.
func isGone(_ process: pid_t) -> Bool {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
    return text.split(separator: ")").last?.hasPrefix(" Z") == true
}

/// The process that an isolated node lives in.
func isolatedChild(of run: Program) -> pid_t? {
    run.children().first { child in
        let line = (try? String(contentsOfFile: "/proc/\(child)/cmdline", encoding: .utf8)) ?? ""
        return line.contains("isolated-child")
    }
}
