// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit
import Synchronization

/// A MIDI link by what it joins, whichever graph it is in.
struct NoteLink: Hashable, Comparable {
    /// Numbers of the nodes, which no other node ever has.
    var from: UInt32
    var to: UInt32
    /// Ranks among the MIDI outputs and inputs.
    var output: Int
    var input: Int
    /// Whether the source is bypassed, so that other events come.
    var passes: Bool

    static func < (a: Self, b: Self) -> Bool {
        (a.to, a.input, a.from, a.output, a.passes ? 1 : 0) < (b.to, b.input, b.from, b.output, b.passes ? 1 : 0)
    }
}

/// The notes that sound through a link, and the pedals that are down. Schedules that follow each other share it.
final class HeldNotes: @unchecked Sendable {
    // Sendable: only the audio thread touches the table, in whichever schedule it runs.
    let table: UnsafeMutablePointer<NoteTable>

    init() {
        let keys = UnsafeMutablePointer<UInt64>.allocate(capacity: NoteTable.words)
        keys.initialize(repeating: 0, count: NoteTable.words)
        table = .allocate(capacity: 1)
        table.initialize(to: NoteTable(keys: keys))
    }

    deinit {
        table.pointee.keys.deallocate()
        table.deallocate()
    }
}

/// A bit for each key of each channel, and for each channel's pedals.
struct NoteTable: BitwiseCopyable {
    /// Two words a channel.
    let keys: UnsafeMutablePointer<UInt64>
    /// Sustain and sostenuto, a bit a channel.
    var pedals: (UInt16, UInt16) = (0, 0)

    static let words = 32
}

private let noteOff: UInt8 = 0x80
private let controlChange: UInt8 = 0xB0
private let sustain: UInt8 = 64
private let sostenuto: UInt8 = 66

/// What follows the notes of one link.
struct FollowTerm: BitwiseCopyable {
    var source: UnsafeMutablePointer<vg_midi>
    var table: UnsafeMutablePointer<NoteTable>
}

struct FollowState: BitwiseCopyable {
    var terms: UnsafeMutablePointer<FollowTerm>
    var count: Int
}

/// Notes what the links into one input leave sounding.
@_noLocks
func followStep(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: NodeKit.Cycle) {
    let state = memory.assumingMemoryBound(to: FollowState.self)
    for index in 0..<state.pointee.count {
        let term = state.pointee.terms + index
        let source = term.pointee.source
        for place in 0..<Int(source.pointee.count) {
            let event = source.pointee.events[place]
            follow(term.pointee.table, source.pointee.bytes + Int(event.offset), event.size)
        }
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

/// Links into one input that have ended, and those that go on.
struct EndingState: BitwiseCopyable {
    var ended: UnsafeMutablePointer<UnsafeMutablePointer<NoteTable>>
    var endedCount: Int
    var live: UnsafeMutablePointer<UnsafeMutablePointer<NoteTable>>
    var liveCount: Int
    /// Inputs of this schedule at which something is still to end.
    var left: UnsafeMutablePointer<Atomic<Int>>
    var isDone = false
}

/// Ends what sounds through links that are gone, unless another link into the same input holds it too. What does not
/// fit into half a buffer follows with the next blocks.
@_noLocks
func endNotes(_ state: UnsafeMutablePointer<EndingState>, _ target: UnsafeMutablePointer<vg_midi>) {
    if state.pointee.isDone { return }
    let room = target.pointee.capacity / 2
    for index in 0..<state.pointee.endedCount {
        let table = state.pointee.ended[index]
        for word in 0..<NoteTable.words {
            while table.pointee.keys[word] != 0 {
                if target.pointee.count >= room { return }
                let place = table.pointee.keys[word].trailingZeroBitCount
                let key = UInt64(1) << UInt64(place)
                table.pointee.keys[word] &= ~key
                if isHeld(state, word, key) { continue }
                write(target, noteOff | UInt8(word / 2), UInt8(place + (word & 1) * 64), 64)
            }
        }
        for channel in 0..<16 {
            if target.pointee.count &+ 2 > room { return }
            let bit = UInt16(1) << UInt16(channel)
            var others: (UInt16, UInt16) = (0, 0)
            for live in 0..<state.pointee.liveCount {
                others.0 |= state.pointee.live[live].pointee.pedals.0
                others.1 |= state.pointee.live[live].pointee.pedals.1
            }
            if table.pointee.pedals.0 & ~others.0 & bit != 0 {
                write(target, controlChange | UInt8(channel), sustain, 0)
            }
            if table.pointee.pedals.1 & ~others.1 & bit != 0 {
                write(target, controlChange | UInt8(channel), sostenuto, 0)
            }
            table.pointee.pedals.0 &= ~bit
            table.pointee.pedals.1 &= ~bit
        }
    }
    state.pointee.isDone = true
    state.pointee.left.pointee.subtract(1, ordering: .releasing)
}

@_noLocks
private func isHeld(_ state: UnsafeMutablePointer<EndingState>, _ word: Int, _ key: UInt64) -> Bool {
    for live in 0..<state.pointee.liveCount where state.pointee.live[live].pointee.keys[word] & key != 0 { return true }
    return false
}

@_noLocks
private func write(_ target: UnsafeMutablePointer<vg_midi>, _ status: UInt8, _ first: UInt8, _ second: UInt8) {
    // In place, as a pointer to a local would be one to the heap for all that the compiler knows.
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

extension ResolvedGraph {
    /// Whether a MIDI link carries anything.
    func carries(_ link: Link) -> Bool {
        if nodes[link.fromNode].gate == .muted { return false }
        // One that has only inputs is muted by what it is not given.
        let to = nodes[link.toNode]
        guard to.gate == .muted else { return true }
        return to.instance.count(VG_AUDIO_PORT, VG_OUTPUT) + to.instance.count(VG_MIDI_PORT, VG_OUTPUT) > 0
    }

    /// The name of a MIDI link.
    func noteLink(_ link: Link) -> NoteLink? {
        guard link.portKind == VG_MIDI_PORT, case .port(let port) = link.target else { return nil }
        let (from, to) = (nodes[link.fromNode], nodes[link.toNode])
        return NoteLink(
            from: from.instance.number, to: to.instance.number, output: from.instance.rank(ofOutput: link.fromPort),
            input: to.instance.ports[..<port].count { $0.kind == VG_MIDI_PORT && $0.direction == VG_INPUT },
            passes: from.gate == .bypassed)
    }

    /// Links that end with this graph, of those that there were: their receivers go on without them.
    func ended(of before: some Sequence<NoteLink>) -> [NoteLink] {
        let before = Set(before)
        if before.isEmpty { return [] }
        let live = Set(links.lazy.filter { carries($0) }.compactMap { noteLink($0) })
        let receivers = Set(nodes.lazy.map(\.instance.number))
        return before.filter { !live.contains($0) && receivers.contains($0.to) }.sorted()
    }
}
