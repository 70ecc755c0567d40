// SPDX-License-Identifier: Apache-2.0
import CNode
import Realtime

/// What a node's audio half sees of one block: its samples, parameters and time. It cannot be kept, nor can anything that it
/// gives, so that nothing of one block is touched in another. Builds for debugging check the places of samples, channels and
/// MIDI events.
public struct Block: ~Copyable, ~Escapable {
    @usableFromInline let io: UnsafePointer<vg_io>
    @usableFromInline let cycle: UnsafePointer<vg_cycle>

    /// What the host passes; both are valid for this call of a processor. [audio]
    @inlinable @_lifetime(immortal)
    public init(_ io: BlockIO, _ cycle: Cycle) {
        self.io = io
        self.cycle = cycle
    }

    /// How long it is.
    @inlinable public var frames: Int { @_noLocks get { Int(cycle.pointee.frames) } }
    /// Frames per second, in Hz.
    @inlinable public var rate: Double { @_noLocks get { cycle.pointee.rate } }
    /// Frames that were processed before this block: never jumps.
    @inlinable public var position: UInt64 { @_noLocks get { cycle.pointee.position } }
    /// Whether the caller drives time, so that quality goes before speed.
    @inlinable public var isOffline: Bool { @_noLocks get { cycle.pointee.flags & UInt32(VG_CYCLE_OFFLINE) != 0 } }
    /// Whether the server goes as fast as it can and waits for its programs.
    @inlinable public var isFreewheeling: Bool {
        @_noLocks get { cycle.pointee.flags & UInt32(VG_CYCLE_FREEWHEEL) != 0 }
    }

    /// Frames of the driver's time that were lost just before this block, because somebody was too late.
    @inlinable public var skipped: Int { @_noLocks get { Int(cycle.pointee.skipped) } }

    /// Where the transport is, at the first frame.
    @inlinable public var transport: vg_transport { @_noLocks get { cycle.pointee.transport } }

    /// The audio input ports.
    @inlinable public var inputs: Range<Int> { @_noLocks get { 0..<Int(io.pointee.audio_in_count) } }
    /// The audio output ports.
    @inlinable public var outputs: Range<Int> { @_noLocks get { 0..<Int(io.pointee.audio_out_count) } }

    /// The samples of an audio input; zeros if nothing is linked to it. [audio]
    @_noLocks @inlinable @_unsafeNonescapableResult @_lifetime(borrow self)
    public func input(_ index: Int) -> InputSamples {
        assert(inputs.contains(index), "no such audio input")
        return InputSamples(UnsafePointer(io.pointee.audio_in[index].unsafelyUnwrapped), count: frames)
    }

    /// Where to write the samples of an audio output. [audio]
    @_noLocks @inlinable @_unsafeNonescapableResult @_lifetime(borrow self)
    public func output(_ index: Int) -> OutputSamples {
        assert(outputs.contains(index), "no such audio output")
        return OutputSamples(io.pointee.audio_out[index].unsafelyUnwrapped, count: frames)
    }

    /// Whether an input is known to be all zeros. [audio]
    @_noLocks @inlinable public func isSilent(_ input: Int) -> Bool {
        assert(inputs.contains(input), "no such audio input")
        return io.pointee.audio_in_silent[input].unsafelyUnwrapped.pointee != 0
    }

    /// Whether these inputs are known to be all zeros. [audio]
    @_noLocks @inlinable public func isSilent(_ inputs: Range<Int>) -> Bool {
        for input in inputs where !isSilent(input) { return false }
        return true
    }

    /// Tells that an output was written with zeros only, so that whoever listens may rest. [audio]
    @_noLocks @inlinable public func markSilent(_ output: Int) {
        assert(outputs.contains(output), "no such audio output")
        io.pointee.audio_out_silent[output].unsafelyUnwrapped.pointee = 1
    }

    /// Writes zeros to all outputs, and says so. [audio]
    @_noLocks @inlinable public func silence() {
        for channel in outputs {
            output(channel).clear()
            markSilent(channel)
        }
    }

    /// Writes an input to an output, unless they are one. [audio]
    @_noLocks @inlinable public func pass(_ input: Int, to output: Int) {
        self.output(output).copy(self.input(input))
        if isSilent(input) { markSilent(output) }
    }

    /// Writes each input to the output of the same number, unless they are one. [audio]
    @_noLocks @inlinable public func pass() { for channel in outputs { pass(channel, to: channel) } }

    /// A parameter. [audio]
    @inlinable public subscript(parameter: some ParameterList) -> Ramp {
        @_unsafeNonescapableResult @_lifetime(borrow self) get { self.parameter(parameter.rawValue) }
    }

    /// A parameter by its place in the layout. [audio]
    @_noLocks @inlinable @_unsafeNonescapableResult @_lifetime(borrow self)
    public func parameter(_ index: Int) -> Ramp { Ramp(io.pointee.parameters + index) }

