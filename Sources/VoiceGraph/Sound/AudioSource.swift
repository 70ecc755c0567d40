// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit
import System

/// Sound that this program makes, as a node of a graph. What is written is played once, in order and without a gap, at the
/// graph's own rate and clock; where nothing is there, it is silent.
///
///     let synth = AudioSource("synth", channels: 2)
///     try await host.load(Graph { synth => Output("out") })
///     try await host.run()
///     try await synth.write([left, right])       // waits while enough waits to be played
public final class AudioSource: GraphPart, Sendable {
    /// Of the node.
    public let channels: Int
    /// Seconds of sound that wait at most.
    public let buffer: Double
    private let placed: PlacedNode
    private let number: Int
    private let state = Lock(State())

    private struct State {
        /// Nil: its graph does not run.
        var pipe: PlaybackPipe?
        var isEnded = false
        /// Whether its graph has ended.
        var hasStopped = false
        var isWriting = false
        /// Frames from the node until it is heard.
        var behind: (@Sendable () -> Int)?
        /// Who waits for room.
        var waiter: CheckedContinuation<Void, Never>?

        var hasRoom: Bool { (pipe?.space ?? 0) > 0 }
    }

    /// Describes a source of `channels` channels that holds `buffer` seconds, which it is late by while they are full. Room is
    /// looked for 60 to 120 times a second: less than 0.05 s has gaps where what is written is longer. Nothing is heard of
    /// it until a graph has it.
    public init(
        _ name: String? = nil, channels: Int = 1, buffer: Double = 0.1, file: String = #fileID, line: UInt = #line,
        column: UInt = #column
    ) {
        self.channels = max(1, min(channels, 64))
        self.buffer = max(0.005, min(buffer, 60))
        number = Self.all.next()
        placed = PlacedNode(
            name, type: ProgramSource.descriptor.name,
            [
                (ProgramSource.number.setting.key, .integer(Int64(number))),
                (ProgramSource.channels.setting.key, .integer(Int64(self.channels))),
            ], file: file, line: line, column: column)
        Self.all.keep(self, number)
    }

    deinit { Self.all.forget(number) }

    /// The node alone.
    public var chain: Chain {
        let end = Chain.End(node: placed.identity, port: nil)
        var placed = placed
        placed.type = ProgramType(ProgramSource.self, keeping: self)
        return Chain(nodes: [placed], first: end, last: end)
    }

    /// Plays samples, one list for each channel, all of one length. Returns when the last of them has found room; before the
    /// graph runs it waits for that. Throws `Fault` after `end` and once the graph has stopped, and `CancellationError`, after
    /// which an unknown part of the samples is played. One call at a time.
    public func write(_ samples: [[Float]]) async throws {
        guard samples.count == channels, samples.allSatisfy({ $0.count == samples[0].count }) else {
            throw Fault(
                "a source of \(channels) channels takes as many lists of one length",
                hint: "it was given \(samples.map { "\($0.count)" }.joined(separator: ", ")) samples")
        }
        var interleaved: [Float] = []
        interleaved.reserveCapacity(channels * samples[0].count)
        for frame in samples[0].indices { for channel in samples { interleaved.append(channel[frame]) } }
        try await write(interleaved: interleaved)
    }

    /// The same for samples frame by frame.
    public func write(interleaved samples: [Float]) async throws {
        guard samples.count.isMultiple(of: channels) else {
            throw Fault("\(samples.count) samples are no whole frames of \(channels) channels")
        }
        let isFirst = state.withLock { state in
            defer { state.isWriting = true }
            return !state.isWriting
        }
        guard isFirst else { throw Fault("another write to this source is under way", hint: "wait for it") }
        defer { state.withLock { $0.isWriting = false } }
        var done = 0
        while done < samples.count {
            try Task.checkCancellation()
            done += try put(samples[done...])
            if done < samples.count { await room() }
        }
    }

    /// Nothing more comes: what waits is played, and the node has ended, which a render waits for.
    public func end() {
        state.withLock { $0.isEnded = true }
        state.signal()
        wake()
    }

    /// Frames that wait to be played; nil: its graph does not run. [any]
    public var waiting: Int? { state.withLock { $0.pipe?.waiting } }

    /// Seconds from now until a sample is heard that is written now: what waits, the graph behind it, and the device; nil: its
    /// graph does not run. [any]
    public var latency: Double? {
        state.withLock { state in
            state.pipe.map { Double($0.waiting + (state.behind?() ?? 0)) / $0.rate }
        }
    }

    private func put(_ samples: ArraySlice<Float>) throws(Fault) -> Int {
        let taken = state.withLock { state -> Int? in
            if state.isEnded || state.hasStopped { return nil }
            return samples.withUnsafeBufferPointer { state.pipe?.write($0) ?? 0 }
        }
        state.signal()
        guard let taken else {
            let isEnded = state.withLock { $0.isEnded }
            throw isEnded ? Fault("this source was ended") : Fault("the graph of this source has stopped")
        }
        return taken
    }

    /// Waits until it is worth another try.
    private func room() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    guard !Task.isCancelled, !state.isEnded, !state.hasStopped, !state.hasRoom else { return false }
                    state.waiter = continuation
                    return true
                }
                if !isWaiting { continuation.resume() }
            }
        } onCancel: {
            wake()
        }
    }

    private func wake() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    // MARK: - its node

    static let all = NumberedObjects<AudioSource>()

    /// Its node plays from this pipe; `behind`: frames from there until it is heard.
    func begin(_ pipe: PlaybackPipe, behind: @escaping @Sendable () -> Int) {
        state.withLock { state in
            (state.pipe, state.behind) = (pipe, behind)
            state.hasStopped = false
        }
        wake()
    }

    func stop() {
        state.withLock { state in
            (state.pipe, state.behind) = (nil, nil)
            state.hasStopped = true
        }
        state.signal()
        wake()
    }

    /// There may be room again.
    func poll() {
        if state.withLock({ $0.hasRoom && $0.waiter != nil }) { wake() }
    }

    var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Whether so many frames are there, or no more come, before `seconds` are over.
    func has(_ frames: Int, within seconds: Double) -> Bool {
        // Nobody else would tell the program that there is room: who asks plays nothing until this returns.
        poll()
        return state.wait(until: monotonicSeconds() + seconds) { state in
            let waiting = state.pipe?.waiting ?? 0
            return state.isEnded || state.hasStopped || waiting >= frames ? true : nil
        } ?? false
    }
}
