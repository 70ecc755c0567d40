// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Runs trials side by side and shows how far they are.
struct Census {
    let uris: [String]
    /// What every child is told.
    let arguments: [String]
    let jobs: Int
    /// Seconds.
    let patience: Double

    /// Returns what came to an end: all, unless Ctrl-C was pressed.
    func run() -> [TrialResult] {
        catchInterrupts()
        setenv("QT_QPA_PLATFORM", "offscreen", 0)
        // The reason of a crash is the last line that the plugin printed, not the runtime's report.
        setenv("SWIFT_BACKTRACE", "enable=no", 1)
        signal(SIGPIPE, SIG_IGN)
        var waiting = uris.reversed() as [String]
        var running: [Child] = []
        var results: [TrialResult] = []
        let started = now()
        while !interrupted.load(ordering: .relaxed), !(waiting.isEmpty && running.isEmpty) {
            while running.count < jobs, let uri = waiting.popLast() {
                if let child = Child(uri, arguments) {
                    running.append(child)
                } else {
                    results.append(
                        TrialResult(
                            uri: uri, outcome: "refused", text: "no process: \(String(cString: strerror(errno)))"))
                }
            }
            for child in step(&running) {
                let result = child.finish()
                if result.goOn != nil, let next = Child(result.uri, arguments, after: result) {
                    running.append(next)
                    continue
                }
                results.append(result)
                if result.outcome != "ran" { show(result) }
            }
            showProgress(results, now() - started)
        }
        for child in running {
            child.stop("interrupted")
            _ = child.finish()
        }
        if isatty(2) != 0 { write("\r\u{1B}[K", to: 2) }
        return results
    }

    /// Waits a moment for news; returns the children that have ended.
    private func step(_ running: inout [Child]) -> [Child] {
        var files = running.map { pollfd(fd: $0.pipe, events: Int16(POLLIN), revents: 0) }
        guard poll(&files, nfds_t(files.count), 200) >= 0 else { return [] }
        var ended: [Child] = []
        for (file, child) in zip(files, running) {
            if file.revents != 0, !child.read() {
                ended.append(child)
            } else if now() - child.heard > patience {
                child.stop("nothing came for \(Int(patience)) s")
                ended.append(child)
            }
        }
        running.removeAll { child in ended.contains { $0 === child } }
        return ended
    }

    private func show(_ result: TrialResult) {
        if isatty(2) != 0 { write("\r\u{1B}[K", to: 2) }
        print("\(result.outcome): \(result.uri): \(result.text)", to: .output)
    }

    private func showProgress(_ results: [TrialResult], _ seconds: Double) {
        guard isatty(2) != 0 else { return }
        let ran = results.count { $0.outcome == "ran" }
        write("\r\u{1B}[K\(results.count) of \(uris.count), \(ran) ran, \(Int(seconds)) s", to: 2)
    }
}

private let interrupted = Atomic(false)

/// Ctrl-C ends the census with the table of what is done.
private func catchInterrupts() {
    for number in [SIGINT, SIGTERM] { signal(number) { _ in interrupted.store(true, ordering: .relaxed) } }
}
