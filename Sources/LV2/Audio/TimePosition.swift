// SPDX-License-Identifier: Apache-2.0
import CLilv
import NodeKit

/// What the plugin was last told of the transport.
struct TransportMemory: BitwiseCopyable {
    private var known = false
    private var rolling = false
    private var nextFrame: UInt64 = 0
    private var bpm = 0.0
    private var beatsPerBar = 0.0

    /// Whether the plugin must be told: the transport started, stopped, jumped or changed its speed. A transport that
    /// never moved and has no tempo is not worth an event. [audio]
    @_noLocks
    mutating func changes(_ cycle: Cycle) -> Bool {
        let now = cycle.pointee.transport
        let news: Bool
        if known {
            news =
                now.rolling != rolling || now.frame != nextFrame || now.bpm != bpm || now.beats_per_bar != beatsPerBar
        } else {
            news = now.rolling || now.bpm > 0 || now.frame > 0
        }
        known = known || news
        rolling = now.rolling
        bpm = now.bpm
        beatsPerBar = now.beats_per_bar
        nextFrame = now.frame &+ (now.rolling ? UInt64(cycle.pointee.frames) : 0)
        return news
    }
}

extension AtomPort {
    /// Appends a `time:Position` for the block's first frame; false: no room. [audio]
    @_noLocks
    func appendPosition(_ transport: vg_transport, _ urids: borrowing URIDs) -> Bool {
        // Beyond these figures a conversion to integers could trap.
        let hasTempo = transport.bpm > 0 && abs(transport.beat) < 1e15
        let properties = hasTempo ? 8 : 2
        guard var place = append(frame: 0, type: urids.object, size: 8 + properties * 24) else { return false }
        place.storeBytes(of: 0, as: UInt32.self)
        place.storeBytes(of: urids.position, toByteOffset: 4, as: UInt32.self)
        place += 8
        property(&place, urids.frame, urids.long, 8, UInt64(transport.frame))
        property(&place, urids.speed, urids.float, 4, UInt64((transport.rolling ? Float(1) : 0).bitPattern))
        if hasTempo {
            let perBar = transport.beats_per_bar >= 1e-3 ? transport.beats_per_bar : 4
            let bar = vg_floor64(transport.beat / perBar)
            let unit = transport.beat_type > 0 && transport.beat_type < 1e6 ? transport.beat_type : 4
            property(&place, urids.bar, urids.long, 8, UInt64(bitPattern: Int64(bar)))
            property(
                &place, urids.barBeat, urids.float, 4, UInt64(Float(transport.beat - bar * perBar).bitPattern))
            property(&place, urids.beat, urids.double, 8, transport.beat.bitPattern)
            property(&place, urids.beatUnit, urids.int, 4, UInt64(UInt32(bitPattern: Int32(unit))))
            property(&place, urids.beatsPerBar, urids.float, 4, UInt64(Float(perBar).bitPattern))
            property(&place, urids.beatsPerMinute, urids.float, 4, UInt64(Float(transport.bpm).bitPattern))
        }
        return true
    }
}

/// Writes one property of an object: key, context, the value's size and type, its bits in 8 bytes. [audio]
@_noLocks
private func property(
    _ place: inout UnsafeMutableRawPointer, _ key: LV2_URID, _ type: LV2_URID, _ size: UInt32, _ bits: UInt64
) {
    place.storeBytes(of: key, as: UInt32.self)
    place.storeBytes(of: 0, toByteOffset: 4, as: UInt32.self)
    place.storeBytes(of: size, toByteOffset: 8, as: UInt32.self)
    place.storeBytes(of: type, toByteOffset: 12, as: UInt32.self)
    place.storeBytes(of: bits, toByteOffset: 16, as: UInt64.self)
    place += 24
}
