// SPDX-License-Identifier: Apache-2.0
import CNode

/// The notes that sound, a bit for each key of each channel, and the pedals that are down, as MIDI 1.0 tells them.
public struct NoteTable: BitwiseCopyable {
    /// Two words a channel.
    let keys: UnsafeMutablePointer<UInt64>
    /// Sustain and sostenuto, a bit a channel.
    var pedals: (UInt16, UInt16) = (0, 0)

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

extension NoteTable {
    /// Copies one table into another. [audio]
    @_noLocks
    public static func copy(_ table: UnsafeMutablePointer<NoteTable>, to other: UnsafeMutablePointer<NoteTable>) {
        for word in 0..<words { other.pointee.keys[word] = table.pointee.keys[word] }
        other.pointee.pedals = table.pointee.pedals
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
    /// False: the rest has to wait for the next block, as `target` is to hold no more than `room` events. [audio]
    @_noLocks
    public static func end(
        _ table: UnsafeMutablePointer<NoteTable>, but others: UnsafePointer<UnsafeMutablePointer<NoteTable>>,
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
            if target.pointee.count &+ 2 > room { return false }
            let bit = UInt16(1) << UInt16(channel)
            var held: (UInt16, UInt16) = (0, 0)
            for other in 0..<count {
                held.0 |= others[other].pointee.pedals.0
                held.1 |= others[other].pointee.pedals.1
            }
            if table.pointee.pedals.0 & ~held.0 & bit != 0 { write(target, controlChange | UInt8(channel), sustain, 0) }
            if table.pointee.pedals.1 & ~held.1 & bit != 0 {
                write(target, controlChange | UInt8(channel), sostenuto, 0)
            }
            table.pointee.pedals.0 &= ~bit
            table.pointee.pedals.1 &= ~bit
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
        case sustain:
            table.pointee.pedals.0 = value >= 64 ? table.pointee.pedals.0 | bit : table.pointee.pedals.0 & ~bit
        case sostenuto:
            table.pointee.pedals.1 = value >= 64 ? table.pointee.pedals.1 | bit : table.pointee.pedals.1 & ~bit
        case 121:  // all controllers back
            table.pointee.pedals.0 &= ~bit
            table.pointee.pedals.1 &= ~bit
        case 120, 123...127:  // all sound off, all notes off, and what implies it
            table.pointee.keys[2 * channel] = 0
            table.pointee.keys[2 * channel + 1] = 0
        default: break
        }
    default: break
    }
}

@_noLocks
private func forget(_ table: UnsafeMutablePointer<NoteTable>) {
    for word in 0..<NoteTable.words { table.pointee.keys[word] = 0 }
    table.pointee.pedals = (0, 0)
}

@_noLocks
private func isHeld(
    _ others: UnsafePointer<UnsafeMutablePointer<NoteTable>>, _ count: Int, _ word: Int, _ key: UInt64
) -> Bool {
    for other in 0..<count where others[other].pointee.keys[word] & key != 0 { return true }
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
