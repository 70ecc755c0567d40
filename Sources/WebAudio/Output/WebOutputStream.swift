// SPDX-License-Identifier: Apache-2.0

/// What one client hears of a `web-output`. Closed when nobody has it any more. Its calls take bounded time and may be made
/// from any thread but the audio thread, one after another.
public final class WebOutputStream: Sendable {
    /// What was pulled.
    public struct Pulled: Sendable, Equatable {
        /// How many; 0: there is nothing now.
        public var frames: Int
        /// Of the first among all frames of the stream, modulo 2^32. It jumps by what was lost on the way, which is not to
        /// be filled up: it is over.
        public var position: UInt32
    }

    /// Of the client: how its frames are interleaved.
    public let channels: Int
    /// Of the client, in Hz.
    public let rate: Double

    private let endpoint: OutputEndpoint
    private let number: Int

    init(_ endpoint: OutputEndpoint, number: Int, channels: Int, rate: Double) {
        self.endpoint = endpoint
        self.number = number
        self.channels = channels
        self.rate = rate
    }

    deinit { close() }

    /// The node that is heard.
    public var node: String { endpoint.node }

    /// Gives interleaved frames, as many as there are and as there is room for; to be called every 10 ms or so, again while
    /// the buffer comes back full. Nil: the node has ended or the stream was closed. [any]
    public func pull(into buffer: UnsafeMutableBufferPointer<Float>) -> Pulled? {
        endpoint.with(number) { listener in
            let (frames, position) = listener.pull(into: buffer)
            return Pulled(frames: frames, position: position)
        }
    }

    /// Takes how many frames wait in the client's buffer, about four times a second: by that its clock is followed, and as
    /// much kept waiting there as its jitter asks for. [any]
    public func report(waiting frames: UInt32) { _ = endpoint.with(number) { $0.report(frames) } }

    /// Frames at the client's rate that should wait in its buffer, and before it begins to play. [any]
    public var targetFrames: Int { endpoint.with(number) { Int($0.target * rate) } ?? 0 }

    /// Whether there is anything to be pulled any more. [any]
    public var isOpen: Bool { endpoint.with(number) { _ in true } ?? false }

    /// How it is; nil: it is not open any more. [any]
    public var status: WebOutputStatus? { endpoint.status(number) }

    /// Ends it. [any]
    public func close() { endpoint.close(number) }
}
