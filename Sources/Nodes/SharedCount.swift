// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// A number that a processor writes and its control half reads.
typealias SharedCount = Shared<Atomic<Int>>

extension Shared where Value == Atomic<Int> {
    convenience init(count: Int = 0) { self.init(Atomic(count)) }

    /// The newest value. [any]
    var count: Int {
        get { value.load(ordering: .acquiring) }
        set { value.store(newValue, ordering: .releasing) }
    }
}