    /// Whether any of the first `count` parameters moves in this block. [audio]
    @_noLocks @inlinable public func moves(parameters count: Int) -> Bool {
        for index in 0..<count where io.pointee.parameters[index].frames != 0 { return true }
        return false
    }

    /// The value of a control input. [audio]
    @_noLocks @inlinable public func control(_ index: Int) -> Float {
        io.pointee.control_in[index].unsafelyUnwrapped.pointee
    }

    /// Sets a control output. [audio]
    @_noLocks @inlinable public func setControl(_ index: Int, _ value: Float) {
        io.pointee.control_out[index].unsafelyUnwrapped.pointee = value
    }

    /// The events of a MIDI input. [audio]
    @_noLocks @inlinable @_unsafeNonescapableResult @_lifetime(borrow self)
    public func midiInput(_ index: Int) -> MIDIEvents {
        MIDIEvents(UnsafePointer(io.pointee.midi_in[index].unsafelyUnwrapped))
    }

    /// Writes a line of the log, at a frame of this block; `value` stands for what the text has in parentheses. False: there
    /// was no room, and the loss is counted. [audio]
    @discardableResult
    @_noLocks @inlinable public func log(_ text: StaticString, _ value: Double, frame: Int = 0) -> Bool {
        let position = position &+ UInt64(truncatingIfNeeded: frame)
        let characters = UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
        return vg_notice_push(io, VG_NOTICE_LOG, characters, value, position)
    }
}

/// A parameter in one block; see `vg_ramp`.
public struct Ramp: ~Copyable, ~Escapable {
    @usableFromInline let ramp: UnsafePointer<vg_ramp>

    @_noLocks @usableFromInline @_lifetime(immortal) @_transparent
    init(_ ramp: UnsafePointer<vg_ramp>) { self.ramp = ramp }

    /// Whether the parameter holds still in this block.
    @inlinable public var isSteady: Bool { @_noLocks get { ramp.pointee.frames == 0 } }
    /// The value before it moves; of a trigger that was set what it was set to, throughout the block.
    @inlinable public var value: Float { @_noLocks get { ramp.pointee.value } }
    /// What is added to it from frame to frame while it moves.
    @inlinable public var step: Float { @_noLocks get { ramp.pointee.step } }
    /// The value at which its movement ends, in this block or in a later one; of a trigger its default.
    @inlinable public var target: Float { @_noLocks get { ramp.pointee.target } }
    /// The frame of this block at which it begins to move.
    @inlinable public var start: Int { @_noLocks get { Int(ramp.pointee.start) } }
    /// Frames of the movement that are left from `start` on, also in later blocks; of a trigger that was set as many as there
    /// can be.
    @inlinable public var remaining: Int { @_noLocks get { Int(ramp.pointee.frames) } }
    /// The frame of this block at which it has ended to move; beyond the block if it goes on.
    @inlinable public var end: Int { @_noLocks get { start + remaining } }
    /// Frames that the movement takes in all; 0: it follows a control, or there is none.
    @inlinable public var length: Int { @_noLocks get { Int(ramp.pointee.length) } }

    /// The value at a frame of the block. [audio]
    @inlinable public subscript(frame: Int) -> Float {
        @_noLocks get { vg_ramp_at(ramp, UInt32(truncatingIfNeeded: frame)) }
    }
}

/// The MIDI events of one input in one block, by their frames.
public struct MIDIEvents: ~Copyable, ~Escapable {
    @usableFromInline let midi: UnsafePointer<vg_midi>

    @_noLocks @usableFromInline @_lifetime(immortal) @_transparent
    init(_ midi: UnsafePointer<vg_midi>) { self.midi = midi }

    /// How many there are.
    @inlinable public var count: Int { @_noLocks get { Int(midi.pointee.count) } }

    /// The frame of the block to which an event belongs. [audio]
    @_noLocks @inlinable public func frame(_ event: Int) -> Int { Int(self.event(event).frame) }
    /// How many bytes an event has. [audio]
    @_noLocks @inlinable public func size(_ event: Int) -> Int { Int(self.event(event).size) }
    /// A byte of an event. [audio]
    @_noLocks @inlinable public func byte(_ event: Int, _ place: Int) -> UInt8 {
        assert(place >= 0 && place < size(event), "outside the event")
        return midi.pointee.bytes[Int(self.event(event).offset) + place]
    }

    @_noLocks @usableFromInline func event(_ index: Int) -> vg_midi_event {
        assert(index >= 0 && index < count, "no such event")
        return midi.pointee.events[index]
    }
}

extension LevelMeter {
    /// Takes the audio inputs of a block. [audio]
    @_noLocks
    public mutating func feed(_ block: borrowing Block) {
        // Nothing to look at in silence, but time goes on.
        let samples = block.isSilent(block.inputs) ? nil : block.io.pointee.audio_in
        feed(samples, count: block.inputs.count, frames: block.frames, position: block.position)
    }
}
