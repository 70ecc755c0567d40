// SPDX-License-Identifier: Apache-2.0
@testable import Host

/// The number that `numbered` gave an event.
func number(_ published: Published?) -> Int? {
    if case .event(let event) = published { Int(event.time) } else { nil }
}

/// An event that carries a number.
func numbered(_ value: Int, _ name: String = "n") -> Published { .event(Event(name, time: Double(value))) }

extension Subscription {
    /// All that is kept now.
    func drain() -> [Published] {
        var result: [Published] = []
        while let next = poll() { result.append(next) }
        return result
    }
}
