// SPDX-License-Identifier: Apache-2.0
import Graph
import System

/// Threads that help an engine's audio thread, as those of a driver do.
final class Helpers {
    private let engine: Engine
    private var threads: [SystemThread] = []

    init(_ engine: Engine, _ count: Int) {
        self.engine = engine
        if count > 0 { change(to: count) }
    }

    /// Ends or begins some.
    func change(to count: Int) {
        engine.audio.want(helpers: count)
        while threads.count > count { threads.removeLast().join() }
        while threads.count < count {
            let (audio, index) = (engine.audio, threads.count)
            guard let thread = try? SystemThread(name: "vgt-helper", { audio.help(index) }) else {
                preconditionFailure("no thread")
            }
            threads.append(thread)
        }
    }

    /// Ends all.
    func end() { if !threads.isEmpty { change(to: 0) } }
}
