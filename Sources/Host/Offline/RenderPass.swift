// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import NodeKit

/// A render that is under way: a graph that plays offline, and what of it a `record` node writes.
final class RenderPass {
    let pass: OfflinePass
    private let render: Render
    private let recorder: NodeInstance
    private let events: Subscription
    private var failure: String?
    /// What there is of the file after a failure.
    private var rest: String?

    init(_ render: Render, _ prepared: PreparedGraph) throws(Fault) {
        self.render = render
        pass = try OfflinePass(render, prepared, at: Render.recorder)
        recorder = pass.running.nodes.first { $0.name == Render.recorder }!
        events = pass.running.bus.subscribe(.lossless) {
            if case .event(let event) = $0 {
                event.node == Render.recorder && event.type?.role == .take(.whole)
            } else {
                false
            }
        }
    }

    /// Begins to record, from the frame on at which what goes in first comes out.
    func begin() throws(NodeError) {
        // What may still be cut: the rest of a whole block; where the sources end it, one that notices late that it has ended
        // is waited for.
        let tail = Int(saturating: ((render.tail + 10) * render.rate).rounded())
        let hold =
            render.end == .idle
            ? min(tail, (128 << 20) / (4 * recorder.ports.count)) : pass.hasWholeBlocks ? render.block : 0
        _ = try recorder.performAndWait(
            "start", ["skip": .integer(Int64(pass.latency)), "hold": .integer(Int64(hold))], patience: 86_400)
    }

    /// Plays until the end, or until `progress` says so.
    func play(_ progress: (Render.Progress) -> Bool) {
        while failure == nil {
            pass.play()
            readEvents()
            if !progress(Render.Progress(frames: pass.played, total: pass.total)) { return }
            if pass.isOver() { return }
        }
    }

    private func readEvents() {
        while case .event(let event)? = events.poll() {
            guard let reason = event.text("reason") else { continue }
            failure = reason
            rest = event.text("place")
        }
    }

    /// Removes what there is of a file that cannot be completed: a render can be had again.
    func removeRest() {
        var facts = stat()
        guard let rest, lstat(rest, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return }
        unlink(rest)
    }

    /// Completes the file.
    func finish() throws(NodeError) -> Render.Outcome {
        if let failure { throw NodeError(failure) }
        let arguments = pass.length.map { ["frames": SettingValue.integer(Int64($0))] } ?? [:]
        let take: [String: SettingValue]
        do { take = try recorder.performAndWait("finish", arguments, patience: 86_400) } catch {
            // The disk may have refused the last of it, which says more.
            pass.running.pump()
            readEvents()
            throw failure.map { NodeError($0) } ?? error
        }
        pass.running.stop()
        func number(_ name: String) -> Double? { if case .number(let value)? = take[name] { value } else { nil } }
        func integer(_ name: String) -> Int { if case .integer(let value)? = take[name] { Int(value) } else { 0 } }
        return Render.Outcome(
            frames: integer("frames"), latency: pass.latency, cutAt: pass.cutAt, clipped: integer("clipped"),
            peak: number("peak"), truePeak: number("true_peak"), loudness: number("loudness"))
    }
}
