// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What one client sends into a `web-input`.
final class WebInputStream: ClientStream {
    /// Of the client: how its frames are interleaved.
    let channels: Int
    /// Of the client, in Hz.
    let rate: Double

    private let endpoint: InputEndpoint
    private let number: Int

    init(_ endpoint: InputEndpoint, number: Int, channels: Int, rate: Double) {
        self.endpoint = endpoint
        self.number = number
        self.channels = channels
        self.rate = rate
    }

    deinit { close() }

    func push(position: UInt32, frames: UnsafeBufferPointer<Float>) -> Bool {
        endpoint.push(number, position, frames)
    }

    /// Whether what is pushed can still be heard. [any]
    var isOpen: Bool { endpoint.isOpen(number) }

    /// How it is; of the node, where the stream is not open any more. [any]
    var status: WebInputStatus { endpoint.status }

    /// Leaves the node to others. [any]
    func close() { endpoint.close(number) }
}
