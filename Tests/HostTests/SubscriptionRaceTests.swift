// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport

@testable import Host

/// Publishers, readers and the end at the same time, for the thread sanitizer.
@Suite(.timeLimit(.minutes(10))) struct SubscriptionRaceTests {
    private let publishers = 3
    private let each = stressed(3000)

    /// Publishes from threads of their own: publisher p gives p * each ..< (p + 1) * each, in order.
    private func publish(_ bus: EventBus) async {
        await withCheckedContinuation { done in
            let left = Atomic(publishers)
            let counter = Shared(left)
            for publisher in 0..<publishers {
                Thread.detachNewThread {
                    for value in publisher * each..<(publisher + 1) * each { bus.publish(numbered(value)) }
                    if counter.value.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.resume() }
                }
            }
        }
    }

    private final class Shared: Sendable {
        let value: Atomic<Int>
        init(_ value: consuming Atomic<Int>) { self.value = value }
    }

    private func inOrder(_ values: [Int]) -> Bool {
        (0..<publishers).allSatisfy { publisher in
            let own = values.filter { $0 / each == publisher }
            return zip(own, own.dropFirst()).allSatisfy { $0 < $1 }
        }
    }

    private func readAll(_ subscription: Subscription) -> Task<[Int], Never> {
        Task {
            var values: [Int] = []
            for await published in subscription { values.append(number(published)!) }
            return values
        }
    }

    @Test("Everything is read or counted, and in order") func allOrCounted() async {
        let bus = EventBus()
        let deliveries: [Delivery] = [.lossless, .bounded(16), .latest, .lossless, .bounded(1)]
        let readers = deliveries.map { delivery in
            let subscription = bus.subscribe(delivery)
            return (delivery, subscription, readAll(subscription))
        }
        await publish(bus)
        bus.finish()
        for (delivery, subscription, reader) in readers {
            let values = await reader.value
            #expect(values.count + subscription.dropped == publishers * each)
            #expect(inOrder(values))
            if delivery == .lossless { #expect(values.count == publishers * each) }
        }
    }

    @Test("Several readers of one subscription lose nothing") func severalReaders() async {
        let bus = EventBus()
        let subscription = bus.subscribe(.lossless)
        let readers = (0..<4).map { _ in readAll(subscription) }
        await publish(bus)
        bus.finish()
        var values: [Int] = []
        for reader in readers {
            let own = await reader.value
            #expect(inOrder(own))
            values += own
        }
        let whole = values.sorted().elementsEqual(0..<publishers * each)
        #expect(whole)
    }

    @Test("Consumers may come and go while the publishers work") func comingAndGoing() async {
        let bus = EventBus()
        let over = Shared(Atomic(0))
        let visitors = (0..<3).map { kind in
            Task {
                var visits = 0
                while over.value.load(ordering: .acquiring) == 0 {
                    let subscription = bus.subscribe(kind == 0 ? .latest : .bounded(8))
                    if kind == 1 {
                        let reader = Task { await subscription.next() }
                        await Task.yield()
                        reader.cancel()
                        _ = await reader.value
                    } else {
                        _ = subscription.poll()
                        if kind == 2 { subscription.cancel() }
                    }
                    visits += 1
                    // Others need this thread, too.
                    await Task.yield()
                }
                return visits
            }
        }
        let steady = bus.subscribe(.lossless)
        await publish(bus)
        over.value.store(1, ordering: .releasing)
        for visitor in visitors { #expect(await visitor.value > 0) }
        #expect(steady.drain().count == publishers * each)
        bus.finish()
        #expect(bus.count == 0)
    }
}
