// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Glibc

/// The file that a recording is written to, at the place where the last call ended. What the system refuses is known by
/// its own words, which libraries for formats do not pass on. By one thread at a time.
final class TakeOutput {
    private let descriptor: Int32
    private var place: off_t = 0
    /// Of the system, of the first thing that it refused; 0: nothing.
    private(set) var code: Int32 = 0

    /// Owns the descriptor.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

    /// Bytes in the file.
    var size: Int {
        var facts = stat()
        return fstat(descriptor, &facts) == 0 ? Int(facts.st_size) : 0
    }

    /// Why the system refused something; nil: it did not.
    var fault: String? { code == 0 ? nil : String(cString: strerror(code)) }

    /// Writes all of it; how many bytes were written. [worker]
    func write(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        var done = 0
        while done < count {
            let written = pwrite(descriptor, bytes + done, count - done, place)
            if written < 0, errno == EINTR { continue }
            guard written > 0 else {
                code = written < 0 ? errno : ENOSPC
                break
            }
            done += written
            place += off_t(written)
        }
        return done
    }

    /// Adds to the end what a file is complete without. Where there is no room for it the file stays as it is, and nothing
    /// counts as refused. [worker]
    func append(_ bytes: [UInt8]) -> Bool {
        let (known, end) = (code, seek(0, SEEK_END))
        if write(bytes, bytes.count) == bytes.count { return true }
        if ftruncate(descriptor, off_t(end)) == 0 { code = known }
        return false
    }

    /// Reads, as who writes a head again does; how many bytes there were. [worker]
    func read(_ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
        let found = max(0, pread(descriptor, bytes, count, place))
        place += off_t(found)
        return found
    }

    /// Goes to a place as lseek(2) does, and returns it. [worker]
    func seek(_ offset: Int, _ whence: Int32) -> Int {
        let start = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? Int(place) : size
        place = off_t(max(0, start + offset))
        return Int(place)
    }

    /// Waits until what was written is on the disk. [worker]
    func synchronize() { if fsync(descriptor) != 0, errno != EINVAL, errno != EROFS { code = errno } }

    /// The same for libsndfile, which is given this object as its user data.
    static let functions = SF_VIRTUAL_IO(
        get_filelen: { TakeOutput.at($0).map { sf_count_t($0.size) } ?? 0 },
        seek: { offset, whence, data in TakeOutput.at(data).map { sf_count_t($0.seek(Int(offset), whence)) } ?? 0 },
        read: { bytes, count, data in
            guard let bytes, let output = TakeOutput.at(data) else { return 0 }
            return sf_count_t(output.read(bytes, Int(count)))
        },
        write: { bytes, count, data in
            guard let bytes, let output = TakeOutput.at(data) else { return 0 }
            return sf_count_t(output.write(bytes, Int(count)))
        },
        tell: { TakeOutput.at($0).map { sf_count_t($0.place) } ?? 0 })

    private static func at(_ data: UnsafeMutableRawPointer?) -> TakeOutput? {
        data.map { Unmanaged<TakeOutput>.fromOpaque($0).takeUnretainedValue() }
    }
}
