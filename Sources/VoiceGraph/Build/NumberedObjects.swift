// SPDX-License-Identifier: Apache-2.0
import Synchronization
import System

/// Objects of this program that the description of a graph names by a number, as long as somebody else keeps them. [any]
final class NumberedObjects<Object: AnyObject & Sendable>: Sendable {
    private struct Weak: Sendable {
        weak var object: Object?
    }

    private let last = Atomic(0)
    private let all = Lock<[Int: Weak]>([:])

    func next() -> Int { last.add(1, ordering: .relaxed).newValue }
    func keep(_ object: Object, _ number: Int) { all.withLock { $0[number] = Weak(object: object) } }
    func forget(_ number: Int) { all.withLock { $0[number] = nil } }
    func find(_ number: Int) -> Object? { all.withLock { $0[number]?.object } }
}
