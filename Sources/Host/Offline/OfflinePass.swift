// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import Graph
import GraphFile
import NodeKit

/// A graph that plays offline: how far it is, and when it is over.
///
/// A source says when what it plays has ended, with an event that declares that (`EventType.end`), at the frame after its
/// last. It is over there, or with the last frame that is not quiet, if that is later: both do not depend on the block.
final class OfflinePass {
    let running: RunningGraph
    let driver: OfflineDriver
    /// Frames by which what comes to the chosen node is later than what goes in.
    let latency: Int
    /// Whether the last block is as long as all others, as on a server.
    let hasWholeBlocks: Bool
    /// Frames that are wanted; nil: until it is over by itself.
    let total: Int?

    /// Frames played.
    private(set) var position = 0
    /// The level at which sound that did not end was cut, in dBFS; nil: none was.
    private(set) var cutAt: Double?
    /// The frame after the last that the caller gives, at the inputs.
    var inputEnd = 0

    private let render: Render
    private let events: Subscription
    private let heard: [UnsafeMutableBufferPointer<Float>]
    /// The frame after the last that was not quiet, and that at which the sources have ended, at the outputs.
    private var soundEnd = 0
    private var sourceEnd = 0
    /// Since when no node has anything left to play.
    private var idleSince: Int?
    private var blockPeak: Float = 0

    /// Begins to play; what comes to `node` is what counts.
    init(_ render: Render, _ prepared: PreparedGraph, at node: String) throws(Fault) {
        self.render = render
        driver = OfflineDriver(rate: render.rate, maxBlock: render.block, tempo: render.tempo)
        running = try RunningGraph.start(prepared, on: driver)
        if case .frames(let all) = render.end { total = all } else { total = nil }
        hasWholeBlocks = running.nodes.contains { render.wholeBlockTypes.contains($0.typeName) }
        latency = running.engine.schedule?.arrival(at: node) ?? 0
        events = running.bus.subscribe(.lossless) {
            if case .event(let event) = $0 { event.node != node && event.type?.end != nil } else { false }
        }
        heard = OfflinePass.outputs(of: running, driver)
    }

    /// What the graph's outputs are given in a block.
    private static func outputs(
        of running: RunningGraph, _ driver: OfflineDriver
    ) -> [UnsafeMutableBufferPointer<Float>] {
        running.nodes.filter { $0.typeName == StandardType.output }.flatMap { node in
            (1...max(1, node.ports.count)).compactMap { driver.buffer(of: "\(node.name)_\($0)") }
        }
    }

    private func frames(_ seconds: Double) -> Int { Int(saturating: (seconds * render.rate).rounded()) }

    /// Frames played of those that are wanted.
    var played: Int { min(max(0, position - latency), total ?? .max) }

    /// Plays a block or several, with what is to be done around each, and lets the nodes do what waits.
    func play(before: (Int) -> Void = { _ in }, after: (Int) -> Void = { _ in }) {
        // Short blocks are played several at a time between two turns of the control side.
        let end = total.map { $0 + latency } ?? .max
        let blocks = max(1, min(Render.together.frames / render.block, Render.together.blocks))
        for _ in 0..<blocks where position < end {
            let length = hasWholeBlocks ? render.block : min(render.block, end - position)
            before(length)
            playBlock(length)
            after(length)
            position += length
        }
        running.pump()
        while case .event(let event)? = events.poll() {
            let late = event.type?.end == .heard ? 0 : latency
            sourceEnd = max(sourceEnd, Int((event.time * render.rate).rounded()) + late)
        }
        if inputEnd > 0, position >= inputEnd { sourceEnd = max(sourceEnd, inputEnd + latency) }
    }

    private func playBlock(_ length: Int) {
        running.wait(frames: length)
        driver.process(frames: length)
        guard render.end == .idle else { return }
        blockPeak = 0
        for buffer in heard {
            for frame in (0..<length).reversed() where !(abs(buffer[frame]) < Render.quiet) {
                soundEnd = max(soundEnd, position + frame + 1)
                break
            }
            for frame in 0..<length { blockPeak = max(blockPeak, abs(buffer[frame])) }
        }
    }

    /// Whether all that is wanted was played. To be asked once after each `play`.
    func isOver() -> Bool {
        if let total { return played >= total }
        guard running.isIdle, position >= inputEnd else {
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

    /// Frames, of those that are wanted, after which nothing was heard so far.
    var heardFrames: Int { max(0, max(soundEnd, sourceEnd) - latency) }

    /// Frames that there are when it is over; nil: all that were played.
    var length: Int? { total ?? (idleSince != nil && cutAt == nil ? heardFrames : nil) }
}

extension Render {
    /// Refuses a graph that would never be over.
    func checkEnd(_ prepared: PreparedGraph) throws(Fault) {
        guard end == .idle, prepared.graph.nodes.allSatisfy({ $0.instance.askIdle() }) else { return }
        let input = prepared.description.nodes.first { $0.type == StandardType.input }
        let feed = input.map { ", or --input \($0.name)=FILE" } ?? ""
        throw Fault("nothing in this graph ends by itself", hint: "give --duration SECONDS" + feed)
    }
}
