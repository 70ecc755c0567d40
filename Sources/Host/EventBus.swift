// SPDX-License-Identifier: Apache-2.0
import DequeModule
import Synchronization

/// Something that the graph publishes.
public enum Published: Sendable, Equatable {
    case levels(LevelFrame)
    case audio(AudioFrame)
    case event(Event)
}

/// What a subscription does when its reader is slower than the graph.
public enum Delivery: Sendable, Equatable {
    /// Keeps the newest only; what it replaces counts as dropped.
    case latest
    /// Keeps so many; what comes when they are full counts as dropped.
    case bounded(Int)
    /// Keeps everything while memory lasts.
    case lossless
}

/// One consumer's view of what the graph publishes. Ends when the graph does, after everything kept was read.
public final class Subscription: AsyncSequence, Sendable {
    /// What it gives.
    public typealias Element = Published

    private let delivery: Delivery
    private let wants: @Sendable (Published) -> Bool
    private let state = Mutex(State())

    private struct State {
        var kept: Deque<Published> = []
        var dropped = 0
        var ended = false
        var waiting: CheckedContinuation<Published?, Never>?
    }

    init(_ delivery: Delivery, _ wants: @escaping @Sendable (Published) -> Bool) {
        self.delivery = delivery
        self.wants = wants
    }

    /// How many elements were lost because the reader was slow. [any]
    public var dropped: Int { state.withLock(\.dropped) }

    /// What comes next, without waiting; nil if nothing is there now. [any]
    public func poll() -> Published? { state.withLock { $0.kept.popFirst() } }

    /// Whether it was ended. [any]
    var isEnded: Bool { state.withLock(\.ended) }

    /// Ends the subscription. [any]
    public func cancel() {
        let waiting = state.withLock { state in
            state.ended = true
            return state.waiting.take()
        }
        waiting?.resume(returning: nil)
    }

    func offer(_ element: Published) {
        guard wants(element) else { return }
        let waiting = state.withLock { state -> CheckedContinuation<Published?, Never>? in
            if state.ended { return nil }
            if let waiting = state.waiting.take() { return waiting }
            switch delivery {
            case .latest where !state.kept.isEmpty:
                state.kept[0] = element
                state.dropped += 1
            case .bounded(let limit) where state.kept.count >= limit: state.dropped += 1
            default: state.kept.append(element)
            }
            return nil
        }
        waiting?.resume(returning: element)
    }

    /// The next element; nil after the end. One reader at a time. [any]
    public func next() async -> Published? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Published?? in
                    if let first = state.kept.popFirst() { return .some(first) }
                    if state.ended { return .some(nil) }
                    state.waiting = continuation
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Reads the subscription.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription
        /// The next element; nil after the end.
        public mutating func next() async -> Published? { await subscription.next() }
    }

    /// Reads the subscription.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription: self) }
}

/// Fans out what the graph publishes.
public final class EventBus: Sendable {
    private let subscriptions = Mutex<[Subscription]>([])

    /// A bus without subscribers.
    public init() {}

    /// Subscribes to what `wants` lets through. [any]
    public func subscribe(
        _ delivery: Delivery, where wants: @escaping @Sendable (Published) -> Bool = { _ in true }
    ) -> Subscription {
        let subscription = Subscription(delivery, wants)
        subscriptions.withLock { all in
            all.removeAll { $0.isEnded }
            all.append(subscription)
        }
        return subscription
    }

    /// Gives an element to every subscriber that wants it. [any]
    public func publish(_ element: Published) {
        for subscription in subscriptions.withLock({ $0 }) { subscription.offer(element) }
    }

    /// Ends all subscriptions. [any]
    public func finish() {
        for subscription in subscriptions.withLock({ $0.take() }) { subscription.cancel() }
    }
}

extension Array {
    fileprivate mutating func take() -> [Element] {
        defer { self = [] }
        return self
    }
}
