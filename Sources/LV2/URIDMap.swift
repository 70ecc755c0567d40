// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import Synchronization

/// The numbers that stand for URIs, one table for the whole process.
///
/// A URI seen before is found without a lock, an allocation or a system call, so plugins may map in `run`. A new one
/// takes a lock and memory that is never given back. Full (49 151 URIs): the map answers 0, which LV2 defines as
/// failure. [any, known URIs also audio]
final class URIDMap: @unchecked Sendable {
    // Sendable: the tables are append-only and their cells atomic; `adding` serialises the writers.

    static let shared = URIDMap()

    /// The feature's payloads; they live as long as the process.
    let map: UnsafeMutablePointer<LV2_URID_Map>
    let unmap: UnsafeMutablePointer<LV2_URID_Unmap>

    private static let slots = 1 << 16
    private static let limit = LV2_URID(slots / 4 * 3)
    /// By hash: the number, 0 in a free slot. Never emptied, so a search may stop at the first free slot.
    private let numbers: UnsafeMutablePointer<Atomic<LV2_URID>>
    /// By number: the text as an address.
    private let texts: UnsafeMutablePointer<Atomic<UInt>>
    private let adding = Mutex(LV2_URID(0))

    private init() {
        // Fresh zero pages: only what is used takes memory.
        numbers = calloc(Self.slots, MemoryLayout<Atomic<LV2_URID>>.stride)!
            .bindMemory(to: Atomic<LV2_URID>.self, capacity: Self.slots)
        texts = calloc(Self.slots, MemoryLayout<Atomic<UInt>>.stride)!
            .bindMemory(to: Atomic<UInt>.self, capacity: Self.slots)
        map = .allocate(capacity: 1)
        unmap = .allocate(capacity: 1)
        let handle = Unmanaged.passUnretained(self).toOpaque()  // this object is never freed
        map.initialize(
            to: LV2_URID_Map(
                handle: handle,
                map: { handle, uri in
                    guard let handle, let uri else { return 0 }
                    return Unmanaged<URIDMap>.fromOpaque(handle)._withUnsafeGuaranteedRef { $0.map(uri) }
                }))
        unmap.initialize(
            to: LV2_URID_Unmap(
                handle: handle,
                unmap: { handle, number in
                    guard let handle else { return nil }
                    return Unmanaged<URIDMap>.fromOpaque(handle)._withUnsafeGuaranteedRef { $0.text(number) }
                }))
    }

    /// The number of a URI.
    func map(_ uri: UnsafePointer<CChar>) -> LV2_URID {
        let start = hash(uri)
        let known = find(uri, start)
        if known != 0 { return known }
        return adding.withLock { last in
            let added = find(uri, start)  // by another thread meanwhile
            if added != 0 { return added }
            guard last < Self.limit, let copy = strdup(uri) else { return 0 }
            last += 1
            texts[Int(last)].store(UInt(bitPattern: copy), ordering: .releasing)
            var slot = start
            while numbers[slot].load(ordering: .relaxed) != 0 { slot = (slot + 1) & (Self.slots - 1) }
            numbers[slot].store(last, ordering: .releasing)
            return last
        }
    }

    /// The URI of a number; nil for a number that was not given out.
    func text(_ number: LV2_URID) -> UnsafePointer<CChar>? {
        guard number > 0, number < Self.slots else { return nil }
        return UnsafePointer(bitPattern: texts[Int(number)].load(ordering: .acquiring))
    }

    private func find(_ uri: UnsafePointer<CChar>, _ start: Int) -> LV2_URID {
        var slot = start
        while true {
            let number = numbers[slot].load(ordering: .acquiring)
            if number == 0 { return 0 }
            if let text = text(number), strcmp(text, uri) == 0 { return number }
            slot = (slot + 1) & (Self.slots - 1)
        }
    }

    /// FNV-1a, folded to a slot.
    private func hash(_ uri: UnsafePointer<CChar>) -> Int {
        var hash: UInt32 = 2_166_136_261
        var position = uri
        while position.pointee != 0 {
            hash = (hash ^ UInt32(UInt8(bitPattern: position.pointee))) &* 16_777_619
            position += 1
        }
        return Int((hash ^ (hash >> 16)) & UInt32(Self.slots - 1))
    }
}

/// The numbers that the host itself uses on the audio thread.
struct URIDs: BitwiseCopyable, Sendable {
    let chunk, sequence, object, blank, float, int, long, double, bool, path, string: LV2_URID
    let midiEvent: LV2_URID
    let position, bar, barBeat, beat, beatUnit, beatsPerBar, beatsPerMinute, frame, speed: LV2_URID
    let logError, logWarning, logTrace: LV2_URID

    init(_ table: URIDMap) {
        chunk = table.map(VG_ATOM__Chunk)
        sequence = table.map(VG_ATOM__Sequence)
        object = table.map(VG_ATOM__Object)
        blank = table.map(VG_ATOM__Blank)
        float = table.map(VG_ATOM__Float)
        int = table.map(VG_ATOM__Int)
        long = table.map(VG_ATOM__Long)
        double = table.map(VG_ATOM__Double)
        bool = table.map(VG_ATOM__Bool)
        path = table.map(VG_ATOM__Path)
        string = table.map(VG_ATOM__String)
        midiEvent = table.map(VG_MIDI__MidiEvent)
        position = table.map(VG_TIME__Position)
        bar = table.map(VG_TIME__bar)
        barBeat = table.map(VG_TIME__barBeat)
        beat = table.map(VG_TIME__beat)
        beatUnit = table.map(VG_TIME__beatUnit)
        beatsPerBar = table.map(VG_TIME__beatsPerBar)
        beatsPerMinute = table.map(VG_TIME__beatsPerMinute)
        frame = table.map(VG_TIME__frame)
        speed = table.map(VG_TIME__speed)
        logError = table.map(VG_LOG__Error)
        logWarning = table.map(VG_LOG__Warning)
        logTrace = table.map(VG_LOG__Trace)
    }
}
