// SPDX-License-Identifier: Apache-2.0
import Realtime
import Synchronization

/// What the audio thread tells its own control side about one isolated node: memory of this process only.
struct LinkState: ~Copyable {
    /// Blocks that were asked of the child.
    let asked = Atomic<UInt64>(0)
    /// Waits for the child that ended without an answer.
    let timeouts = Atomic<UInt64>(0)
    /// Blocks that went past the child.
    let bypassed = Atomic<UInt64>(0)
    /// The longest wait, in nanoseconds.
    let longestWait = Atomic<UInt64>(0)
    /// When the block that the child owes was given up, in nanoseconds; 0: it owes none.
    let missedSince = Atomic<UInt64>(0)
    /// Whether the child gave a sample that is no number.
    let gaveNonsense = Atomic<Bool>(false)
    /// The kernel's id of the audio thread; 0: it has not run this node yet.
    let audioThread = Atomic<Int32>(0)

    /// Counts; only the audio thread writes these. [audio]
    @_noLocks @inline(__always)
    static func add(_ counter: borrowing Atomic<UInt64>) {
        counter.store(counter.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }
}

/// How long the audio thread has waited in vain in the current block, for all isolated nodes of this process together,
/// so that several nodes that fail in one block do not add up to a dropout.
struct WaitBudget: ~Copyable {
    /// The lower half of the block's `vg_cycle.position` << 32 | nanoseconds waited in vain in it: several threads may
    /// run parts of a block.
    private let state = Atomic<UInt64>(0)

    /// Nanoseconds waited in vain in the block at `position`. [audio]
    @_noLocks
    func spent(_ position: UInt64) -> UInt64 {
        let seen = state.load(ordering: .relaxed)
        return seen >> 32 == position & 0xffff_ffff ? seen & 0xffff_ffff : 0
    }

    /// Counts a wait in vain in the block at `position`. [audio]
    @_noLocks
    func add(_ waited: UInt64, _ position: UInt64) {
        var seen = state.load(ordering: .relaxed)
        while true {
            let before = seen >> 32 == position & 0xffff_ffff ? seen & 0xffff_ffff : 0
            let sum = before &+ waited > 0xffff_ffff ? 0xffff_ffff : before &+ waited
            let (done, found) = state.compareExchange(
                expected: seen, desired: position << 32 | sum, ordering: .relaxed)
            if done { return }
            seen = found
        }
    }

    /// The one of this process.
    static let shared = Shared()

    struct Shared: @unchecked Sendable {
        // Sendable: what it points to is atomic and never freed.
        let pointer: UnsafeMutablePointer<WaitBudget>
        init() {
            pointer = .allocate(capacity: 1)
            pointer.initialize(to: WaitBudget())
        }
    }
}
