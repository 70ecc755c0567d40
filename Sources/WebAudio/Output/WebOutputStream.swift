// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What one client hears of a `web-output`.
final class WebOutputStream: ClientStream {
    /// Of the client: how its frames are interleaved.
    let channels: Int
    /// Of the client, in Hz.
    let rate: Double

    private let endpoint: OutputEndpoint
    private let number: Int

    init(_ endpoint: OutputEndpoint, number: Int, channels: Int, rate: Double) {
        self.endpoint = endpoint
        self.number = number
        self.channels = channels
        self.rate = rate
    }

    deinit { close() }

    func pull(into buffer: UnsafeMutableBufferPointer<Float>) -> PulledFrames? {
        endpoint.with(number) { listener in
            let (frames, position) = listener.pull(into: buffer)
            return PulledFrames(frames: frames, position: position)
        }
    }

    /// By that its clock is followed, and as much kept waiting there as its jitter asks for. [any]
    func report(waiting frames: UInt32) { _ = endpoint.with(number) { $0.report(frames) } }

    /// Frames at the client's rate that should wait in its buffer, and before it begins to play. [any]
    var targetFrames: Int { endpoint.with(number) { Int($0.target * rate) } ?? 0 }

    /// Whether there is anything to be pulled any more. [any]
    var isOpen: Bool { endpoint.with(number) { _ in true } ?? false }

    /// How it is; nil: it is not open any more. [any]
    var status: WebOutputStatus? { endpoint.status(number) }

    func close() { endpoint.close(number) }
}
