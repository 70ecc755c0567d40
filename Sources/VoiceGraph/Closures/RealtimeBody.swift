// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What a closure of the program does with a block, and what it keeps from block to block.
final class RealtimeBody: Sendable {
    let process: @Sendable (_ state: UnsafeMutableRawPointer, _ block: borrowing Block) -> Void
    /// Writes what it begins with.
    let begin: @Sendable (_ state: UnsafeMutableRawPointer) -> Void
    /// Bytes of what it keeps.
    let size: Int
    let alignment: Int

    /// `initial` is copied into memory of the node's own, at each beginning.
    init<State: BitwiseCopyable & Sendable>(
        _ initial: State, _ body: @escaping @Sendable (inout State, borrowing Block) -> Void
    ) {
        process = { memory, block in body(&memory.assumingMemoryBound(to: State.self).pointee, block) }
        begin = { $0.initializeMemory(as: State.self, to: initial) }
        size = max(1, MemoryLayout<State>.size)
        alignment = MemoryLayout<State>.alignment
    }

    init(_ body: @escaping @Sendable (borrowing Block) -> Void) {
        process = { body($1) }
        begin = { _ in }
        (size, alignment) = (1, 1)
    }
}

/// What the audio thread has of it. The node keeps both alive, so that nothing is counted here.
struct BodyProcessor: BitwiseCopyable {
    let body: Unmanaged<RealtimeBody>
    let state: UnsafeMutableRawPointer
    /// Whether what comes in goes on as it is.
    let passes: Bool

    /// One block. [audio]
    @_noLocks
    func process(_ block: borrowing Block) {
        call(block)
        if passes { block.pass() }
    }

    /// The compiler cannot know what a closure does, and takes no note of this function; a test looks at what it makes of it.
    @_semantics("no_performance_analysis")
    private func call(_ block: borrowing Block) {
        body._withUnsafeGuaranteedRef { $0.process(state, block) }
    }
}
