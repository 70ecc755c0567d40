// SPDX-License-Identifier: Apache-2.0
import CLilv
import NodeKit

/// The events of LV2's first years, before there were atoms: an `LV2_Event_Buffer` with its events behind it, in the
/// memory of an `AtomPort`. A timestamp counts frames; MIDI events are the only ones that the host knows.
extension AtomPort {
    /// Bytes before the events.
    static let eventHeaderSize = (MemoryLayout<vg_lv2_event_buffer>.size + 7) & ~7
    /// Frames, fraction of a frame, type and size; the event's bytes follow.
    private static let eventPrefix = 12

    private var buffer: UnsafeMutablePointer<vg_lv2_event_buffer> {
        memory.assumingMemoryBound(to: vg_lv2_event_buffer.self)
    }

    /// Makes it a buffer without events. [audio]
    @_noLocks
    func clearEvents() {
        let data = (memory + Self.eventHeaderSize).assumingMemoryBound(to: UInt8.self)
        buffer.pointee = vg_lv2_event_buffer(
            data: data, header_size: UInt16(truncatingIfNeeded: MemoryLayout<vg_lv2_event_buffer>.size), stamp_type: 0,
            event_count: 0, capacity: capacity, size: 0)
    }

    /// Appends an event and returns where its `size` bytes go; nil: no room. [audio]
    @_noLocks
    func appendEvent(frame: UInt32, type: LV2_URID, size: Int) -> UnsafeMutableRawPointer? {
        let used = Int(buffer.pointee.size)
        let needed = (Self.eventPrefix + size + 7) & ~7
        guard size >= 0, size <= 0xFFFF, type <= 0xFFFF, used + needed <= Int(capacity) else { return nil }
        let event = memory + Self.eventHeaderSize + used
        event.storeBytes(of: frame, as: UInt32.self)
        event.storeBytes(of: 0, toByteOffset: 4, as: UInt32.self)
        event.storeBytes(of: UInt16(truncatingIfNeeded: type), toByteOffset: 8, as: UInt16.self)
        event.storeBytes(of: UInt16(truncatingIfNeeded: size), toByteOffset: 10, as: UInt16.self)
        buffer.pointee.event_count += 1
        buffer.pointee.size += UInt32(truncatingIfNeeded: needed)
        return event + Self.eventPrefix
    }

    /// Reads the MIDI events that the plugin wrote, as `read` does. [audio]
    @_noLocks
    func readEvents(into midi: UnsafeMutablePointer<vg_midi>, frames: UInt32, _ urids: borrowing URIDs) {
        let end = Int(min(buffer.pointee.size, capacity))
        let events = memory + Self.eventHeaderSize
        var position = 0
        var last: UInt32 = 0
        while position + Self.eventPrefix <= end {
            let frame = events.load(fromByteOffset: position, as: UInt32.self)
            let type = events.load(fromByteOffset: position + 8, as: UInt16.self)
            let size = Int(events.load(fromByteOffset: position + 10, as: UInt16.self))
            guard size <= end - position - Self.eventPrefix else { return }
            if LV2_URID(type) == urids.midiEvent, size > 0 {
                last = max(last, min(frame, frames - 1))
                let bytes = (events + position + Self.eventPrefix).assumingMemoryBound(to: UInt8.self)
                _ = vg_midi_write(midi, last, bytes, UInt32(truncatingIfNeeded: size))
            }
            position += (Self.eventPrefix + size + 7) & ~7
        }
    }
}
