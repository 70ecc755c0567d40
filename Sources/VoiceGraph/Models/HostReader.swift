// SPDX-License-Identifier: Apache-2.0
import Host

/// Follows what a host publishes for a model, on the main actor, until the model is gone or the host is closed.
final class HostReader: Sendable {
    private let task: Task<Void, Never>

    /// `take` is told everything that is wanted; false: nobody is there any more who could use it. `end` is called when the
    /// host tells nothing more.
    init(
        _ host: any GraphHost, wants: @escaping @Sendable (Published) -> Bool,
        take: @escaping @MainActor @Sendable (Published) -> Bool,
        end: @escaping @MainActor @Sendable () -> Void = {}
    ) {
        let subscription = host.subscribe(.bounded(4096), series: [], where: wants, until: { _ in false })
        task = Task { @MainActor in
            while let next = await subscription.next() {
                if !take(next) { return }
            }
            if !Task.isCancelled { end() }
        }
    }

    deinit { task.cancel() }
}
