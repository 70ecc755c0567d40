// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Graph
import GraphFile
import System
import Terminal

/// How many files are worked on at a time.
struct BatchOptions: ParsableArguments {
    @Option(
        name: [.customShort("j", allowingJoined: true), .long],
        help: ArgumentHelp(
            "How many of several files are worked on at a time; otherwise as many as there are processors.",
            valueName: "count"))
    var jobs: Int?

    func validate() throws {
        if let jobs, !(1...1024).contains(jobs) { throw ValidationError("--jobs must be from 1 to 1024") }
    }
}

/// Several files of one call. As many are worked on at a time as there are processors; what is said of them comes in the
/// order in which they were given, of each as soon as all before it are done.
final class Batch: Sendable {
    private struct State {
        var begun = 0
        /// What is said of files that are done and wait for one before them.
        var waiting: [Int: (output: String, errors: String)] = [:]
        var told = 0
        var failed = 0
        /// Seconds of audio done, of each file.
        var seconds: [Int: Double] = [:]
        var shownAt = 0.0
        var isShown = false

        mutating func clear() {
            if isShown { writeOut("\r\u{1b}[K", to: STDERR_FILENO) }
            isShown = false
        }
    }

    private let count: Int
    private let rate: Double
    private let started = monotonicSeconds()
    private let isVisible = isatty(STDERR_FILENO) == 1
    private let state = Lock(State())

    /// Of so many files; `rate` in Hz: of the frames that are told of them.
    init(count: Int, rate: Double) { (self.count, self.rate) = (count, rate) }

    /// Works on each, on threads of their own, until all are done or `goesOn` says no; `make` tells whether all is well with
    /// the file of that index. Returns how many were not. `atOnce` nil: as many as there are processors.
    func run(
        atOnce: Int?, while goesOn: @escaping @Sendable () -> Bool,
        _ make: @escaping @Sendable (Int, FileReport) -> Bool
    ) throws(SystemError) -> Int {
        let work: @Sendable () -> Void = { [self] in
            while goesOn(), let index = next() {
                let report = FileReport(rate: rate, in: self, index: index)
                let isWell = make(index, report)
                end(index, report.output, report.errors, isWell)
            }
        }
        var threads: [SystemThread] = []
        for _ in 1..<max(2, min(atOnce ?? Threads.automatic.limit, count)) {
            threads.append(try SystemThread(name: "vg-file", work))
        }
        work()
        for thread in threads { thread.join() }
        return state.withLock { state in
            state.clear()
            return state.failed
        }
    }

    /// Files that are done and well, of how many, how long they play, and how many times faster than real time that came.
    var summary: String { state.withLock { text($0.told - $0.failed, $0) } }

    private func next() -> Int? {
        state.withLock { state in
            guard state.begun < count else { return nil }
            state.begun += 1
            return state.begun - 1
        }
    }

    private func end(_ index: Int, _ output: String, _ errors: String, _ isWell: Bool) {
        state.withLock { state in
            state.waiting[index] = (output, errors)
            if !isWell { state.failed += 1 }
            while let next = state.waiting.removeValue(forKey: state.told) {
                state.told += 1
                state.clear()
                writeOut(next.errors, to: STDERR_FILENO)
                writeOut(next.output)
            }
        }
    }

    /// How far a file is.
    func show(_ index: Int, seconds: Double) {
        state.withLock { state in
            state.seconds[index] = seconds
            let now = monotonicSeconds()
            guard isVisible, now - state.shownAt > 0.1 else { return }
            (state.shownAt, state.isShown) = (now, true)
            writeOut("\r\u{1b}[K" + text(state.told + state.waiting.count, state), to: STDERR_FILENO)
        }
    }

    private func text(_ done: Int, _ state: State) -> String {
        let seconds = state.seconds.values.reduce(0, +)
        return "\(done) of \(count) files, \(speedText(seconds, in: monotonicSeconds() - started))"
    }
}
