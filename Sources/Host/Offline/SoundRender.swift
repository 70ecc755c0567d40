// SPDX-License-Identifier: Apache-2.0
import Drivers
import Graph
import GraphFile
import NodeKit

/// A graph played as fast as it goes, into memory, piece by piece: bit for bit what `Render` writes to a file.
public final class SoundRender: @unchecked Sendable {
    // Sendable: one thread at a time calls it.
    private let pass: OfflinePass
    private let rate: Double
    private let outputs: [UnsafeMutableBufferPointer<Float>]
    private let feeds: [(buffer: UnsafeMutableBufferPointer<Float>, samples: [Float])]
    /// What was heard and not given yet, by channel; how many frames there are, and were given.
    private var pending: [[Float]]
    private var waiting = 0
    private var given = 0
    private var isDone = false

    /// Begins. Of `render` counts what is not about files; `inputs`: sounds by the names of the `input` nodes that they feed, as
    /// long as they last, at the rate of the render. A mono sound goes to all channels of its node. Throws where one does not
    /// fit, and where it would never end.
    public init(_ render: Render, _ prepared: PreparedGraph, inputs: [String: Sound] = [:]) throws(Fault) {
        let output = try render.source(in: prepared.description).name
        for (name, sound) in inputs { try Self.check(name, sound, render, prepared.description) }
        if inputs.isEmpty { try render.checkEnd(prepared) }
        let pass = try OfflinePass(render, prepared, at: output)
        func buffers(of node: String) -> [UnsafeMutableBufferPointer<Float>] {
            let count = pass.running.nodes.first { $0.name == node }?.ports.count ?? 0
            return (0..<count).compactMap { pass.driver.buffer(of: "\(node)_\($0 + 1)") }
        }
        self.pass = pass
        rate = render.rate
        outputs = buffers(of: output)
        pending = Array(repeating: [], count: outputs.count)
        var feeds: [(UnsafeMutableBufferPointer<Float>, [Float])] = []
        var fault: Fault?
        for (name, sound) in inputs.sorted(by: { $0.key < $1.key }) {
            let channels = buffers(of: name)
            if sound.channels.count == 1 {
                feeds += channels.map { ($0, sound.channels[0]) }
            } else if sound.channels.count == channels.count {
                feeds += zip(channels, sound.channels)
            } else {
                fault = Fault(
                    "the sound for '\(name)' has \(sound.channels.count) channels, the node \(channels.count)",
                    hint: "give as many, or one for all of them")
            }
            pass.inputEnd = max(pass.inputEnd, sound.frames)
        }
        self.feeds = feeds
        if let fault {
            end()
            throw fault
        }
    }

    deinit { end() }

    private static func check(
        _ name: String, _ sound: Sound, _ render: Render, _ graph: GraphDescription
    ) throws(Fault) {
        guard graph.nodes.contains(where: { $0.name == name && $0.type == StandardType.input }) else {
            throw render.missing(StandardType.input, name, "", in: graph)
        }
        guard sound.rate == render.rate else {
            throw Fault(
                "the sound for '\(name)' has \(sound.rate) Hz, the render \(render.rate)",
                hint: "render at the rate of the sound, or resample it")
        }
        guard !sound.channels.isEmpty, sound.channels.allSatisfy({ $0.count == sound.frames }) else {
            throw Fault(
                "the channels of the sound for '\(name)' are not of one length", hint: "fill them up with zeros")
        }
    }

    /// The next piece of the sound, of whatever length; nil: it is over. Frame 0 is that at which what goes in first comes out.
    public func next() -> Sound? {
        while !isDone {
            let start = pass.position
            var done = 0
            pass.play { length in
                feed(at: start + done, length)
            } after: { length in
                take(at: start + done, length)
                done += length
            }
            isDone = pass.isOver()
            let known = isDone ? pass.length ?? given + waiting : pass.total ?? pass.heardFrames
            let count = max(0, min(waiting, known - given))
            if isDone { end() }
            if count > 0 { return cut(count) }
        }
        return nil
    }

    /// Nodes that do not do what they should, with the reason.
    public var degraded: [String: String] { pass.running.reports.degraded }

    /// Frames by which the graph is late; they are not in the sound.
    public var latency: Int { pass.latency }

    /// The level at which sound that did not end was cut, in dBFS; nil: none was.
    public var cutAt: Double? { pass.cutAt }

    private func feed(at start: Int, _ length: Int) {
        for (buffer, samples) in feeds {
            let count = max(0, min(length, samples.count - start))
            for frame in 0..<count { buffer[frame] = samples[start + frame] }
            for frame in count..<length { buffer[frame] = 0 }
        }
    }

    private func take(at start: Int, _ length: Int) {
        let first = max(0, min(length, pass.latency - start))
        for (channel, buffer) in outputs.enumerated() { pending[channel] += buffer[first..<length] }
        waiting += length - first
    }

    private func cut(_ count: Int) -> Sound {
        defer {
            given += count
            waiting -= count
            for channel in pending.indices { pending[channel].removeFirst(count) }
        }
        return Sound(rate: rate, channels: pending.map { Array($0[..<count]) })
    }

    private func end() {
        pass.running.stop()
        pass.running.bus.finish()
    }
}

extension Host {
    /// Does something that takes long on a thread that may be blocked. [any]
    package static func aside<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            ControlThreads.shared.submit { continuation.resume(with: Swift.Result(catching: body)) }
        }
    }

    /// Checks and builds a graph that is rendered, with the node types of this host, and beside what it plays.
    package nonisolated func prepare(_ description: GraphDescription) throws -> PreparedGraph {
        let (prepared, diagnostics) = try PreparedGraph.make(description, registry: registry)
        guard let prepared else { throw InvalidGraph(diagnostics: diagnostics) }
        return prepared
    }
}
