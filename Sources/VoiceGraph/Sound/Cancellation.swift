// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Whether something is to end before it is done.
final class Cancellation: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }
    func set() { flag.store(true, ordering: .relaxed) }
}
