// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Synchronization

/// Where the delay's time comes from: its parameter in milliseconds, or its setting in frames.
struct DelayClock: BitwiseCopyable {
    /// Frames in a millisecond.
    private let scale: Double
    /// In frames.
    private let longest: Double
    /// The setting in frames; nil: the parameter counts.
    private let frames: SharedCell<Atomic<Int>>?
    /// The parameter's newest value; NaN before the first block.
    private var value = Float.nan
    /// In this block: frames before the parameter moves.
    private var before = 0
    /// In frames: until then, and after that, where the parameter goes.
    private var old = 0.0, new = 0.0

    init(rate: Double, longest: Double, frames: SharedCell<Atomic<Int>>?) {
        scale = rate / 1000
        self.longest = longest
        self.frames = frames
    }

    /// Looks at a block. Whether the time is the same throughout. [audio]
    @_noLocks
    mutating func begin(_ block: borrowing Block, _ count: Int) -> Bool {
        if let frames {
            new = Double(frames.value.load(ordering: .relaxed))
            old = new
            before = 0
            return true
        }
        let ramp = block.parameter(0)
        old = value.isNaN ? inFrames(ramp[0]) : new
        if value.isNaN { value = ramp[0] }
        // The first frame at which it is another value than before: the same frame, however the signal is cut.
        before = 0
        while before < count, ramp[before] == value {
            if ramp.isSteady { before = count - 1 }
            before += 1
        }
        if before < count { new = inFrames(ramp.target) } else { new = old }
        value = ramp[count - 1]
        return ramp.isSteady
    }

    /// Where it is to go, in frames, as known at a frame of this block. [audio]
    @_noLocks
    func target(_ frame: Int) -> Double { frame < before ? old : new }

    /// The first frame of this block, from `frame` on, with another target; or `count`. [audio]
    @_noLocks
    func nextChange(_ frame: Int, _ count: Int) -> Int { frame < before && before < count ? before : count }

    /// Where it is just now, in frames. [audio]
    @_noLocks
    func place(_ block: borrowing Block, _ frame: Int) -> Double {
        frames != nil ? new : inFrames(block.parameter(0)[frame])
    }

    /// A time in frames. One that is as near to a whole number as a Float in milliseconds can tell, or a thousandth, is
    /// that number.
    @_noLocks
    private func inFrames(_ milliseconds: Float) -> Double {
        let frames = Double(milliseconds) * scale
        guard frames > 0 else { return 0 }  // nor NaN
        if frames >= longest { return longest }
        let whole = vg_floor64(frames + 0.5)
        let error = frames - whole
        return (error < 0 ? -error : error) <= max(0.001, frames / 16_777_216) ? whole : frames
    }
}

/// A time that follows its target like the tape of a machine whose head is moved: critically damped, with a time
/// constant of 20 ms, and never so fast that the sound runs faster or slower than by `bend`.
struct Glide: BitwiseCopyable {
    /// In frames.
    private(set) var place = 0.0
    /// In frames per frame.
    private var speed = 0.0
    private let bend: Double
    /// One over the time constant, in frames.
    private let pull: Double

    init(rate: Double, bend: Double) {
        self.bend = bend
        pull = 1 / (0.02 * rate)
    }

    /// Begins at a time. [audio]
    @_noLocks
    mutating func begin(at place: Double) {
        self.place = place
        speed = 0
    }

    /// Whether it has arrived. [audio]
    @_noLocks
    func rests(at target: Double) -> Bool { place == target && speed == 0 }

    /// Goes on by a frame. Whether it moved. [audio]
    @_noLocks
    mutating func follow(_ target: Double) -> Bool {
        if rests(at: target) { return false }
        let distance = target - place
        speed += (distance * pull - 2 * speed) * pull
        speed = min(max(speed, -bend), bend)
        place += speed
        let left = target - place
        if left < 1e-6, left > -1e-6, speed < 1e-6, speed > -1e-6 { begin(at: target) }
        return true
    }
}
