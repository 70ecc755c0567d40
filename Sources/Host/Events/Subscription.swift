// SPDX-License-Identifier: Apache-2.0
import DequeModule
import Synchronization
import System

/// Something that was published, with its encoding, which is made once for all who want it.
public final class Publication: Sendable {
    /// What was published.
    public let element: Published
    private let encoded = Lock<String?>(nil)

    init(_ element: Published) { self.element = element }

    /// One line of JSON, without its end; nil for audio. [any]
    public var line: String? {
        encoded.withLock { encoded in
            if encoded == nil {
                switch element {
                case .frame(let frame): encoded = EventJSON.encode(frame)
                case .event(let event): encoded = EventJSON.encode(event)
                case .audio: break
                }
            }
            return encoded
        }
    }
}

/// Whether anybody has ever asked a bus for a series on request: until then nodes learn without a lock that nobody does.
final class SeriesRequests: Sendable {
    let wereMade = Atomic(false)
}

/// Whether a text is "NODE.SERIES", which is asked too often to put the two together for it.
private func isName(_ text: String, of series: String, _ node: String) -> Bool {
    text.utf8.count == node.utf8.count + 1 + series.utf8.count && text.hasSuffix(series) && text.hasPrefix(node)
        && text.utf8.dropFirst(node.utf8.count).first == UInt8(ascii: ".")
}

/// What a subscription does when its reader is slower than the graph.
public enum Delivery: Sendable, Equatable {
    /// Keeps the newest of each kind of each node: its frames, its audio, its events of one name. What is replaced counts as
    /// dropped.
    case latest
    /// Keeps so many; what comes when they are full counts as dropped.
    case bounded(Int)
    /// Keeps everything while memory lasts.
    case lossless
}

/// One consumer's view of what the graph publishes. Ends when the graph does, or with what its reader named as its end, after
/// everything kept was read; it is over, too, when nobody holds it any more. Several readers of one subscription share what it
/// gives: each element goes to one.
public final class Subscription: AsyncSequence, Sendable {
    /// What it gives.
    public typealias Element = Published

    private let delivery: Delivery
    private let wants: @Sendable (Published) -> Bool
    private let isLast: @Sendable (Published) -> Bool
    /// Series on request that its reader asks for: "bands" of all nodes, "face.bands" of one.
    private let series = Lock<Set<String>>([])
    private let requests: SeriesRequests
    private let state = Lock(State())

    private struct State {
        var kept: Deque<Publication> = []
        /// With `latest`: what is kept of each, in the order in which the keys came.
        var newest: [PublicationKey: Publication] = [:]
        var order: Deque<PublicationKey> = []
        var dropped = 0
        var ended = false
        /// Readers that found nothing, the first to come first; empty while anything is kept.
        var waiting: Deque<CheckedContinuation<Publication?, Never>> = []
        /// Threads that wait for the next element.
        var sleepers = 0

        mutating func take() -> Publication? {
            if let key = order.popFirst() { return newest.removeValue(forKey: key) }
            return kept.popFirst()
        }
    }

    init(
        _ delivery: Delivery, _ requests: SeriesRequests = SeriesRequests(),
        _ wants: @escaping @Sendable (Published) -> Bool = { _ in true },
        until isLast: @escaping @Sendable (Published) -> Bool = { _ in false }
    ) {
        self.delivery = delivery
        self.requests = requests
        self.wants = wants
        self.isLast = isLast
    }

    /// From now on the reader asks for these series on request, and for no others: "bands" of all nodes, "face.bands" of
    /// one. [any]
    public func ask(for series: Set<String>) {
        self.series.withLock { $0 = series }
        if !series.isEmpty { requests.wereMade.store(true, ordering: .relaxed) }
    }

    /// Whether its reader asks for a series of a node. [any]
    func asks(for series: String, of node: String) -> Bool {
        self.series.withLock { asked in
            asked.contains { $0 == series || isName($0, of: series, node) }
        }
    }

    /// How many elements were lost because the reader was slow. [any]
    public var dropped: Int { state.withLock(\.dropped) }

    /// What comes next, without waiting; nil if nothing is there now. [any]
    public func poll() -> Published? { pollShared()?.element }

    /// The same, with the encoding that all consumers share. [any]
    public func pollShared() -> Publication? { state.withLock { $0.take() } }

    /// What comes next, for which the calling thread waits until a time of `monotonicSeconds`; nil: that time, or the end,
    /// came first. [control]
    public func next(until deadline: Double) -> Published? {
        state.withLock { $0.sleepers += 1 }
        defer { state.withLock { $0.sleepers -= 1 } }
        let found = state.wait(until: deadline) { state -> Publication?? in
            if let first = state.take() { return .some(first) }
            return state.ended ? .some(nil) : nil
        }
        return found??.element
    }

    /// Whether it was ended: what it keeps is all that comes. [any]
    public var isEnded: Bool { state.withLock(\.ended) }

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
        state.signal()
    }

    /// Keeps it if the reader wants it; whether he does.
    @discardableResult
    func offer(_ publication: Publication) -> Bool {
        if case .frame(let frame) = publication.element, frame.isOnRequest,
            !frame.rows.contains(where: { asks(for: $0.name, of: frame.node) })
        {
            return false
        }
        let isWanted = wants(publication.element)
        if isWanted { keep(publication) }
        if isLast(publication.element) { cancel() }
        return isWanted
    }

    private func keep(_ publication: Publication) {
        var isAwaited = false
        let waiting = state.withLock { state -> CheckedContinuation<Publication?, Never>? in
            if state.ended { return nil }
            if let waiting = state.waiting.popFirst() { return waiting }
            isAwaited = state.sleepers > 0
            switch delivery {
            case .latest:
                let key = publication.element.key
                if state.newest.updateValue(publication, forKey: key) == nil {
                    state.order.append(key)
                } else {
                    state.dropped += 1
                }
            case .bounded(let limit) where state.kept.count >= limit: state.dropped += 1
            default: state.kept.append(publication)
            }
            return nil
        }
        waiting?.resume(returning: publication)
        if isAwaited { state.signal() }
    }

    /// The next element; nil after the end. Cancelling the task that waits ends the subscription. [any]
    public func next() async -> Published? { await nextShared()?.element }

    /// The same, with the encoding that all consumers share. [any]
    public func nextShared() async -> Publication? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Publication?? in
                    if let first = state.take() { return .some(first) }
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
