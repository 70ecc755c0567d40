// SPDX-License-Identifier: Apache-2.0
import CNode

/// The notes that sound, a bit for each key of each channel, the pedals that are down, and the channels whose pitch is bent,
/// as MIDI 1.0 tells them.
public struct NoteTable: BitwiseCopyable {
    /// Two words a channel.
    let keys: UnsafeMutablePointer<UInt64>
    /// What else is held, a bit a channel.
    var held = Held()

    /// Pedals that are down and pitches that are bent, a bit a channel.
    struct Held: BitwiseCopyable {
        var sustain: UInt16 = 0
        var sostenuto: UInt16 = 0
        var soft: UInt16 = 0
        var bend: UInt16 = 0
    }

    static let words = 32

    /// A table in which nothing sounds; it is released by `free`. [control]
    public static func make() -> UnsafeMutablePointer<NoteTable> {
        let keys = UnsafeMutablePointer<UInt64>.allocate(capacity: words)
        keys.initialize(repeating: 0, count: words)
        let table = UnsafeMutablePointer<NoteTable>.allocate(capacity: 1)
        table.initialize(to: NoteTable(keys: keys))
        return table
    }

    /// Releases what `make` made. [control]
    public static func free(_ table: UnsafeMutablePointer<NoteTable>) {
        table.pointee.keys.deallocate()
        table.deallocate()
    }
}

private let noteOff: UInt8 = 0x80
private let controlChange: UInt8 = 0xB0
private let sustain: UInt8 = 64
private let sostenuto: UInt8 = 66
private let soft: UInt8 = 67
private let pitchBend: UInt8 = 0xE0
/// Data bytes of a pitch that is not bent.
private let unbent: (UInt8, UInt8) = (0, 64)

extension NoteTable {
    /// Copies one table into another. [audio]
    @_noLocks
    public static func copy(_ table: UnsafeMutablePointer<NoteTable>, to other: UnsafeMutablePointer<NoteTable>) {
        for word in 0..<words { other.pointee.keys[word] = table.pointee.keys[word] }
        other.pointee.held = table.pointee.held
    }

    /// Notes what the events of a block leave sounding. [audio]
    @_noLocks
    public static func follow(_ table: UnsafeMutablePointer<NoteTable>, _ block: UnsafePointer<vg_midi>) {
        for place in 0..<Int(block.pointee.count) {
            let event = block.pointee.events[place]
            Graph.follow(table, block.pointee.bytes + Int(event.offset), event.size)
        }
    }

    /// Ends what sounds, but for what one of `others` holds too, by events at the start of a block that has none yet.
    /// Without `others` everything ends. False: the rest has to wait for the next block, as `target` is to hold no more than `room` events. [audio]
    @_noLocks
    public static func end(
        _ table: UnsafeMutablePointer<NoteTable>, but others: UnsafePointer<UnsafeMutablePointer<NoteTable>>?,
        _ count: Int, in target: UnsafeMutablePointer<vg_midi>, room: UInt32
    ) -> Bool {
        for word in 0..<NoteTable.words {
            while table.pointee.keys[word] != 0 {
                if target.pointee.count >= room { return false }
                let place = table.pointee.keys[word].trailingZeroBitCount
                let key = UInt64(1) << UInt64(place)
                table.pointee.keys[word] &= ~key
                if isHeld(others, count, word, key) { continue }
                write(target, noteOff | UInt8(word / 2), UInt8(place + (word & 1) * 64), 64)
            }
        }
        for channel in 0..<16 {
            if target.pointee.count &+ 4 > room { return false }
            let bit = UInt16(1) << UInt16(channel)
            var alive = Held()
            for other in 0..<count {
                let held = others.unsafelyUnwrapped[other].pointee.held
                alive.sustain |= held.sustain
                alive.sostenuto |= held.sostenuto
                alive.soft |= held.soft
                alive.bend |= held.bend
            }
            let held = table.pointee.held
            let control = controlChange | UInt8(channel)
            if held.sustain & ~alive.sustain & bit != 0 { write(target, control, sustain, 0) }
            if held.sostenuto & ~alive.sostenuto & bit != 0 { write(target, control, sostenuto, 0) }
            if held.soft & ~alive.soft & bit != 0 { write(target, control, soft, 0) }
            if held.bend & ~alive.bend & bit != 0 { write(target, pitchBend | UInt8(channel), unbent.0, unbent.1) }
            lift(table, bit)
            table.pointee.held.bend &= ~bit
        }
        return true
    }
}

