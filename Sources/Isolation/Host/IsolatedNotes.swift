// SPDX-License-Identifier: Apache-2.0
import CNode
import Graph
import NodeKit

/// The notes that sound through the MIDI ports of an isolated node, so that none hangs when blocks go past the child:
/// the host ends the notes that the child began, and when the child has a block again it is told which notes ended
/// meanwhile.
struct IsolatedNotes: BitwiseCopyable {
    /// What is known of one MIDI input.
    struct Input: BitwiseCopyable {
        /// The notes that sound by all events that came, and by those that the child has been given.
        let came, given: UnsafeMutablePointer<NoteTable>
        /// The table of notes that are not ended when `given` is: `came`.
        let live: UnsafeMutablePointer<UnsafeMutablePointer<NoteTable>>
        /// The shared events as a buffer to write to.
        let events: UnsafeMutablePointer<vg_midi>
    }

    private let inputs: UnsafeMutablePointer<Input>
    private let outputs: UnsafeMutablePointer<UnsafeMutablePointer<NoteTable>>
    private let inputCount, outputCount: Int
    /// Whether there were blocks of which the child knows nothing.
    private var hasMissed = false

    /// To be released by `free`. [control]
    init(_ block: SharedBlock, inputs inputCount: Int, outputs outputCount: Int) {
        self.inputCount = inputCount
        self.outputCount = outputCount
        inputs = .allocate(capacity: max(1, inputCount))
        outputs = .allocate(capacity: max(1, outputCount))
        for index in 0..<inputCount {
            let shared = block.midiInput(index)
            let events = UnsafeMutablePointer<vg_midi>.allocate(capacity: 1)
            events.initialize(
                to: vg_midi(
                    count: 0, capacity: UInt32(SharedBlock.midiEvents), used: 0,
                    byte_capacity: UInt32(SharedBlock.midiBytes), dropped: 0, events: shared.events,
                    bytes: shared.bytes))
            let input = Input(
                came: NoteTable.make(), given: NoteTable.make(), live: .allocate(capacity: 1), events: events)
            input.live.initialize(to: input.came)
            (inputs + index).initialize(to: input)
        }
        for index in 0..<outputCount { (outputs + index).initialize(to: NoteTable.make()) }
    }

    /// After the last block. [control]
    func free() {
        for index in 0..<inputCount {
            NoteTable.free(inputs[index].came)
            NoteTable.free(inputs[index].given)
            inputs[index].live.deallocate()
            inputs[index].events.deallocate()
        }
        for index in 0..<outputCount { NoteTable.free(outputs[index]) }
        inputs.deallocate()
        outputs.deallocate()
    }

    /// Lays out the events for the child; first the ends of notes that ended while blocks went past it. [audio]
    @_noLocks
    mutating func give(_ io: BlockIO, _ block: SharedBlock) {
        var isLate = false
        for index in 0..<inputCount {
            let input = inputs + index
            let events = input.pointee.events
            let source = io.pointee.midi_in[index].unsafelyUnwrapped
            events.pointee.count = 0
            events.pointee.used = 0
            if hasMissed {
                if NoteTable.end(
                    input.pointee.given, but: input.pointee.live, 1, in: events, room: events.pointee.capacity / 2)
                {
                    NoteTable.copy(input.pointee.came, to: input.pointee.given)
                } else {
                    isLate = true
                }
            }
            for place in 0..<Int(source.pointee.count) {
                let event = source.pointee.events[place]
                if !vg_midi_write(events, event.frame, source.pointee.bytes + Int(event.offset), event.size) {
                    source.pointee.dropped &+= 1
                }
            }
            NoteTable.follow(input.pointee.came, source)
            NoteTable.follow(input.pointee.given, source)
            block.midiInput(index).numbers[0] = events.pointee.count
            block.midiInput(index).numbers[1] = events.pointee.used
        }
        hasMissed = isLate
    }

    /// Passes on what the child gave. [audio]
    @_noLocks
    func take(_ io: BlockIO, _ block: SharedBlock, frames: UInt32) {
        for index in 0..<outputCount {
            let target = io.midiOutput(index)
            block.midiOutput(index).give(target, frames: frames)
            NoteTable.follow(outputs[index], target)
        }
    }

    /// Handles a block for which the child gives nothing, and of which it knows nothing unless it `wasAsked`: the notes
    /// that the child began end. [audio]
    @_noLocks
    mutating func pass(_ io: BlockIO, wasAsked: Bool) {
        for index in 0..<outputCount {
            let target = io.midiOutput(index)
            _ = NoteTable.end(outputs[index], but: outputs, 0, in: target, room: target.pointee.capacity)
        }
        if wasAsked { return }
        for index in 0..<inputCount {
            NoteTable.follow(inputs[index].came, io.pointee.midi_in[index].unsafelyUnwrapped)
        }
        hasMissed = true
    }
}
