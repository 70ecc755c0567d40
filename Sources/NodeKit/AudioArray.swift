// SPDX-License-Identifier: Apache-2.0
import System

/// Numbers, or other plain data, that a processor works on from block to block: a delay line, states of filters. It counts
/// no references: what it points to belongs to an `AudioArrayMemory` of the control half, which must live as long as the
/// processor is used. Builds for debugging check every index.
public struct AudioArray<Element: BitwiseCopyable>: BitwiseCopyable {
    @usableFromInline let base: UnsafeMutablePointer<Element>
    /// How many there are.
    public let count: Int

    /// Memory that belongs to somebody else. [any]
    @inlinable public init(_ base: UnsafeMutablePointer<Element>, count: Int) {
        self.base = base
        self.count = count
    }

    /// The element at a place; it can be changed where it is. [audio]
    public subscript(index: Int) -> Element {
        @_transparent unsafeAddress {
            assert(index >= 0 && index < count, "outside the array")
            return UnsafePointer(base + index)
        }
        @_transparent nonmutating unsafeMutableAddress {
            assert(index >= 0 && index < count, "outside the array")
            return base + index
        }
    }

    /// Its memory, for a library in C. [any]
    @inlinable public var pointer: UnsafeMutablePointer<Element> { base }

    /// A part of it. [any]
    @inlinable public func part(_ range: Range<Int>) -> AudioArray {
        assert(range.lowerBound >= 0 && range.upperBound <= count, "outside the array")
        return AudioArray(base + range.lowerBound, count: range.count)
    }
}

extension AudioArray where Element == Float {
    /// Some of it, to be read and written as a block is, as long as the array has its memory. [audio]
    @inlinable @_lifetime(immortal)
    public func samples(_ range: Range<Int>) -> OutputSamples {
        assert(range.lowerBound >= 0 && range.upperBound <= count, "outside the array")
        return OutputSamples(base + range.lowerBound, count: range.count)
    }
}

/// Memory of an `AudioArray`, for as long as this object lives: keep it in a property of the node. [control]
public final class AudioArrayMemory<Element: BitwiseCopyable> {
    /// For the processor.
    public let array: AudioArray<Element>

    /// So many elements with one value.
    public init(repeating value: Element, count: Int) {
        array = AudioArray(AudioMemory.make(count: count), count: count)
        array.base.initialize(repeating: value, count: count)
    }

    /// These elements.
    public init(_ elements: [Element]) {
        array = AudioArray(AudioMemory.make(count: elements.count), count: elements.count)
        for (index, element) in elements.enumerated() { (array.base + index).initialize(to: element) }
    }

    /// Gives all elements one value; no processor may be at work. [control]
    public func fill(_ value: Element) { array.base.update(repeating: value, count: array.count) }

    /// Gives it as many values; no processor may be at work. [control]
    public func fill(_ values: [Element]) {
        precondition(values.count == array.count)
        for (index, value) in values.enumerated() { array.base[index] = value }
    }

    deinit { AudioMemory.free(array.base, count: array.count) }
}
