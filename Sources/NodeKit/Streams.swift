// SPDX-License-Identifier: Apache-2.0
import CNode

/// Sound between a node and one client of the host, such as the microphone of a page. Closed at the latest when nobody has it
/// any more. Its calls come one after another, from any thread but the audio thread; they take bounded time, and may come
/// when the node is gone.
public protocol ClientStream: AnyObject, Sendable {
    /// Takes interleaved frames of the client. `position`: of the first among all that it recorded, modulo 2^32; where it
    /// does not follow, frames were lost. False: the node has ended or the stream was closed. [any]
    func push(position: UInt32, frames: UnsafeBufferPointer<Float>) -> Bool

    /// Gives interleaved frames, as many as there are and as there is room for; to be called every 10 ms or so, again while
    /// the buffer comes back full. Nil: the node has ended or the stream was closed. [any]
    func pull(into buffer: UnsafeMutableBufferPointer<Float>) -> PulledFrames?

    /// Takes how many frames wait in the buffer of a client that plays, about four times a second. [any]
    func report(waiting frames: UInt32)

    /// Ends it. [any]
    func close()
}

extension ClientStream {
    /// Nothing is taken.
    public func push(position: UInt32, frames: UnsafeBufferPointer<Float>) -> Bool { false }
    /// Nothing is given.
    public func pull(into buffer: UnsafeMutableBufferPointer<Float>) -> PulledFrames? { nil }
    /// Nothing to do.
    public func report(waiting frames: UInt32) {}
}

/// What was pulled of a stream.
public struct PulledFrames: Sendable, Equatable {
    /// How many; 0: there is nothing now.
    public var frames: Int
    /// Of the first among all frames of the stream, modulo 2^32. It jumps by what was lost on the way, which is not to be
    /// filled up: it is over.
    public var position: UInt32

    /// Describes frames.
    public init(frames: Int, position: UInt32) { (self.frames, self.position) = (frames, position) }
}

/// How the streams of a node are.
public struct StreamState: Sendable, Equatable {
    /// Audio channels of the node.
    public var channels: Int
    /// Of the graph, in Hz; 0: nothing can be streamed now.
    public var rate: Double
    /// How many clients stream.
    public var clients: Int
    /// Whether no other client may.
    public var isFull: Bool

    /// Describes a state; by default that of a node without streams.
    public init(channels: Int = 0, rate: Double = 0, clients: Int = 0, isFull: Bool = false) {
        (self.channels, self.rate, self.clients, self.isFull) = (channels, rate, clients, isFull)
    }

    /// What a node says when it is asked.
    package init(asking node: (UnsafeMutablePointer<vg_stream_state>) -> Void) {
        var c = StreamState().c
        node(&c)
        self.init(channels: Int(c.channels), rate: c.rate, clients: Int(c.clients), isFull: c.full)
    }

    var c: vg_stream_state {
        vg_stream_state(
            size: UInt32(MemoryLayout<vg_stream_state>.size), channels: UInt32(clamping: channels),
            clients: UInt32(clamping: clients), full: isFull, rate: rate)
    }
}

/// What clients may have, whichever node they stream with.
public enum StreamLimits {
    /// Sample rates, in Hz.
    public static let rates = 8000.0...192_000
    /// Audio channels.
    public static let channels = 1...8
}

// MARK: - the boundary

/// A stream as a node gives it over the boundary.
func cStream(_ stream: any ClientStream, channels: Int) -> vg_stream {
    vg_stream(
        size: UInt32(MemoryLayout<vg_stream>.size),
        handle: Unmanaged.passRetained(StreamBox(stream, channels)).toOpaque(),
        push: { handle, position, samples, frames in
            let box = StreamBox.of(handle)
            return box.stream.push(
                position: position, frames: UnsafeBufferPointer(start: samples, count: Int(frames) * box.channels))
        },
        pull: { handle, samples, room, position in
            let box = StreamBox.of(handle)
            let buffer = UnsafeMutableBufferPointer(start: samples, count: Int(room) * box.channels)
            guard let pulled = box.stream.pull(into: buffer) else { return -1 }
            position?.pointee = pulled.position
            return Int32(clamping: pulled.frames)
        },
        report: { StreamBox.of($0).stream.report(waiting: $1) },
        close: { handle in
            guard let handle else { return }
            Unmanaged<StreamBox>.fromOpaque(handle).takeRetainedValue().stream.close()
        })
}

private final class StreamBox {
    let stream: any ClientStream
    let channels: Int

    init(_ stream: any ClientStream, _ channels: Int) { (self.stream, self.channels) = (stream, channels) }

    static func of(_ handle: UnsafeMutableRawPointer?) -> StreamBox {
        Unmanaged.fromOpaque(handle!).takeUnretainedValue()  // the host passes only what `open` gave
    }
}

/// A stream as the host has it of a node, whatever that is written in.
public final class NodeStream: ClientStream, @unchecked Sendable {
    // Sendable: whoever has it makes one call after another.

    /// Of the client: how frames are interleaved.
    public let channels: Int
    /// Nil: it is closed.
    private var stream: vg_stream?

    /// Opens one of a node. [any]
    package init(
        _ type: vg_type_streams, _ node: UnsafeMutableRawPointer, rate: Double, channels: Int, client: String
    ) throws(NodeError) {
        guard let open = type.open else { throw NodeError("its type opens no streams") }
        var stream = vg_stream()
        stream.size = UInt32(MemoryLayout<vg_stream>.size)
        var error = vg_error()
        guard open(node, rate, UInt32(clamping: channels), client, &stream, &error) else { throw NodeError(error) }
        self.channels = channels
        self.stream = stream
    }

    deinit { close() }

    /// See `ClientStream`.
    public func push(position: UInt32, frames: UnsafeBufferPointer<Float>) -> Bool {
        guard let stream, let push = stream.push else { return false }
        return push(stream.handle, position, frames.baseAddress, UInt32(clamping: frames.count / channels))
    }

    /// See `ClientStream`.
    public func pull(into buffer: UnsafeMutableBufferPointer<Float>) -> PulledFrames? {
        guard let stream, let pull = stream.pull else { return nil }
        var position: UInt32 = 0
        let frames = pull(stream.handle, buffer.baseAddress, UInt32(clamping: buffer.count / channels), &position)
        return frames < 0 ? nil : PulledFrames(frames: Int(frames), position: position)
    }

    /// See `ClientStream`.
    public func report(waiting frames: UInt32) { if let stream { stream.report?(stream.handle, frames) } }

    /// See `ClientStream`.
    public func close() {
        if let stream { stream.close?(stream.handle) }
        stream = nil
    }
}
