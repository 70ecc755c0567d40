// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport

@testable import Host

@Suite(.timeLimit(.minutes(2))) struct SubscriptionTests {
    private let bus = EventBus()

    @Test(
        "A slow reader finds what its delivery keeps, and the rest is counted",
        arguments: [
            (Delivery.latest, [9], 9), (.bounded(4), [0, 1, 2, 3], 6), (.bounded(10), Array(0..<10), 0),
            (.bounded(1), [0], 9), (.bounded(0), [], 10), (.lossless, Array(0..<10), 0),
        ])
    func slowReader(delivery: Delivery, kept: [Int], dropped: Int) {
        let subscription = bus.subscribe(delivery)
        for value in 0..<10 { bus.publish(numbered(value)) }
        #expect(subscription.drain().map(number) == kept)
        #expect(subscription.dropped == dropped)
    }

    /// A frame of a series on request, as a node's context publishes it.
    private func onRequest(_ series: String) -> Published {
        var frame = SeriesFrame(node: "v", time: 1, rows: [SeriesFrame.Row(series, [1])])
        frame.isOnRequest = true
        return .frame(frame)
    }

    @Test("A series on request goes to those who have named it, and is wanted while they read") func namedSeries() {
        func wanted(of node: String = "v") -> [Bool] { bus.wanted(["peak", "bands", "spectrum"], of: node) }
        #expect(wanted() == [])
        let all = bus.subscribe(.lossless)
        let one = bus.subscribe(.lossless, series: ["bands"])
        #expect(wanted() == [false, true, false])
        for published in [onRequest("bands"), onRequest("spectrum"), numbered(1)] { bus.publish(published) }
        #expect(all.drain() == [numbered(1)])
        #expect(one.drain() == [onRequest("bands"), numbered(1)])
        one.ask(for: ["v.spectrum"])
        #expect(wanted() == [false, false, true] && wanted(of: "w") == [false, false, false])
        for series in ["bands", "spectrum"] { bus.publish(onRequest(series)) }
        #expect(one.drain() == [onRequest("spectrum")])
        one.cancel()
        #expect(wanted() == [false, false, false])
        var other: Subscription? = bus.subscribe(.latest, series: ["bands", "spectrum"])
        // What nobody measures any more is not told as if it were now.
        #expect(other?.drain() == [])
        #expect(wanted() == [false, true, true])
        other = nil
        #expect(wanted() == [false, false, false])
    }

    @Test("Room that was made by reading is used again") func roomAgain() {
        let subscription = bus.subscribe(.bounded(3))
        for value in 0..<5 { bus.publish(numbered(value)) }
        #expect(number(subscription.poll()) == 0)
        for value in 5..<8 { bus.publish(numbered(value)) }
        #expect(subscription.drain().map(number) == [1, 2, 5])
        #expect(subscription.dropped == 4)
    }

    @Test("`lossless` keeps everything") func lossless() {
        let subscription = bus.subscribe(.lossless)
        for value in 0..<100_000 { bus.publish(numbered(value)) }
        let whole = subscription.drain().map(number).elementsEqual(0..<100_000) { $0 == $1 }
        #expect(whole)
        #expect(subscription.dropped == 0)
    }

    @Test("The end comes after everything kept was read", arguments: [Delivery.latest, .bounded(5), .lossless])
    func endLast(delivery: Delivery) async {
        let subscription = bus.subscribe(delivery)
        for value in 0..<5 { bus.publish(numbered(value)) }
        bus.finish()
        bus.publish(numbered(99))
        var read: [Int?] = []
        for await published in subscription { read.append(number(published)) }
        #expect(read == (delivery == .latest ? [4] : [0, 1, 2, 3, 4]))
        #expect(await subscription.next() == nil)
    }

    @Test("A waiting reader gets what comes, whatever the delivery") func waitingReader() async throws {
        for delivery in [Delivery.latest, .bounded(0), .lossless] {
            let subscription = bus.subscribe(delivery)
            async let first = subscription.next()
            try await eventually("the reader waits") { subscription.waitingReaders == 1 }
            bus.publish(numbered(7))
            #expect(number(await first) == 7)
            #expect(subscription.dropped == 0)
        }
    }

    @Test("A waiting reader learns of the end") func endWakes() async throws {
        let subscription = bus.subscribe(.lossless)
        async let first = subscription.next()
        try await eventually("the reader waits") { subscription.waitingReaders == 1 }
        bus.finish()
        #expect(await first == nil)
    }

    @Test("Cancelling the reader's task ends the subscription") func cancelledTask() async throws {
        let subscription = bus.subscribe(.lossless)
        let reader = Task { await subscription.next() }
        try await eventually("the reader waits") { subscription.waitingReaders == 1 }
        reader.cancel()
        #expect(await reader.value == nil)
        bus.publish(numbered(1))
        #expect(subscription.poll() == nil)
    }

    @Test("`cancel` keeps what was there and takes nothing more") func cancelled() {
        let subscription = bus.subscribe(.lossless)
        bus.publish(numbered(1))
        subscription.cancel()
        bus.publish(numbered(2))
        #expect(subscription.drain().map(number) == [1])
        #expect(subscription.dropped == 0)
    }

    @Test("Readers of one subscription share it") func sharing() async throws {
        let subscription = bus.subscribe(.lossless)
        let readers = (0..<3).map { _ in Task { number(await subscription.next()) } }
        try await eventually("all wait") { subscription.waitingReaders == 3 }
        bus.publish(numbered(1))
        bus.publish(numbered(2))
        bus.finish()
        var read: [Int?] = []
        for reader in readers { read.append(await reader.value) }
        #expect(read.compactMap(\.self).sorted() == [1, 2])
    }

    @Test("Every consumer has its own view") func ownViews() {
        let all = (0..<50).map { _ in bus.subscribe(.lossless) }
        let odd = bus.subscribe(.bounded(3)) { (number($0) ?? 0) % 2 == 1 }
        let late = bus.subscribe(.latest) { if case .frame = $0 { true } else { false } }
        for value in 0..<20 { bus.publish(numbered(value)) }
        bus.publish(.frame(SeriesFrame(node: "m", time: 1, peak: [1], rms: [1], orb: 1)))
        #expect(all.allSatisfy { $0.drain().count == 21 })
        #expect(odd.drain().map(number) == [1, 3, 5])
        // What it does not want is not lost to it.
        #expect(odd.dropped == 7)
        #expect(late.drain().count == 1 && late.dropped == 0)
    }

    @Test("The newest of every node and kind is kept for a slow reader, not the newest of all") func newestOfEach() {
        let slow = bus.subscribe(.latest)
        for round in 0..<3 {
            for node in ["left", "right"] {
                bus.publish(.frame(SeriesFrame(node: node, time: Double(round), rows: [.init("peak", [1])])))
                bus.publish(.event(Event("said", node: node, time: Double(round))))
            }
        }
        let kept = slow.drain()
        #expect(kept.count == 4 && slow.dropped == 8)
        for published in kept {
            switch published {
            case .frame(let frame): #expect(frame.time == 2)
            case .event(let event): #expect(event.time == 2)
            case .audio: Issue.record("nobody published audio")
            }
        }
    }

    @Test("What is published is encoded once for all who read it") func sharedEncoding() {
        let (first, second) = (bus.subscribe(.lossless), bus.subscribe(.bounded(4)))
        bus.publish(numbered(1))
        let (one, other) = (first.pollShared(), second.pollShared())
        #expect(one === other && one?.line == other?.line && one?.line?.isEmpty == false)
    }

    @Test("The bus forgets whoever ended or let go") func forgotten() {
        let kept = bus.subscribe(.latest)
        let ended = bus.subscribe(.lossless)
        _ = bus.subscribe(.lossless)
        ended.cancel()
        weak var gone: Subscription?
        do {
            let subscription = bus.subscribe(.lossless)
            gone = subscription
            bus.publish(numbered(1))
        }
        #expect(gone == nil)
        let last = bus.subscribe(.latest)
        #expect(bus.count == 2)
        bus.publish(numbered(2))
        #expect([kept, last].map { number($0.poll()) } == [2, 2])
    }

    @Test("Who subscribes after the end has an ended subscription") func afterTheEnd() async {
        bus.finish()
        let subscription = bus.subscribe(.lossless)
        bus.publish(numbered(1))
        #expect(await subscription.next() == nil)
        #expect(bus.count == 0)
    }
}
