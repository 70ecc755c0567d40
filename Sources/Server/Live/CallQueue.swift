// SPDX-License-Identifier: Apache-2.0
import API
import NIOCore

/// Calls of one client: what changes something one after the other, in their order; what only looks beside them.
struct CallQueue {
    private var changes: CircularBuffer<Request> = []
    private var looks: CircularBuffer<Request> = []
    private var isChanging = false
    private var looking = 0

    /// So many look at once.
    private static let beside = 8

    /// False: too many wait.
    mutating func add(_ request: Request, isChange: Bool) -> Bool {
        guard changes.count + looks.count < Limits.waiting else { return false }
        if isChange { changes.append(request) } else { looks.append(request) }
        return true
    }

    /// What can begin now.
    mutating func next() -> (request: Request, isChange: Bool)? {
        if !isChanging, let request = changes.popFirst() {
            isChanging = true
            return (request, true)
        }
        if looking < Self.beside, let request = looks.popFirst() {
            looking += 1
            return (request, false)
        }
        return nil
    }

    /// One has ended.
    mutating func done(isChange: Bool) { if isChange { isChanging = false } else { looking -= 1 } }
}
