// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import Realtime
import System

/// The threads of a driver that help its audio thread. They sleep as long as nobody calls.
final class HelperThreads: @unchecked Sendable {
    // Sendable: `lock` guards everything.

    /// A thread that has begun; `join` waits for its end and is called once.
    struct Thread {
        var join: () -> Void
    }

    private let lock = Monitor()
    private var wanted = 0
    private var engine: AudioEngine?
    private var make: ((Int, AudioEngine) -> Thread?)?
    private var threads: [Thread] = []

    deinit { end() }

    /// There shall be so many, as soon as there is an engine. [control]
    func want(_ count: Int) {
        lock.locked {
            wanted = count
            adjust()
        }
    }

    /// Begins to help `engine`. `make` starts thread `index`, which calls `help(index)`; nil: it could not. [control]
    func begin(_ engine: AudioEngine, _ make: @escaping (_ index: Int, _ engine: AudioEngine) -> Thread?) {
        lock.locked {
            self.engine = engine
            self.make = make
            adjust()
        }
    }

    /// Ends all threads and waits for them; `begin` makes new ones. [control]
    func end() {
        lock.locked {
            make = nil
            adjust()
        }
    }

    private func adjust() {
        guard let engine else { return }
        let count = make == nil ? 0 : wanted
        if count != threads.count { engine.want(helpers: count) }
        while threads.count > count { threads.removeLast().join() }
        while threads.count < count, let thread = make?(threads.count, engine) { threads.append(thread) }
        // What could not be made is done by the others.
        if threads.count < count { engine.want(helpers: threads.count) }
    }

    /// The start of an ordinary thread that helps; nil: there is no room for one. `prepare` runs on it first. [control]
    static func plain(_ index: Int, _ engine: AudioEngine, _ prepare: @escaping @Sendable () -> Void = {}) -> Thread? {
        let thread = try? SystemThread(name: name(index)) {
            prepare()
            engine.help(index)
        }
        return thread.map { Thread(join: $0.join) }
    }

    /// "vg-helper-1"
    static func name(_ index: Int) -> String { "vg-helper-\(index + 1)" }
}
