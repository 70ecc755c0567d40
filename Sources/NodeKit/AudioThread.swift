// SPDX-License-Identifier: Apache-2.0
import CNode

/// The processor's memory as C passes it; an audio half has it as `inout Processor`.
public typealias ProcessorMemory = UnsafeMutableRawPointer
/// A node's connections in this block.
public typealias BlockIO = UnsafePointer<vg_io>
/// This block's length and time.
public typealias Cycle = UnsafePointer<vg_cycle>

/// The curve of every fade, from 0 at 0 to 1 at 1, with a slope of 0 at both ends: of a fade of 10 ms nothing above 2 kHz is
/// louder than -88 dB. What rises and what falls add up to 1. [audio]
@_noLocks
public func raisedCosine(_ part: Double) -> Double { 0.5 - 0.5 * vg_cos64(part * .pi) }

extension UnsafePointer where Pointee == vg_cycle {
    /// Frames in this block.
    @inlinable public var frames: Int { Int(pointee.frames) }
    /// Whether time is driven by the caller.
    @inlinable public var isOffline: Bool { pointee.flags & UInt32(VG_CYCLE_OFFLINE) != 0 }
    /// Whether the server goes as fast as it can and waits for its programs.
    @inlinable public var isFreewheeling: Bool {
        @_noLocks get { pointee.flags & UInt32(VG_CYCLE_FREEWHEEL) != 0 }
    }
}

extension UnsafePointer where Pointee == vg_io {
    /// Audio input ports.
    @inlinable public var inputCount: Int { Int(pointee.audio_in_count) }
    /// Audio output ports.
    @inlinable public var outputCount: Int { Int(pointee.audio_out_count) }

    /// The samples of audio input `index`: one block. [audio]
    @inlinable public func input(_ index: Int) -> UnsafePointer<Float> {
        UnsafePointer<Float>(pointee.audio_in[index].unsafelyUnwrapped)
    }

    /// Where to write audio output `index`: one block. [audio]
    @inlinable public func output(_ index: Int) -> UnsafeMutablePointer<Float> {
        pointee.audio_out[index].unsafelyUnwrapped
    }

    /// Whether input `index` is known to be all zeros. [audio]
    @inlinable public func isSilent(input index: Int) -> Bool {
        pointee.audio_in_silent[index].unsafelyUnwrapped.pointee != 0
    }

    /// Tells that output `index` was written with zeros only. [audio]
    @inlinable public func markSilent(output index: Int) {
        pointee.audio_out_silent[index].unsafelyUnwrapped.pointee = 1
    }

    /// The value of control input `index`. [audio]
    @inlinable public func control(_ index: Int) -> Float { pointee.control_in[index].unsafelyUnwrapped.pointee }

    /// Sets control output `index`. [audio]
    @inlinable public func setControl(_ index: Int, _ value: Float) {
        pointee.control_out[index].unsafelyUnwrapped.pointee = value
    }

    /// The events of MIDI input `index`. [audio]
    @inlinable public func midiInput(_ index: Int) -> UnsafePointer<vg_midi> {
        UnsafePointer<vg_midi>(pointee.midi_in[index].unsafelyUnwrapped)
    }

    /// Where to write MIDI output `index`. [audio]
    @inlinable public func midiOutput(_ index: Int) -> UnsafeMutablePointer<vg_midi> {
        pointee.midi_out[index].unsafelyUnwrapped
    }

    /// Parameter `index` in this block. [audio]
    @inlinable public func parameter(_ index: Int) -> UnsafePointer<vg_ramp> { pointee.parameters + index }
}

extension UnsafePointer where Pointee == vg_ramp {
    /// Whether the parameter holds still in this block.
    @inlinable public var isSteady: Bool { pointee.frames == 0 }
    /// The value after this block's ramp, if any.
    @inlinable public var target: Float { pointee.target }

    /// The value at frame `index`. [audio]
    @inlinable public subscript(frame index: Int) -> Float { vg_ramp_at(self, UInt32(truncatingIfNeeded: index)) }
}
