// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph

/// Threads that help an engine's audio thread, as those of a driver do.
final class Helpers {
    private let engine: Engine
    private var threads: [pthread_t] = []

    private final class Work {
        let audio: AudioEngine
        let index: Int
        init(_ audio: AudioEngine, _ index: Int) {
            self.audio = audio
            self.index = index
        }
    }

    init(_ engine: Engine, _ count: Int) {
        self.engine = engine
        if count > 0 { change(to: count) }
    }

    /// Ends or begins some.
    func change(to count: Int) {
        engine.audio.want(helpers: count)
        while threads.count > count { pthread_join(threads.removeLast(), nil) }
        while threads.count < count {
            var thread = pthread_t()
            let failed = pthread_create(
                &thread, nil,
                { @Sendable argument in
                    let work = Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue()
                    work.audio.help(work.index)
                    return nil
                }, Unmanaged.passRetained(Work(engine.audio, threads.count)).toOpaque())
            precondition(failed == 0, "no thread")
            threads.append(thread)
        }
    }

    /// Ends all.
    func end() { if !threads.isEmpty { change(to: 0) } }
}
