// SPDX-License-Identifier: Apache-2.0
import CNode
import Realtime

/// The samples of an audio input in one block, or a part of them.
public struct InputSamples: ~Copyable, ~Escapable {
    @usableFromInline let base: UnsafePointer<Float>
    /// How many there are.
    public let count: Int

    @_noLocks @usableFromInline @_lifetime(immortal) @_transparent
    init(_ base: UnsafePointer<Float>, count: Int) {
        self.base = base
        self.count = count
    }

    /// The sample of a frame. [audio]
    public subscript(frame: Int) -> Float {
        @_noLocks @_transparent get {
            assert(frame >= 0 && frame < count, "outside the block")
            return base[frame]
        }
    }

    /// Some of them. [audio]
    @_noLocks @inlinable @_unsafeNonescapableResult @_lifetime(copy self)
    public func part(_ frames: Range<Int>) -> InputSamples {
        assert(frames.lowerBound >= 0 && frames.upperBound <= count, "outside the block")
        return InputSamples(base + frames.lowerBound, count: frames.count)
    }
}

/// The samples of an audio output in one block, or a part of them, or of an `AudioArray`. An output may have those of an
/// input if the type says `VG_IN_PLACE`.
public struct OutputSamples: ~Copyable, ~Escapable {
    @usableFromInline let base: UnsafeMutablePointer<Float>
    /// How many there are.
    public let count: Int

    @_noLocks @usableFromInline @_lifetime(immortal) @_transparent
    init(_ base: UnsafeMutablePointer<Float>, count: Int) {
        self.base = base
        self.count = count
    }

    /// The sample of a frame. [audio]
    public subscript(frame: Int) -> Float {
        @_noLocks @_transparent get {
            assert(frame >= 0 && frame < count, "outside the block")
            return base[frame]
        }
        @_noLocks @_transparent nonmutating set {
            assert(frame >= 0 && frame < count, "outside the block")
            base[frame] = newValue
        }
    }

    /// Some of them. [audio]
    @_noLocks @inlinable @_unsafeNonescapableResult @_lifetime(copy self)
    public func part(_ frames: Range<Int>) -> OutputSamples {
        assert(frames.lowerBound >= 0 && frames.upperBound <= count, "outside the block")
        return OutputSamples(base + frames.lowerBound, count: frames.count)
    }

    /// What was written, to be read. [audio]
    @inlinable public var written: InputSamples {
        @_noLocks @_unsafeNonescapableResult @_lifetime(copy self) get { InputSamples(base, count: count) }
    }

    /// Whether an input has its samples in the same place. [audio]
    @_noLocks @inlinable public func isInPlace(_ input: borrowing InputSamples) -> Bool {
        UnsafePointer(base) == input.base
    }

    /// Writes zeros, also where there was no number. [audio]
    @_noLocks @inlinable public func clear() { vg_zero(base, UInt32(truncatingIfNeeded: count)) }

    /// Writes zeros to these frames. [audio]
    @_noLocks @inlinable public func clear(_ frames: Range<Int>) {
        assert(frames.lowerBound >= 0 && frames.upperBound <= count, "outside the block")
        vg_zero(base + frames.lowerBound, UInt32(truncatingIfNeeded: frames.count))
    }

    /// Writes what an input has, unless it is there already; there are as many. [audio]
    @_noLocks @inlinable public func copy(_ input: borrowing InputSamples) {
        assert(input.count == count, "another number of frames")
        if !isInPlace(input) { vg_copy(base, input.base, UInt32(truncatingIfNeeded: count)) }
    }

    /// Writes these frames of an input, unless they are there already. [audio]
    @_noLocks @inlinable public func copy(_ input: borrowing InputSamples, _ frames: Range<Int>) {
        assert(frames.lowerBound >= 0 && frames.upperBound <= count, "outside the block")
        assert(frames.upperBound <= input.count, "outside the input")
        if isInPlace(input) { return }
        let start = frames.lowerBound
        vg_copy(base + start, input.base + start, UInt32(truncatingIfNeeded: frames.count))
    }

    /// Writes the sum of `weights[k] * samples[frame + k]` over all weights to each frame, added up in this order, in vectors:
    /// a filter with a finite response, the oldest sample's weight first. `samples` is other memory, and as long as this and
    /// the weights together, less one. [audio]
    @_noLocks public func convolve(_ samples: borrowing InputSamples, with weights: AudioArray<Float>) {
        assert(samples.count == count + weights.count - 1, "another number of samples")
        vg_convolve(
            samples.base, weights.base, UInt32(truncatingIfNeeded: weights.count), base,
            UInt32(truncatingIfNeeded: count))
    }

    /// Writes samples behind a chain of filters of second order: `vg_sections`. The two may be the same buffer. [audio]
    @_noLocks package func filter(
        _ samples: borrowing InputSamples, sections: Int, values: AudioArray<Double>, states: AudioArray<Double>
    ) {
        assert(samples.count == count, "another number of frames")
        assert(values.count >= 6 * sections && states.count >= 2 * sections, "more sections than there are numbers of")
        vg_sections(
            values.base, states.base, UInt32(truncatingIfNeeded: sections), samples.base, base,
            UInt32(truncatingIfNeeded: count))
    }
}