@_noLocks
private func follow(_ table: UnsafeMutablePointer<NoteTable>, _ bytes: UnsafeMutablePointer<UInt8>, _ size: UInt32) {
    if size == 1, bytes[0] == 0xFF { return forget(table) }
    guard size == 3 else { return }
    let channel = Int(bytes[0] & 0x0F)
    let (data, value) = (bytes[1] & 0x7F, bytes[2] & 0x7F)
    let word = table.pointee.keys + (2 * channel + Int(data >> 6))
    let key = UInt64(1) << UInt64(data & 63)
    switch bytes[0] & 0xF0 {
    case 0x90 where value > 0: word.pointee |= key
    case 0x80, 0x90: word.pointee &= ~key
    case controlChange:
        let bit = UInt16(1) << UInt16(channel)
        switch data {
        case sustain: set(&table.pointee.held.sustain, bit, value >= 64)
        case sostenuto: set(&table.pointee.held.sostenuto, bit, value >= 64)
        case soft: set(&table.pointee.held.soft, bit, value >= 64)
        case 121:  // all controllers back, the pitch too
            lift(table, bit)
            table.pointee.held.bend &= ~bit
        case 120, 123...127:  // all sound off, all notes off, and what implies it
            table.pointee.keys[2 * channel] = 0
            table.pointee.keys[2 * channel + 1] = 0
        default: break
        }
    case pitchBend: set(&table.pointee.held.bend, UInt16(1) << UInt16(channel), data != unbent.0 || value != unbent.1)
    default: break
    }
}

@_noLocks
private func set(_ bits: inout UInt16, _ bit: UInt16, _ isOn: Bool) { bits = isOn ? bits | bit : bits & ~bit }

/// The pedals of a channel are up.
@_noLocks
private func lift(_ table: UnsafeMutablePointer<NoteTable>, _ bit: UInt16) {
    table.pointee.held.sustain &= ~bit
    table.pointee.held.sostenuto &= ~bit
    table.pointee.held.soft &= ~bit
}

@_noLocks
private func forget(_ table: UnsafeMutablePointer<NoteTable>) {
    for word in 0..<NoteTable.words { table.pointee.keys[word] = 0 }
    table.pointee.held = NoteTable.Held()
}

@_noLocks
private func isHeld(
    _ others: UnsafePointer<UnsafeMutablePointer<NoteTable>>?, _ count: Int, _ word: Int, _ key: UInt64
) -> Bool {
    for other in 0..<count where others.unsafelyUnwrapped[other].pointee.keys[word] & key != 0 { return true }
    return false
}

@_noLocks
private func write(_ target: UnsafeMutablePointer<vg_midi>, _ status: UInt8, _ first: UInt8, _ second: UInt8) {
    // Written in place: the compiler would take a pointer to a local variable for one to the heap.
    guard target.pointee.count < target.pointee.capacity, target.pointee.used &+ 3 <= target.pointee.byte_capacity
    else { return }
    let bytes = target.pointee.bytes + Int(target.pointee.used)
    bytes[0] = status
    bytes[1] = first
    bytes[2] = second
    target.pointee.events[Int(target.pointee.count)] = vg_midi_event(frame: 0, size: 3, offset: target.pointee.used)
    target.pointee.count += 1
    target.pointee.used += 3
}
