// SPDX-License-Identifier: Apache-2.0
import Host

/// The sound that a node gives to programs, from now on: that of a `tap`, which lets sound through anywhere in a graph, or of a
/// recorder while it records.
///
///     for await audio in host.audio(of: "tap") { measure(audio.channels) }
public struct AudioFrames: AsyncSequence, Sendable {
    private let subscription: Subscription

    init(_ subscription: Subscription) { self.subscription = subscription }

    /// Pieces that were left out because nobody read them in time. What the audio thread could not hand on the node tells
    /// itself, and positions show where. [any]
    public var dropped: Int { subscription.dropped }

    /// Reads it.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription
        /// The next piece; nil: the host has ended, or the task was cancelled.
        public mutating func next() async -> AudioFrame? {
            while let next = await subscription.next() {
                if case .audio(let audio) = next { return audio }
            }
            return nil
        }
    }

    /// Reads it.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription: subscription) }
}

extension Host {
    /// The sound of a node that gives it to programs, as a `tap` does; `held`: pieces that wait for a slow reader, about 60 to 120
    /// a second, before new ones are left out. [any]
    public nonisolated func audio(of node: String, held: Int = 256) -> AudioFrames {
        AudioFrames(
            subscribe(.bounded(held)) { if case .audio(let audio) = $0 { audio.node == node } else { false } })
    }
}
