// SPDX-License-Identifier: Apache-2.0
import System

/// A value that both halves of a node look at: an atomic, or a structure of atomics. It has memory of its own for as long as
/// this object lives, which must be as long as the processor is used: keep it in a property of the node.
public final class Shared<Value: ~Copyable & Sendable>: @unchecked Sendable {
    // Sendable: the memory does not move, and what is in it is.

    /// For the processor.
    public let cell: SharedCell<Value>

    /// Keeps a value. [control]
    public init(_ value: consuming Value) {
        let base = AudioMemory.make(Value.self)
        base.initialize(to: value)
        cell = SharedCell(base)
    }

    deinit {
        cell.base.deinitialize(count: 1)
        AudioMemory.free(cell.base)
    }

    /// The value, where it is. [any]
    public var value: Value {
        unsafeAddress { UnsafePointer(cell.base) }
    }
}

/// The same for a processor; it counts no references.
public struct SharedCell<Value: ~Copyable & Sendable>: BitwiseCopyable, @unchecked Sendable {
    // Sendable: what it points to is.

    @usableFromInline let base: UnsafeMutablePointer<Value>

    init(_ base: UnsafeMutablePointer<Value>) { self.base = base }

    /// The value, where it is. [any]
    public var value: Value {
        @_noLocks @_transparent unsafeAddress { UnsafePointer(base) }
    }
}
