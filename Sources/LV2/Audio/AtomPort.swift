// SPDX-License-Identifier: Apache-2.0
import CLilv
import NodeKit

/// An event port's buffer as the audio thread sees it: an `LV2_Atom_Sequence` in memory that never moves, or an
/// `LV2_Event_Buffer` for plugins that are older than atoms.
struct AtomPort: BitwiseCopyable {
    let memory: UnsafeMutableRawPointer
    /// Bytes behind the atom's own header.
    let capacity: UInt32
    /// Place among the node's midi ports of its direction; negative: none.
    let midi: Int
    let isInput: Bool
    /// An `LV2_Event_Buffer`.
    let isOld: Bool
    /// Whether the plugin wants to be told where the transport is.
    let wantsTime: Bool
    /// Whether messages of the host go here.
    let takesPatches: Bool
    /// Whether the plugin tells of its properties here.
    let tellsPatches: Bool

    /// Bytes of the whole buffer.
    var size: Int { Int(capacity) + (isOld ? Self.eventHeaderSize : Self.headerSize) }

    static let headerSize = 8
    private static let emptySize: UInt32 = 8

    private var atom: UnsafeMutablePointer<LV2_Atom> { memory.assumingMemoryBound(to: LV2_Atom.self) }

    /// Makes it an input without events. [audio]
    @_noLocks
    func clear(_ urids: borrowing URIDs) {
        if isOld { return clearEvents() }
        atom.pointee = LV2_Atom(size: Self.emptySize, type: urids.sequence)
        memory.storeBytes(of: 0, toByteOffset: 8, as: UInt64.self)  // unit: frames
    }

    /// Makes it an output with room for the plugin to write, whatever it wrote before. [audio]
    @_noLocks
    func offer(_ urids: borrowing URIDs) {
        if isOld { return clearEvents() }
        atom.pointee = LV2_Atom(size: capacity, type: urids.chunk)
        memory.storeBytes(of: 0, toByteOffset: 8, as: UInt64.self)
    }

    /// Appends an event and returns where its `size` bytes go; nil: no room. [audio]
    @_noLocks
    func append(frame: UInt32, type: LV2_URID, size: Int) -> UnsafeMutableRawPointer? {
        if isOld { return appendEvent(frame: frame, type: type, size: size) }
        let used = Int(atom.pointee.size)
        let needed = 16 + (size + 7) & ~7
        guard size >= 0, used + needed <= Int(capacity) else { return nil }
        let event = memory + Self.headerSize + used
        event.storeBytes(of: Int64(frame), as: Int64.self)
        event.storeBytes(of: UInt32(truncatingIfNeeded: size), toByteOffset: 8, as: UInt32.self)
        event.storeBytes(of: type, toByteOffset: 12, as: UInt32.self)
        atom.pointee.size = UInt32(truncatingIfNeeded: used + needed)
        return event + 16
    }

    /// Appends a block's MIDI events, each at its frame or all at the start; what does not fit is lost and counted at
    /// its source. [audio]
    @_noLocks
    func append(_ midi: UnsafeMutablePointer<vg_midi>, _ urids: borrowing URIDs, atStart: Bool = false) {
        var index = 0
        let count = Int(midi.pointee.count)
        while index < count {
            let event = midi.pointee.events[index]
            if let body = append(frame: atStart ? 0 : event.frame, type: urids.midiEvent, size: Int(event.size)) {
                vg_lv2_copy(body, midi.pointee.bytes + Int(event.offset), Int(event.size))
            } else {
                midi.pointee.dropped += 1
            }
            index += 1
        }
    }

    /// Appends the next message to the plugin, if one waits. The bytes of each fit into an empty port. [audio]
    @_noLocks
    func appendPatch(_ patches: PacketRingEnds, _ room: UnsafeMutableRawPointer, _ urids: borrowing URIDs) {
        guard let (size, _) = patches.pop(into: room) else { return }
        if let body = append(frame: 0, type: urids.object, size: size) { vg_lv2_copy(body, room, size) }
    }

    /// Hands on what the plugin says of its properties. [audio]
    @_noLocks
    func tell(_ answers: PacketRingEnds, _ urids: borrowing URIDs) {
        let size = min(atom.pointee.size, capacity)
        guard !isOld, atom.pointee.type == urids.sequence, size >= Self.emptySize else { return }
        let end = Self.headerSize + Int(size)
        var position = Self.headerSize + Int(Self.emptySize)
        while position + 16 <= end {
            let length = Int(memory.load(fromByteOffset: position + 8, as: UInt32.self))
            let type = memory.load(fromByteOffset: position + 12, as: UInt32.self)
            guard length <= end - position - 16 else { return }
            if length >= 8, Self.isOne(type, urids.object, urids.blank) {
                let kind = memory.load(fromByteOffset: position + 20, as: UInt32.self)
                if Self.isOne(kind, urids.patchSet, urids.patchPut) {
                    _ = answers.push(memory + position + 16, size: length)
                }
            }
            position += 16 + (length + 7) & ~7
        }
    }

    @_noLocks
    private static func isOne(_ number: LV2_URID, _ first: LV2_URID, _ second: LV2_URID) -> Bool {
        number == first || number == second
    }

    /// Reads the MIDI events that the plugin wrote, in order; frames outside the block are moved into it. [audio]
    @_noLocks
    func read(into midi: UnsafeMutablePointer<vg_midi>, frames: UInt32, _ urids: borrowing URIDs) {
        if isOld { return readEvents(into: midi, frames: frames, urids) }
        let size = min(atom.pointee.size, capacity)
        guard atom.pointee.type == urids.sequence, size >= Self.emptySize else { return }
        let end = Self.headerSize + Int(size)
        var position = Self.headerSize + Int(Self.emptySize)
        var last: UInt32 = 0
        while position + 16 <= end {
            let frame = memory.load(fromByteOffset: position, as: Int64.self)
            let length = Int(memory.load(fromByteOffset: position + 8, as: UInt32.self))
            let type = memory.load(fromByteOffset: position + 12, as: UInt32.self)
            guard length <= end - position - 16 else { return }
            if type == urids.midiEvent, length > 0 {
                let inside = frame < 0 ? 0 : frame >= Int64(frames) ? frames - 1 : UInt32(truncatingIfNeeded: frame)
                last = max(last, inside)
                let bytes = (memory + position + 16).assumingMemoryBound(to: UInt8.self)
                _ = vg_midi_write(midi, last, bytes, UInt32(truncatingIfNeeded: length))
            }
            position += 16 + (length + 7) & ~7
        }
    }
}
