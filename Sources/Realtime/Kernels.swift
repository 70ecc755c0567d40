// SPDX-License-Identifier: Apache-2.0

typealias Lanes = SIMD16<Float>

@_noLocks @inline(__always)
func lanes(_ samples: UnsafePointer<Float>, _ frame: Int) -> Lanes {
    UnsafeRawPointer(samples + frame).loadUnaligned(as: Lanes.self)
}

@_noLocks @inline(__always)
func store(_ lanes: Lanes, _ samples: UnsafeMutablePointer<Float>, _ frame: Int) {
    UnsafeMutableRawPointer(samples + frame).storeBytes(of: lanes, as: Lanes.self)
}

/// The arithmetic that nodes share, sixteen samples at a time.
///
/// Every function takes any number of frames including 0, at any address a Float may have. `out` and `input` may be the
/// same buffer, but must not overlap otherwise. A NaN goes through as a NaN.
public enum DSP {
    /// `out = input * gain`. [audio]
    @_noLocks
    public static func scale(
        _ out: UnsafeMutablePointer<Float>, _ input: UnsafePointer<Float>, gain: Float, frames: Int
    ) {
        var frame = 0
        while frame &+ 16 <= frames {
            store(lanes(input, frame) * gain, out, frame)
            frame &+= 16
        }
        while frame < frames {
            out[frame] = input[frame] * gain
            frame &+= 1
        }
    }

    /// `out += input`. [audio]
    @_noLocks
    public static func add(_ out: UnsafeMutablePointer<Float>, _ input: UnsafePointer<Float>, frames: Int) {
        var frame = 0
        while frame &+ 16 <= frames {
            store(lanes(out, frame) + lanes(input, frame), out, frame)
            frame &+= 16
        }
        while frame < frames {
            out[frame] += input[frame]
            frame &+= 1
        }
    }

    /// `out += input * gain`. [audio]
    @_noLocks
    public static func mixAdd(
        _ out: UnsafeMutablePointer<Float>, _ input: UnsafePointer<Float>, gain: Float, frames: Int
    ) {
        var frame = 0
        while frame &+ 16 <= frames {
            store(lanes(out, frame) + lanes(input, frame) * gain, out, frame)
            frame &+= 16
        }
        while frame < frames {
            out[frame] += input[frame] * gain
            frame &+= 1
        }
    }

    /// `out[i] = input[i] * (gain + i * step)`: a linear ramp. Each gain is computed from its index, so that a ramp cut
    /// into blocks drifts by no more than rounding. [audio]
    @_noLocks
    public static func scaleRamp(
        _ out: UnsafeMutablePointer<Float>, _ input: UnsafePointer<Float>, gain: Float, step: Float, frames: Int
    ) {
        var frame = 0
        let offsets = Lanes(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        while frame &+ 16 <= frames {
            let gains = (offsets + Float(frame)) * step + gain
            store(lanes(input, frame) * gains, out, frame)
            frame &+= 16
        }
        while frame < frames {
            out[frame] = input[frame] * (Float(frame) * step + gain)
            frame &+= 1
        }
    }

    /// `out[i] += input[i] * (gain + i * step)`: mixes with a linear ramp. [audio]
    @_noLocks
    public static func mixAddRamp(
        _ out: UnsafeMutablePointer<Float>, _ input: UnsafePointer<Float>, gain: Float, step: Float, frames: Int
    ) {
        var frame = 0
        let offsets = Lanes(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        while frame &+ 16 <= frames {
            let gains = (offsets + Float(frame)) * step + gain
            store(lanes(out, frame) + lanes(input, frame) * gains, out, frame)
            frame &+= 16
        }
        while frame < frames {
            out[frame] += input[frame] * (Float(frame) * step + gain)
            frame &+= 1
        }
    }

    /// Whether every sample is zero, of either sign. Neither a NaN nor a denormal is. [audio]
    @_noLocks
    public static func isZero(_ samples: UnsafePointer<Float>, frames: Int) -> Bool {
        var frame = 0
        // By bits, because a thread with denormals off takes them for zeros. 0 and -0 differ in the sign bit only.
        while frame &+ 16 <= frames {
            let bits = unsafeBitCast(lanes(samples, frame), to: SIMD16<UInt32>.self) &<< 1
            if bits != SIMD16<UInt32>(repeating: 0) { return false }
            frame &+= 16
        }
        while frame < frames {
            if samples[frame].bitPattern &<< 1 != 0 { return false }
            frame &+= 1
        }
        return true
    }
}
