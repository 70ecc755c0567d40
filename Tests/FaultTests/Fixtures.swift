// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// Whether all of these programs are in $PATH.
func isInstalled(_ programs: String...) -> Bool {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return programs.allSatisfy { program in
        (folders + ["/usr/sbin", "/sbin"]).contains { access("\($0)/\(program)", X_OK) == 0 }
    }
}

/// Whether this user may do what root may.
let isRoot = geteuid() == 0

/// What was played is in what was heard, every sample of it, one after the other.
func expectSame(
    _ played: [Float], _ heard: [Float], sourceLocation: Testing.SourceLocation = #_sourceLocation
) throws {
    let first = try #require(played.firstIndex { $0 != 0 })
    let start = try #require(heard.firstIndex { $0 != 0 }, "nothing came", sourceLocation: sourceLocation) - first
    let wrong = played.indices.first { start + $0 >= heard.count || heard[start + $0] != played[$0] }
    #expect(
        wrong == nil, "of \(played.count) frames this one is another; \(heard.count) came",
        sourceLocation: sourceLocation)
}

/// A thread of a process by what the kernel counts of it.
struct ThreadCounts {
    var thread: Int
    var seconds: Double
    var switches: Int

    /// All threads of a process.
    static func all(of process: pid_t) -> [ThreadCounts] {
        let folder = "/proc/\(process)/task"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { name in
            guard let thread = Int(name),
                let times = try? String(contentsOfFile: "\(folder)/\(name)/schedstat", encoding: .utf8),
                let status = try? String(contentsOfFile: "\(folder)/\(name)/status", encoding: .utf8),
                let ran = times.split(separator: " ").first.flatMap({ Double($0) })
            else { return nil }
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            let switches = line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0
            return ThreadCounts(thread: thread, seconds: ran * 1e-9, switches: switches)
        }
    }

    /// The processor time of the thread that waited most often meanwhile: of a JACK client, that of its audio.
    static func busiest(_ before: [ThreadCounts], _ after: [ThreadCounts]) -> Double {
        let differences = after.compactMap { now in
            before.first { $0.thread == now.thread }.map { (now.switches - $0.switches, now.seconds - $0.seconds) }
        }
        return differences.max { $0.0 < $1.0 }?.1 ?? 0
    }
}
