// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Glibc
import NodeKit

/// A WAV file whose head does not tell its length, as libsndfile is to see it: with a head in which the sound goes to the
/// end of the file (RF64, EBU Tech 3306), and its own sound behind that.
final class StreamedWave {
    private let descriptor: Int32
    /// Where the sound begins in the file.
    private let start: Int64
    private let fileSize: Int64
    private let head: [UInt8]
    private var place: Int64 = 0

    /// Nil: the file cannot be read. [control]
    init?(path: String, head: SoundHead) {
        descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        (start, fileSize) = (head.start, head.fileSize)
        var own = [UInt8](repeating: 0, count: Int(clamping: min(head.start, 1 << 20)))
        guard descriptor >= 0, Int64(own.count) == head.start, own.count >= 20,
            pread(descriptor, &own, own.count, 0) == own.count
        else {
            self.head = []
            if descriptor >= 0 { close(descriptor) }
            return nil
        }
        func little(_ number: Int64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> Int64(8 * $0)) }
        }
        let size = head.available
        let added = Int64(36)
        let sizes = little(head.fileSize + added - 8, 8) + little(size, 8) + little(0, 8) + little(0, 4)
        self.head =
            Array("RF64".utf8) + little(0xFFFF_FFFF, 4) + Array("WAVEds64".utf8) + little(28, 4) + sizes
            + own[12..<(own.count - 4)] + little(0xFFFF_FFFF, 4)
    }

    deinit { if !head.isEmpty { close(descriptor) } }

    /// Opens it with libsndfile; it must live as long as what is returned.
    func open(_ info: inout SF_INFO) -> OpaquePointer? {
        var io = SF_VIRTUAL_IO(
            get_filelen: { StreamedWave.of($0) { $0.size } },
            seek: { offset, whence, wave in StreamedWave.of(wave) { $0.seek(Int64(offset), whence) } },
            read: { target, count, wave in StreamedWave.of(wave) { $0.read(target, Int64(count)) } },
            write: { _, _, _ in 0 }, tell: { StreamedWave.of($0) { $0.place } })
        return sf_open_virtual(&io, Int32(SFM_READ), &info, Unmanaged.passUnretained(self).toOpaque())
    }

    private static func of(_ wave: UnsafeMutableRawPointer?, _ body: (StreamedWave) -> Int64) -> sf_count_t {
        wave.map { sf_count_t(Unmanaged<StreamedWave>.fromOpaque($0)._withUnsafeGuaranteedRef(body)) } ?? 0
    }

    private var size: Int64 { Int64(head.count) + fileSize - start }

    private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        let base = whence == SEEK_CUR ? place : whence == SEEK_END ? size : 0
        place = max(0, min(size, base + offset))
        return place
    }

    private func read(_ target: UnsafeMutableRawPointer?, _ count: Int64) -> Int64 {
        guard let target, count > 0 else { return 0 }
        var done: Int64 = 0
        if place < Int64(head.count) {
            done = min(count, Int64(head.count) - place)
            _ = head.withUnsafeBytes { memcpy(target, $0.baseAddress! + Int(place), Int(done)) }
            place += done
        }
        while done < count {
            let wanted = Int(min(count - done, 1 << 30))
            let got = pread(descriptor, target + Int(done), wanted, off_t(place - Int64(head.count) + start))
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { break }
            (done, place) = (done + Int64(got), place + Int64(got))
        }
        return done
    }
}
