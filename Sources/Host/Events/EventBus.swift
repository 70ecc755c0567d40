// SPDX-License-Identifier: Apache-2.0
import NodeKit
import System

/// Fans out what the graph publishes. It does not hold its subscriptions: a consumer that lets go of one costs nothing.
public final class EventBus: Sendable {
    private struct Subscriber {
        weak var subscription: Subscription?
    }

    private struct State {
        var subscribers: [Subscriber] = []
        var finished = false
        /// What is given to whoever subscribes later: states, and the last frames.
        var retained: [PublicationKey: (number: Int, publication: Publication)] = [:]
        var count = 0
        /// When a frame found a reader last, by `monotonicSeconds`.
        var framesReadAt = -Double.infinity

        mutating func retain(_ publication: Publication) {
            count += 1
            retained[publication.element.key] = (count, publication)
        }
    }

    private let state = Lock(State())
    private let requests = SeriesRequests()
    /// That of the graph that plays, or played last.
    private let time = Lock<GraphTime?>(nil)

    /// A bus without subscribers.
    public init() {}

    /// Subscribes to what `wants` lets through; first come the newest frames and states that there are, once. On a bus that
    /// has finished, the subscription has ended; it ends with the first element that `isLast`, wanted or not, which may be one
    /// that there is. Both are called with locks held: they only look at what they are given. `series`: as `Subscription.ask`
    /// takes them. [any]
    public func subscribe(
        _ delivery: Delivery, series: Set<String> = [],
        where wants: @escaping @Sendable (Published) -> Bool = { _ in true },
        until isLast: @escaping @Sendable (Published) -> Bool = { _ in false }
    ) -> Subscription {
        let subscription = Subscription(delivery, requests, wants, until: isLast)
        subscription.ask(for: series)
        let finished = state.withLock { state in
            state.subscribers.removeAll { $0.subscription?.isEnded ?? true }
            if !state.finished {
                for kept in state.retained.values.sorted(by: { $0.number < $1.number }) {
                    subscription.offer(kept.publication)
                }
                state.subscribers.append(Subscriber(subscription: subscription))
            }
            return state.finished
        }
        if finished { subscription.cancel() }
        return subscription
    }

    /// What is retained and wanted, in the order in which it came. `wants` is called with a lock held. [any]
    func retained(where wants: (Published) -> Bool) -> [Publication] {
        let kept = state.withLock { $0.retained.values.filter { wants($0.publication.element) } }
        return kept.sorted { $0.number < $1.number }.map(\.publication)
    }

    /// Gives an element to every subscriber that wants it. [any]
    public func publish(_ element: Published) {
        let publication = Publication(element)
        // With the lock held: what is retained is given to a new subscriber before anything newer.
        state.withLock { state in
            if element.isRetained { state.retain(publication) }
            if element.isSilent { return }
            var isWanted = false
            for subscriber in state.subscribers where subscriber.subscription?.offer(publication) == true {
                isWanted = true
            }
            if isWanted, case .frame = element { state.framesReadAt = monotonicSeconds() }
        }
    }

    /// Whether somebody reads series: in the last second frames were taken. [any]
    var givesFrames: Bool { state.withLock { monotonicSeconds() - $0.framesReadAt < 1 } }

    /// Which of these series on request of a node somebody reads; empty: none. [any]
    func wanted(_ series: [String], of node: String) -> [Bool] {
        guard requests.wereMade.load(ordering: .relaxed) else { return [] }
        let subscriptions = state.withLock { $0.subscribers.compactMap(\.subscription) }.filter { !$0.isEnded }
        return series.map { name in subscriptions.contains { $0.asks(for: name, of: node) } }
    }

    /// From now on a graph plays here. [control]
    func follow(_ time: GraphTime) { self.time.withLock { $0 = time } }

    /// Publishes one of `HostEvent.all` for who works for the host, as the archive does; what is none of them is left out.
    /// [any]
    public func tell(_ kind: EventType, _ fields: [String: SettingValue] = [:]) {
        guard HostEvent.all.contains(kind) else { return }
        let time = time.withLock { $0 } ?? GraphTime()
        publish(.event(time.event(kind, fields: fields)))
    }

    /// Forgets what is retained of a node. [any]
    func forget(_ node: String) { state.withLock { $0.retained = $0.retained.filter { $0.key.node != node } } }

    /// Forgets what is retained of these events of a node. [any]
    func forget(_ node: String, _ names: Set<String>) {
        state.withLock { state in
            state.retained = state.retained.filter { $0.key.node != node || !names.contains($0.key.name) }
        }
    }

    /// Forgets all that is retained: the graph has ended. [any]
    func forgetAll() { state.withLock { $0.retained = [:] } }

    /// Ends all subscriptions. [any]
    public func finish() {
        let subscriptions = state.withLock { state in
            state.finished = true
            state.retained = [:]
            defer { state.subscribers = [] }
            return state.subscribers.compactMap(\.subscription)
        }
        for subscription in subscriptions { subscription.cancel() }
    }

    /// Subscriptions that it knows. [any]
    var count: Int { state.withLock(\.subscribers.count) }
}
