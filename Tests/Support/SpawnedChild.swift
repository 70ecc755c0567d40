// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Realtime
import Synchronization

/// A child of the tests, in a process group of its own, with default signal handling and no descriptor but its three. Not
/// Foundation's `Process`, which in some thousands of starts reads beyond its memory once.
final class SpawnedChild: Sendable {
    /// Its id.
    let processID: pid_t
    private let result = Atomic<Int32>(.min)

    /// Starts a program by its path, or by its name in $PATH; what it prints goes to files, errors too, of its own or that of
    /// the output.
    init(
        _ arguments: [String], environment: [String: String], folder: String? = nil, output: String,
        errors: String? = nil
    ) throws {
        func open(_ path: String, _ flags: Int32) throws -> Int32 {
            let descriptor = Glibc.open(path, flags | O_CLOEXEC, 0o600)
            if descriptor < 0 { throw NeverHappened(description: "\(path) can be opened") }
            return descriptor
        }
        let input = try open("/dev/null", O_RDONLY)
        let out = try open(output, O_WRONLY | O_CREAT | O_APPEND)
        let error = try errors.map { try open($0, O_WRONLY | O_CREAT | O_APPEND) }
        defer { for descriptor in [input, out] + (error.map { [$0] } ?? []) { close(descriptor) } }
        var inherited = ProcessInfo.processInfo.environment
        // A sanitizer loaded into the tests is not meant for other programs.
        inherited["LD_PRELOAD"] = nil
        // What crashes in a test says where.
        inherited["SWIFT_BACKTRACE"] = inherited["SWIFT_BACKTRACE"] ?? "enable=yes"
        let variables = inherited.merging(environment) { $1 }.map { "\($0)=\($1)" }
        let place = folder.map { ["-C", $0] } ?? []
        var texts = (["/usr/bin/env"] + place + arguments).map { strdup($0) } + [nil]
        var named = variables.map { strdup($0) } + [nil]
        defer { for text in texts + named { free(text) } }
        let id = vg_child_start(&texts, &named, [input, out, error ?? out, -1], 0)
        guard id > 0 else {
            throw NeverHappened(description: "\(arguments) is started: \(String(cString: strerror(-id)))")
        }
        processID = id
        Thread.detachNewThread { [self] in
            var status: Int32 = 0
            while waitpid(id, &status, 0) < 0, errno == EINTR {}
            result.store(status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F), ordering: .releasing)
        }
    }

    /// Its exit code, or minus the signal that ended it; nil: it runs.
    var status: Int32? {
        let status = result.load(ordering: .acquiring)
        return status == .min ? nil : status
    }
}
