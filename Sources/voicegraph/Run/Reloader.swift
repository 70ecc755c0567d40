// SPDX-License-Identifier: Apache-2.0
import Config
import Control
import Dispatch
import Glibc
import GraphFile
import Host
import System

/// Reads the graph again on SIGHUP and, with `--watch`, when a file of it has changed. A faulty file changes nothing.
final class Reloader: Sendable {
    private let requests: AsyncStream<Void>.Continuation
    private let work: Task<Void, Never>
    private let following: Task<Void, Never>?
    // Kept for as long as it is to be heard.
    private let hangup: Hangup

    /// `read` is the file that plays, and when it was read. `failed` gets what is wrong with a file, and `service` is
    /// told when one is read. A SIGHUP because the terminal is gone sets `ended`. Call this before the terminal is taken.
    init(
        _ host: Host, read: (path: String, time: Double), watching: Bool, ended: EndFlag, service: ServiceNotice?,
        failed: @escaping @Sendable ([Diagnostic]) -> Void
    ) throws(Fault) {
        let (stream, requests) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.requests = requests
        // When what plays was read: a file that changed since, and was not watched yet, is news.
        let readAt = Lock<Double?>(nil)
        work = Task {
            for await _ in stream {
                readAt.withLock { $0 = FileWatch.now }
                service?.reloading()
                do {
                    try await host.reload()
                    service?.reloaded()
                } catch let error as InvalidGraph {
                    failed(error.diagnostics)
                    let fault = error.diagnostics.first { $0.severity == .error }
                    service?.reloaded(refused: fault?.message ?? "it has mistakes")
                } catch {
                    // The host has published it.
                    service?.reloaded(refused: "\(error)")
                }
            }
        }
        hangup = Hangup(ended) { requests.yield() }
        guard watching else {
            following = nil
            return
        }
        let watch = try FileWatch { requests.yield() }
        // Whoever reloaded: from then on the files are perhaps others.
        let changes = host.subscribe(.latest) {
            if case .event(let event) = $0 {
                event.name == "graph.changed" || event.name == "reload.failed"
            } else {
                false
            }
        }
        watch.watch(ConfigFile.files(of: read.path), since: read.time)
        following = Task {
            while await changes.next() != nil {
                let since = readAt.withLock { $0.take() } ?? .infinity
                if let path = await host.path { watch.watch(ConfigFile.files(of: path), since: since) }
            }
        }
    }

    /// After this nothing is read any more.
    func stop() {
        requests.finish()
        following?.cancel()
        work.cancel()
    }
}

/// SIGHUP.
private final class Hangup: @unchecked Sendable {
    // Sendable: kept, and touched only at the start.
    private let source: any DispatchSourceSignal

    init(_ ended: EndFlag, _ reload: @escaping @Sendable () -> Void) {
        func hasTerminal() -> Bool { isatty(STDIN_FILENO) == 1 || isatty(STDOUT_FILENO) == 1 }
        let had = hasTerminal()
        signal(SIGHUP, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
        source.setEventHandler {
            // A terminal that was closed says so with the same signal.
            if had, isatty(STDIN_FILENO) != 1, isatty(STDOUT_FILENO) != 1 { ended.set() } else { reload() }
        }
        source.resume()
    }
}
