// SPDX-License-Identifier: Apache-2.0

/// What one client sends into a `web-input`. Closed when nobody has it any more. Its calls take bounded time and may be made
/// from any thread but the audio thread, one after another.
public final class WebInputStream: Sendable {
    /// Of the client: how its frames are interleaved.
    public let channels: Int
    /// Of the client, in Hz.
    public let rate: Double

    private let endpoint: InputEndpoint
    private let number: Int

    init(_ endpoint: InputEndpoint, number: Int, channels: Int, rate: Double) {
        self.endpoint = endpoint
        self.number = number
        self.channels = channels
        self.rate = rate
    }

    deinit { close() }

    /// The node that hears it.
    public var node: String { endpoint.node }

    /// Takes interleaved frames. `position`: of the first among all that the client recorded, modulo 2^32; where it does not
    /// follow, frames were lost, and are counted. False: the node has ended or the stream was closed. [any]
    @discardableResult
    public func push(position: UInt32, frames: UnsafeBufferPointer<Float>) -> Bool {
        endpoint.push(number, position, frames)
    }

    /// Whether what is pushed can still be heard. [any]
    public var isOpen: Bool { endpoint.isOpen(number) }

    /// How it is; of the node, where the stream is not open any more. [any]
    public var status: WebInputStatus { endpoint.status }

    /// Leaves the node to others. [any]
    public func close() { endpoint.close(number) }
}
