// SPDX-License-Identifier: Apache-2.0
import Host

/// How a graph is rendered.
public struct RenderOptions: Sendable {
    /// Hz.
    public var rate = 48_000.0
    /// Frames of a block; the sound does not depend on it, but for nodes that say so.
    public var block = 1024
    /// How long; nil: until every node has played what it has and the output is quiet.
    public var seconds: Double?
    /// Without `seconds`: for how long it must be quiet at the end.
    public var tail = 2.0
    /// The `output` node that is heard; nil: the first of the graph.
    public var output: String?
    /// Beats per minute of the transport; 0: none.
    public var tempo = 0.0

    /// As the command `render` does it without a word.
    public init(
        rate: Double = 48_000, block: Int = 1024, seconds: Double? = nil, tail: Double = 2, output: String? = nil,
        tempo: Double = 0
    ) {
        (self.rate, self.block, self.seconds, self.tail, self.output, self.tempo) = (
            rate, block, seconds, tail, output, tempo
        )
    }

    fileprivate func render(path: String = "") throws(Fault) -> Render {
        guard (1000...768_000).contains(rate) else { throw Fault("rate must be from 1000 to 768000 Hz") }
        guard (1...65_536).contains(block) else { throw Fault("block must be from 1 to 65536 frames") }
        if let seconds, !(seconds > 0 && seconds < 1e7) { throw Fault("seconds must be above 0") }
        guard tail >= 0, tail <= 3600 else { throw Fault("tail must be from 0 to 3600 s") }
        return Render(
            path: path, rate: rate, block: block, end: seconds.map { .frames(Int((rate * $0).rounded())) } ?? .idle,
            output: output, tempo: tempo, tail: tail)
    }
}

/// What was rendered into memory.
public struct Rendered: Sendable, Equatable {
    /// All of it, without the latency of the graph: what goes in at frame 0 is at frame 0.
    public var sound: Sound
    /// Frames by which the graph is late.
    public var latency: Int
    /// The level at which sound that did not end was cut, in dBFS; nil: none was.
    public var cutAt: Double?
    /// Nodes that did not do what they should, with the reason.
    public var degraded: [String: String]
}

extension Graph {
    /// Plays the graph as fast as it goes, into memory: bit for bit what `voicegraph render` writes. `inputs`: sounds by the
    /// names of the `input` nodes that they feed. Of `host` the types of nodes are used, not what it plays. Throws
    /// `InvalidGraph`, `Fault`, and when its task is cancelled.
    public func render(
        _ options: RenderOptions = RenderOptions(), inputs: [String: Sound] = [:], with host: Host = Host()
    ) async throws -> Rendered {
        var sound = Sound(rate: options.rate, channels: [])
        let blocks = try await blocks(options, inputs: inputs, with: host)
        for try await block in blocks { sound.append(block) }
        return Rendered(
            sound: sound, latency: blocks.latency, cutAt: blocks.render.cutAt, degraded: blocks.degraded)
    }

    /// Plays the graph as fast as its sound is read, piece by piece.
    public func blocks(
        _ options: RenderOptions = RenderOptions(), inputs: [String: Sound] = [:], with host: Host = Host()
    ) async throws -> RenderedBlocks {
        let render = try options.render()
        let description = try checked()
        for type in types { try type.register(host) }
        return RenderedBlocks(
            render: try await Host.aside { try SoundRender(render, try host.prepare(description), inputs: inputs) })
    }

    /// Plays the graph as fast as it goes, into a file, whose suffix chooses the format. `progress` is told the frames done
    /// now and then.
    @discardableResult
    public func render(
        to path: String, _ options: RenderOptions = RenderOptions(), with host: Host = Host(),
        progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws -> Render.Outcome {
        let render = try options.render(path: path)
        var description = try checked()
        for type in types { try type.register(host) }
        try render.change(&description)
        let changed = description
        let isCancelled = Cancellation()
        let outcome = try await withTaskCancellationHandler {
            try await Host.aside {
                try render.run(try host.prepare(changed)) {
                    progress($0.frames)
                    return !isCancelled.isSet
                }
            }
        } onCancel: {
            isCancelled.set()
        }
        try Task.checkCancellation()
        return outcome
    }
}

/// A graph that is rendered as fast as it is read. Whoever reads it a second time goes on where it is.
public struct RenderedBlocks: AsyncSequence, Sendable {
    let render: SoundRender

    /// Frames by which the graph is late; they are not in the sound.
    public var latency: Int { render.latency }
    /// Nodes that did not do what they should so far, with the reason.
    public var degraded: [String: String] { render.degraded }

    /// Reads it.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let render: SoundRender
        /// The next piece, of whatever length; nil: it is over. Throws when the task was cancelled.
        public mutating func next() async throws -> Sound? {
            try Task.checkCancellation()
            let render = render
            return try await Host.aside { render.next() }
        }
    }

    /// Reads it.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(render: render) }
}
