// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import System
import Terminal

/// What a run tells the service manager that started it, as a unit with `Type=notify` and `WatchdogSec` wants it: that
/// it plays, how it is, that it reads its graph again, that it ends, and that it turns.
final class ServiceNotice: Sendable {
    private struct State {
        var status = ""
        /// Why the graph's file was not taken when it was read last; empty: it was.
        var refused = ""
        var isStopping = false
        var hasFailed = false
    }

    private let manager: ServiceManager
    private let state = Lock(State())

    /// nil where none wants to know; that it cannot be told is said, and the run goes on. Call it before all else.
    static func make() -> ServiceNotice? {
        do throws(SystemError) { return try ServiceManager.ofEnvironment().map(ServiceNotice.init) } catch {
            writeOut("voicegraph: \(error)\n", to: STDERR_FILENO)
            return nil
        }
    }

    private init(_ manager: ServiceManager) { self.manager = manager }

    /// The graph plays: tells that, then how it is, and that it turns, until it is cancelled.
    func follow(_ host: Host, _ graph: String) async {
        await tellStatus(of: host, graph, first: true)
        var pulse = ServicePulse(
            patience: manager.patience ?? .infinity, at: monotonicSeconds(), turns: await host.rounds)
        while (try? await Task.sleep(for: .seconds(pulse.step))) != nil {
            await tellStatus(of: host, graph, first: false)
            // Asking is the proof that the host answers, and the number that its pump goes round.
            if pulse.isDue(at: monotonicSeconds(), turns: await host.rounds) { tell("WATCHDOG=1") }
        }
    }

    /// The file is about to be read again.
    func reloading() { tell("RELOADING=1", "MONOTONIC_USEC=\(UInt64(monotonicSeconds() * 1e6))") }

    /// It was read: what it says plays, or what played before and this is the reason.
    func reloaded(refused reason: String = "") {
        state.withLock { $0.refused = reason }
        tell("READY=1")
    }

    /// Nothing that comes later is told.
    func stopping() {
        tell("STOPPING=1", "STATUS=It ends.")
        state.withLock { $0.isStopping = true }
    }

    private func tellStatus(of host: Host, _ graph: String, first: Bool) async {
        guard let status = await host.status else { return }
        let news = state.withLock { state -> String? in
            let text = Self.text(status, graph, refused: state.refused)
            defer { state.status = text }
            return text == state.status ? nil : text
        }
        if first { tell("READY=1", "STATUS=\(news ?? "")") } else if let news { tell("STATUS=\(news)") }
    }

    private static func text(_ status: Status, _ graph: String, refused: String) -> String {
        var parts = [StatusLine.opening(status, graph: graph).prefix { $0 != "\n" }.description]
        if status.state == "stalled" { parts.append("the server does not call") }
        if status.state == "lost" { parts.append("the server is gone and waited for") }
        if status.state == "waiting" { parts.append("the server is waited for") }
        if !status.degraded.isEmpty {
            parts.append("not well: " + status.degraded.keys.sorted().joined(separator: ", "))
        }
        if !refused.isEmpty { parts.append("the file was not taken: \(refused)") }
        return parts.joined(separator: "; ")
    }

    private func tell(_ first: String, _ second: String? = nil) {
        guard !state.withLock(\.isStopping) else { return }
        do throws(SystemError) {
            if let second { try manager.tell(first, second) } else { try manager.tell(first) }
        } catch {
            // Once: a manager that is away is away for all that follows.
            let isFirst = state.withLock { state in
                defer { state.hasFailed = true }
                return !state.hasFailed
            }
            if isFirst { writeOut("voicegraph: \(error)\n", to: STDERR_FILENO) }
        }
    }
}
