// SPDX-License-Identifier: Apache-2.0
import System

/// The calls by HTTP that are under way, and how many may begin: of all clients, and of each.
final class CallPlaces: Sendable {
    fileprivate struct Entry {
        var number: Int
        var party: Party
        /// Ends it, if it only looks.
        var end: (@Sendable () -> Void)?
    }

    fileprivate struct State {
        /// Oldest first.
        var entries: [Entry] = []
        var next = 0
        var rate = Rate(burst: Limits.callBurst, perSecond: Limits.callRate)
        var rates: [Party: Rate] = [:]
    }

    private let state = Lock(State())

    /// Clients whose rates are remembered.
    fileprivate static let parties = 256

    /// A place for one more call of a client; nil: there is none, or it asks too often. Where there is no room, the call that
    /// has looked longest ends, of this client if it has its share, else of the one that has most.
    func begin(_ party: Party) -> Int? {
        let (number, victim): (Int?, Entry?) = state.withLock { state in
            guard state.takeRate(of: party) else { return (nil, nil) }
            var victim: Entry?
            let own = state.entries.count { $0.party == party }
            if own >= Limits.callsOfOne || state.entries.count >= Limits.calls {
                victim = state.removeLook(of: own >= Limits.callsOfOne ? party : state.largest)
                if victim == nil { return (nil, nil) }
            }
            state.next += 1
            state.entries.append(Entry(number: state.next, party: party))
            return (state.next, victim)
        }
        victim?.end?()
        return number
    }

    /// The call only looks, and this ends it.
    func look(_ number: Int, end: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard let place = state.entries.firstIndex(where: { $0.number == number }) else { return }
            state.entries[place].end = end
        }
    }

    /// It has ended, or nobody waits for it any more.
    func end(_ number: Int) { state.withLock { $0.entries.removeAll { $0.number == number } } }
}

extension CallPlaces.State {
    /// Whether a client may begin one more call now.
    fileprivate mutating func takeRate(of party: Party) -> Bool {
        if rates.count >= CallPlaces.parties, rates[party] == nil { rates = [:] }
        let fresh = Rate(burst: Limits.callBurstOfOne, perSecond: Limits.callRateOfOne)
        return rates[party, default: fresh].take() && rate.take()
    }

    /// The client that has most calls.
    fileprivate var largest: Party? {
        Dictionary(grouping: entries, by: \.party).max { $0.value.count < $1.value.count }?.key
    }

    /// Takes out the oldest call of a client that only looks.
    fileprivate mutating func removeLook(of party: Party?) -> CallPlaces.Entry? {
        entries.firstIndex { $0.party == party && $0.end != nil }.map { entries.remove(at: $0) }
    }
}
