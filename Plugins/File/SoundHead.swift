// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the head of a WAV, AIFF or W64 file says of its sound, where libsndfile corrects it without a word: a file that
/// was cut off is shorter than it says, and one that was written as a stream, or whose writer was killed, does not say how
/// long it is, or not more than 32 bits can.
struct SoundHead {
    /// Bytes of the file before the sound, and all of it.
    var start: Int64
    var fileSize: Int64
    /// Bytes of sound as the head says; nil: it does not.
    var claimed: Int64?
    /// What its chunks look like.
    var format: Format

    enum Format { case riff, aiff, w64 }

    /// Bytes of sound that are there.
    var available: Int64 { fileSize - start }

    /// Reads the head of a file; nil: it is of another format, or has no sound. [control]
    init?(path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return nil }
        let file = HeadBytes(descriptor: descriptor, size: Int64(facts.st_size))
        switch (file.text(at: 0), file.text(at: 8)) {
        case ("RIFF", "WAVE"), ("RF64", "WAVE"), ("BW64", "WAVE"): self.init(riff: file)
        case ("FORM", "AIFF"), ("FORM", "AIFC"): self.init(aiff: file)
        case ("riff", _): self.init(w64: file)
        default: return nil
        }
    }

    private init?(riff file: HeadBytes) {
        var large: Int64?
        guard
            let data = file.chunk(
                "data", from: 12, of: 4,
                visit: { name, place in
                    if name == "ds64" { large = file.little(at: place + 16, 8) }
                })
        else { return nil }
        let size = data.size == 0xFFFF_FFFF ? large ?? data.size : data.size
        let whole = file.little(at: 4, 4) ?? 0
        (start, fileSize, format) = (data.start, file.size, .riff)
        let rest = file.size - data.start
        // Of a writer that was killed: no length is in the head yet, though there is sound.
        let isUnwritten = size == 0 && rest > 8 && whole <= data.start
        // Behind what 32 bits can say the file goes on with sound, and not with chunks.
        let isCut = file.size > 0xFFFF_FFFF && large == nil && rest > size && !file.hasChunks(from: data.start + size)
        // What programs write that do not know the length: the largest numbers of 32 bits, or a head less than that.
        let isOpen = large == nil && rest != size && (size >= 0xFFFF_F000 || (0x7FFF_F000...0x7FFF_FFFF).contains(size))
        claimed = isUnwritten || isCut || isOpen ? nil : size
    }

    private init?(aiff file: HeadBytes) {
        guard let data = file.chunk("SSND", from: 12, of: 4, isBig: true) else { return nil }
        // Offset and block size come first.
        (start, fileSize, format) = (data.start + 8, file.size, .aiff)
        claimed = data.size >= 8 && data.size < 0x7FFF_F000 ? data.size - 8 : nil
    }

    private init?(w64 file: HeadBytes) {
        // The sizes of W64 have the chunk's own head in them.
        guard let data = file.chunk("data", from: 40, of: 16) else { return nil }
        (start, fileSize, format) = (data.start, file.size, .w64)
        claimed = data.size > 0 && data.size < 1 << 60 ? data.size : nil
    }
}

/// Numbers and names at places of a file.
private struct HeadBytes {
    let descriptor: Int32
    let size: Int64

    func bytes(at place: Int64, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return place >= 0 && pread(descriptor, &bytes, count, off_t(place)) == count ? bytes : nil
    }

    func text(at place: Int64) -> String { bytes(at: place, 4).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    func little(at place: Int64, _ count: Int) -> Int64? {
        bytes(at: place, count).map { $0.reversed().reduce(0) { $0 << 8 | Int64($1) } }
    }

    private func big(at place: Int64) -> Int64? { bytes(at: place, 4).map { $0.reduce(0) { $0 << 8 | Int64($1) } } }

    /// The chunk of a name, among those from a place on, whose names have so many bytes; `visit` sees those before it.
    func chunk(
        _ wanted: String, from first: Int64, of nameSize: Int64, isBig: Bool = false,
        visit: (String, Int64) -> Void = { _, _ in }
    ) -> (start: Int64, size: Int64)? {
        let isLong = nameSize == 16
        var place = first
        // A file of another kind may have any number of chunks without sense.
        for _ in 0..<1000 {
            let sizePlace = place + nameSize
            guard let given = isBig ? big(at: sizePlace) : little(at: sizePlace, isLong ? 8 : 4), given >= 0 else {
                return nil
            }
            let start = sizePlace + (isLong ? 8 : 4)
            let size = isLong ? given - 24 : given
            let name = text(at: place)
            if name == wanted { return (start, size) }
            visit(name, start - 8)
            let alignment: Int64 = isLong ? 8 : 2
            guard size >= 0, size < self.size else { return nil }
            place = start + (size + alignment - 1) / alignment * alignment
        }
        return nil
    }

    /// Whether what comes from a place on is chunks, up to the end of the file.
    func hasChunks(from first: Int64) -> Bool {
        var place = first + first % 2
        for _ in 0..<1000 where place + 8 <= size {
            guard let name = bytes(at: place, 4), name.allSatisfy({ (32...126).contains($0) }),
                let length = little(at: place + 4, 4)
            else { return false }
            place += 8 + length + length % 2
        }
        return place + 1 >= size && place <= size + 1
    }
}
