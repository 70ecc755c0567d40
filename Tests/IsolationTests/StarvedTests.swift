// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import System
import TestSupport

@testable import Isolation

/// A child that has nothing to run on.
@Suite(.serialized, .timeLimit(.minutes(10))) struct StarvedTests {
    /// SCHED_IDLE, which Glibc does not export.
    private static let idle: Int32 = 5

    /// The number of the first processor that this process may use.
    private func firstProcessor() throws -> String {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") })
        return String(try #require(line.split(whereSeparator: { !$0.isNumber }).first))
    }

    @Test("A node whose process waits for a processor is bypassed meanwhile, and not ended")
    func starved() throws {
        let policy = testPolicy {
            $0.blockShare = 1
            $0.saveInterval = 600
        }
        let run = try IsolatedRun(unrulyGraph(), policy: policy)
        func isHeard() -> Bool { !run.lastBlock.isEmpty && run.lastBlock.allSatisfy { $0 == 0.5 } }
        try run.play("all is well", until: isHeard)
        let process = try #require(run.children.first?.process)
        let tasks = "/proc/\(process)/task"
        let thread = try #require(
            FileManager.default.contentsOfDirectory(atPath: tasks).first { task in
                (try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8)) == "vg-isolated\n"
            }.flatMap { pid_t($0) })
        // It may use one processor, of which others want more than there is, and only while they do not.
        let processor = try firstProcessor()
        let busy = try (0..<4).map { _ in
            try ChildLauncher(["/usr/bin/taskset", "-c", processor, "/bin/sh", "-c", "while :; do :; done"]).start()
        }
        defer {
            for process in busy {
                kill(process.process, SIGKILL)
                _ = process.wait()
            }
        }
        try TestSupport.run("taskset", ["-cp", processor, "\(thread)"])
        var heardAt = monotonicSeconds()
        try run.play("it waits for four times as long as a hang takes") {
            // Again, since its supervisor schedules it once its first state is kept, which may be after that.
            var nothing = sched_param()
            if sched_getscheduler(thread) != Self.idle { sched_setscheduler(thread, Self.idle, &nothing) }
            if isHeard() { heardAt = monotonicSeconds() }
            return monotonicSeconds() - heardAt > 4 * policy.hangTime
        }
        for process in busy { kill(process.process, SIGSTOP) }
        try run.play("it is heard again", until: isHeard)
        #expect(run.all("plugin.failed").isEmpty && run.children.first?.process == process)
    }
}
