// SPDX-License-Identifier: Apache-2.0
import DequeModule
import Drivers
import System

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

/// One consumer's view of what the graph publishes. Ends when the graph does, after everything kept was read; it is over,
/// too, when nobody holds it any more. Several readers of one subscription share what it gives: each element goes to one.
public final class Subscription: AsyncSequence, Sendable {
    /// What it gives.
    public typealias Element = Published

    private let delivery: Delivery
    private let wants: @Sendable (Published) -> Bool
    private let state = Lock(State())

    private struct State {
        var kept: Deque<Published> = []
        var dropped = 0
        var ended = false
        /// Readers that found nothing, the first to come first; empty while anything is kept.
        var waiting: Deque<CheckedContinuation<Published?, Never>> = []
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

    /// Readers that wait for the next element. [any]
    var waitingReaders: Int { state.withLock(\.waiting.count) }

    /// Ends the subscription: nothing is added to what it has kept. [any]
    public func cancel() {
        let waiting = state.withLock { state in
            state.ended = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for reader in waiting { reader.resume(returning: nil) }
    }

    func offer(_ element: Published) {
        guard wants(element) else { return }
        let waiting = state.withLock { state -> CheckedContinuation<Published?, Never>? in
            if state.ended { return nil }
            if let waiting = state.waiting.popFirst() { return waiting }
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

    /// The next element; nil after the end. Cancelling the task that waits ends the subscription. [any]
    public func next() async -> Published? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Published?? in
                    if let first = state.kept.popFirst() { return .some(first) }
                    if state.ended { return .some(nil) }
                    state.waiting.append(continuation)
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

/// Fans out what the graph publishes. It does not hold its subscriptions: a consumer that lets go of one costs nothing.
public final class EventBus: Sendable {
    private struct Subscriber {
        weak var subscription: Subscription?
    }

    private struct State {
        var subscribers: [Subscriber] = []
        var finished = false
    }

    private let state = Lock(State())

    /// A bus without subscribers.
    public init() {}

    /// Subscribes to what `wants` lets through; on a bus that has finished, the subscription has ended. [any]
    public func subscribe(
        _ delivery: Delivery, where wants: @escaping @Sendable (Published) -> Bool = { _ in true }
    ) -> Subscription {
        let subscription = Subscription(delivery, wants)
        let finished = state.withLock { state in
            state.subscribers.removeAll { $0.subscription?.isEnded ?? true }
            if !state.finished { state.subscribers.append(Subscriber(subscription: subscription)) }
            return state.finished
        }
        if finished { subscription.cancel() }
        return subscription
    }

    /// Gives an element to every subscriber that wants it. [any]
    public func publish(_ element: Published) {
        let subscriptions = state.withLock { $0.subscribers.compactMap(\.subscription) }
        for subscription in subscriptions { subscription.offer(element) }
    }

    /// Ends all subscriptions. [any]
    public func finish() {
        let subscriptions = state.withLock { state in
            state.finished = true
            defer { state.subscribers = [] }
            return state.subscribers.compactMap(\.subscription)
        }
        for subscription in subscriptions { subscription.cancel() }
    }

    /// Subscriptions that it knows. [any]
    var count: Int { state.withLock(\.subscribers.count) }
}
