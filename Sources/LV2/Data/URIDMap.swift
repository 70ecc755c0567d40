// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import Synchronization

/// The numbers that stand for URIs, one table for the whole process.
///
/// Mapping never locks, allocates or calls the system, not even for a URI seen for the first time, because plugins map
/// in `run`. Nothing is ever removed. Full (49 151 URIs or 4 MiB of text): the map answers 0, which LV2 defines as
/// failure. [audio] and every other thread
final class URIDMap: @unchecked Sendable {
    // Sendable: the tables are append-only and their cells atomic.

    static let shared = URIDMap()

    /// The feature's payloads; they live as long as the process.
    let map: UnsafeMutablePointer<LV2_URID_Map>
    let unmap: UnsafeMutablePointer<LV2_URID_Unmap>
    /// What `map` was in LV2's first years. All numbers fit into the 16 bits that the events of that time have.
    let uriMap: UnsafeMutablePointer<vg_lv2_uri_map>

    private static let slots = 1 << 16
    private static let limit = LV2_URID(slots / 4 * 3)
    private static let textSize = 1 << 22
    /// By hash: the number, 0 in a free slot. Never emptied, so a search may stop at the first free slot.
    private let numbers: UnsafeMutablePointer<Atomic<LV2_URID>>
    /// By number: the text as an address.
    private let texts: UnsafeMutablePointer<Atomic<UInt>>
    /// The texts themselves, one behind the other.
    private let memory: UnsafeMutablePointer<CChar>
    private let used = Atomic(0)
    private let last = Atomic(LV2_URID(0))

    private init() {
        // Fresh zero pages: only what is used takes memory.
        numbers = calloc(Self.slots, MemoryLayout<Atomic<LV2_URID>>.stride)!
            .bindMemory(to: Atomic<LV2_URID>.self, capacity: Self.slots)
        texts = calloc(Self.slots, MemoryLayout<Atomic<UInt>>.stride)!
            .bindMemory(to: Atomic<UInt>.self, capacity: Self.slots)
        memory = calloc(1, Self.textSize)!.assumingMemoryBound(to: CChar.self)
        map = .allocate(capacity: 1)
        unmap = .allocate(capacity: 1)
        uriMap = .allocate(capacity: 1)
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
        uriMap.initialize(
            to: vg_lv2_uri_map(
                handle: handle,
                uri_to_id: { handle, _, uri in
                    guard let handle, let uri else { return 0 }
                    return Unmanaged<URIDMap>.fromOpaque(handle)._withUnsafeGuaranteedRef { $0.map(uri) }
                }))
    }

    /// The number of a URI.
    func map(_ uri: UnsafePointer<CChar>) -> LV2_URID {
        var slot = hash(uri)
        var own: LV2_URID = 0
        while true {
            var number = numbers[slot].load(ordering: .acquiring)
            if number == 0 {
                if own == 0 { own = add(uri) }
                if own == 0 { return 0 }
                let (added, found) = numbers[slot].compareExchange(
                    expected: 0, desired: own, ordering: .acquiringAndReleasing)
                if added { return own }
                number = found  // another thread took the slot: perhaps for the same URI, then `own` stays unused
            }
            if let text = text(number), strcmp(text, uri) == 0 { return number }
            slot = (slot + 1) & (Self.slots - 1)
        }
    }

    /// Keeps the text and gives it a number that no slot leads to yet; 0: full.
    private func add(_ uri: UnsafePointer<CChar>) -> LV2_URID {
        let size = strlen(uri) + 1
        guard last.load(ordering: .relaxed) < Self.limit, used.load(ordering: .relaxed) + size <= Self.textSize else {
            return 0
        }
        let end = used.add(size, ordering: .relaxed).newValue
        let number = last.add(1, ordering: .relaxed).newValue
        // Other threads may have come closer to the end meanwhile: the last quarter of the slots is for them.
        guard end <= Self.textSize, number < Self.slots else { return 0 }
        let copy = memory + (end - size)
        memcpy(copy, uri, size)
        texts[Int(number)].store(UInt(bitPattern: copy), ordering: .releasing)
        return number
    }

    /// The URI of a number; nil for a number that was not given out.
    func text(_ number: LV2_URID) -> UnsafePointer<CChar>? {
        guard number > 0, number < Self.slots else { return nil }
        return UnsafePointer(bitPattern: texts[Int(number)].load(ordering: .acquiring))
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
    let patchSet, patchPut: LV2_URID

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
        patchSet = table.map(VG_PATCH__Set)
        patchPut = table.map(VG_PATCH__Put)
    }
}
