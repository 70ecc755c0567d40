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
/// order in which they were given: of the first that is not done at once, of those behind it when it is done.
final class Batch: Sendable {
    private struct State {
        var begun = 0
        /// Files that are done, with all before them: the one of this index has its turn.
        var told = 0
        /// What waits for the turn of a file.
        var waiting: [Int: [@Sendable () -> Void]] = [:]
        /// Files that are done, but not all before them.
        var done: Set<Int> = []
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
                end(index, make(index, FileReport(rate: rate, in: self, index: index)))
            }
        }
        var threads: [SystemThread] = []
        for _ in 1..<max(1, min(atOnce ?? Threads.automatic.limit, count)) {
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

    /// Does what says something of a file, now or when its turn comes; one at a time.
    func say(_ index: Int, _ action: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard index == state.told else { return state.waiting[index, default: []].append(action) }
            state.clear()
            action()
        }
    }

    private func end(_ index: Int, _ isWell: Bool) {
        state.withLock { state in
            state.done.insert(index)
            if !isWell { state.failed += 1 }
            while state.done.remove(state.told) != nil {
                state.told += 1
                state.clear()
                for action in state.waiting.removeValue(forKey: state.told) ?? [] { action() }
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
            writeOut("\r\u{1b}[K" + text(state.told + state.done.count, state), to: STDERR_FILENO)
        }
    }

    private func text(_ done: Int, _ state: State) -> String {
        let seconds = state.seconds.values.reduce(0, +)
        return "\(done) of \(count) files, \(speedText(seconds, in: monotonicSeconds() - started))"
    }
}
