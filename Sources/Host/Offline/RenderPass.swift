// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import Graph
import NodeKit

/// A render that is under way: how far it is, and when it is over.
///
/// A source says when what it plays has ended, with an event that declares that (`EventType.end`), at the frame after its
/// last. The file ends there, or with the last frame that is not quiet, if that is later: both do not depend on the block.
final class RenderPass {
    let running: RunningGraph
    private let render: Render
    private let driver: OfflineDriver
    private let recorder: NodeInstance
    private let events: Subscription
    private let heard: [UnsafeMutableBufferPointer<Float>]
    /// Of what the recorder is given.
    private let latency: Int
    /// Whether the last block is as long as all others, as on a server.
    private let hasWholeBlocks: Bool

    /// Frames played.
    private var position = 0
    /// The frame after the last that was not quiet, and that at which the sources have ended, at the outputs.
    private var soundEnd = 0
    private var sourceEnd = 0
    /// Since when no node has anything left to play.
    private var idleSince: Int?
    private var blockPeak: Float = 0
    private var cutAt: Double?
    private var failure: String?
    /// What there is of the file after a failure.
    private var rest: String?

    init(_ render: Render, _ running: RunningGraph, _ driver: OfflineDriver) {
        self.render = render
        self.running = running
        self.driver = driver
        recorder = running.nodes.first { $0.name == Render.recorder }!
        hasWholeBlocks = running.nodes.contains { render.wholeBlockTypes.contains($0.typeName) }
        latency = running.engine.schedule?.arrival(at: Render.recorder) ?? 0
        events = running.bus.subscribe(.lossless) {
            if case .event(let event) = $0 {
                event.node == Render.recorder ? event.type?.role == .take(.whole) : event.type?.end != nil
            } else {
                false
            }
        }
        heard = running.nodes.filter { $0.typeName == StandardType.output }.flatMap { node in
            (1...max(1, node.ports.count)).compactMap { driver.buffer(of: "\(node.name)_\($0)") }
        }
    }

    private func frames(_ seconds: Double) -> Int { Int(saturating: (seconds * render.rate).rounded()) }

    /// Begins to record, from the frame on at which what goes in first comes out.
    func begin() throws(NodeError) {
        // What may still be cut: the rest of a whole block; where the sources end it, one that notices late that it has ended
        // is waited for.
        let hold =
            render.end == .idle
            ? min(frames(render.tail + 10), (128 << 20) / (4 * recorder.ports.count))
            : hasWholeBlocks ? render.block : 0
        _ = try recorder.performAndWait(
            "start", ["skip": .integer(Int64(latency)), "hold": .integer(Int64(hold))], patience: 86_400)
    }

    /// Plays until the end, or until `progress` says so.
    func play(_ progress: (Render.Progress) -> Bool) {
        var total: Int?
        if case .frames(let all) = render.end { total = all }
        while failure == nil {
            // Short blocks are played several at a time between two turns of the control side.
            let end = total.map { $0 + latency } ?? .max
            for _ in 0..<max(1, Render.together / render.block) where position < end {
                playBlock(hasWholeBlocks ? render.block : min(render.block, end - position))
            }
            running.pump()
            readEvents()
            let played = max(0, position - latency)
            if !progress(Render.Progress(frames: min(played, total ?? played), total: total)) { return }
            if total.map({ played >= $0 }) ?? isOver() { return }
        }
    }

    private func playBlock(_ length: Int) {
        running.wait(frames: length)
        driver.process(frames: length)
        if render.end == .idle {
            blockPeak = 0
            for buffer in heard {
                for frame in (0..<length).reversed() where !(abs(buffer[frame]) < Render.quiet) {
                    soundEnd = max(soundEnd, position + frame + 1)
                    break
                }
                for frame in 0..<length { blockPeak = max(blockPeak, abs(buffer[frame])) }
            }
        }
        position += length
    }

    private func readEvents() {
        while case .event(let event)? = events.poll() {
            if event.node != Render.recorder {
                let late = event.type?.end == .heard ? 0 : latency
                sourceEnd = max(sourceEnd, Int((event.time * render.rate).rounded()) + late)
            } else if let reason = event.text("reason") {
                failure = reason
                rest = event.text("place")
            }
        }
    }

    private func isOver() -> Bool {
        guard running.isIdle else {
            idleSince = nil
            return false
        }
        let idle = idleSince ?? position
        idleSince = idle
        if position - max(idle, soundEnd, sourceEnd) >= frames(render.tail) { return true }
        guard position - idle >= frames(Render.longestTail) else { return false }
        cutAt = 20 * Double(log10(max(blockPeak, Render.quiet)))
        return true
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
        var arguments: [String: SettingValue] = [:]
        if case .frames(let all) = render.end {
            arguments["frames"] = .integer(Int64(all))
        } else if idleSince != nil, cutAt == nil {
            arguments["frames"] = .integer(Int64(max(0, max(soundEnd, sourceEnd) - latency)))
        }
        let take: [String: SettingValue]
        do { take = try recorder.performAndWait("finish", arguments, patience: 86_400) } catch {
            // The disk may have refused the last of it, which says more.
            running.pump()
            readEvents()
            throw failure.map { NodeError($0) } ?? error
        }
        running.stop()
        func number(_ name: String) -> Double? { if case .number(let value)? = take[name] { value } else { nil } }
        func integer(_ name: String) -> Int { if case .integer(let value)? = take[name] { Int(value) } else { 0 } }
        return Render.Outcome(
            frames: integer("frames"), latency: latency, cutAt: cutAt, clipped: integer("clipped"),
            peak: number("peak"), truePeak: number("true_peak"), loudness: number("loudness"))
    }
}
