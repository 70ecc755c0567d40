// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Runs `producer` on a thread of its own beside `consumer`, until both end.
public func together(_ producer: @escaping @Sendable () -> Void, _ consumer: () -> Void) {
    final class Work: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(producer)).toOpaque()
    let failed = pthread_create(
        &thread, nil,
        { @Sendable argument in
            Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().run()
            return nil
        }, work)
    precondition(failed == 0, "no thread")
    consumer()
    pthread_join(thread, nil)
}
