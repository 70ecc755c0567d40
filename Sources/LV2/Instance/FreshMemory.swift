// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import System

/// Memory for plugins that is filled with zeros, as the first that a process gets is: some read what they never wrote, and
/// would play or crash otherwise in a copy that gets the memory of another.
///
/// The C library can be told to fill what it gives (`M_PERTURB`). But some pieces that the same thread has freed it gives
/// again as they are, up to seven of each size up to 1032 bytes. Those are taken away meanwhile.
enum FreshMemory {
    /// Large blocks come from the system each time, from now on.
    private static let large: Void = { _ = mallopt(M_MMAP_THRESHOLD, 128 << 10) }()
    /// Somebody has memory filled to find such faults, and means it.
    private static let isForbidden = getenv("MALLOC_PERTURB_") != nil
    /// How many are within `during`: how memory is filled is one number of the process.
    private static let users = Lock(0)

    /// Runs `body`; what this thread allocates meanwhile is zero, but for the smallest pieces. [control]
    static func during<Result>(_ body: () -> Result) -> Result {
        _ = large
        if isForbidden { return body() }
        let recycled = begin()
        defer { end(recycled) }
        return body()
    }

    private static func begin() -> [UnsafeMutableRawPointer] {
        users.withLock { users in
            users += 1
            defer { fill(with: 0) }
            // Beside another it would leave marks in what that one is given.
            return users == 1 ? takeRecycled() : []
        }
    }

    private static func end(_ recycled: [UnsafeMutableRawPointer]) {
        users.withLock { users in
            users -= 1
            if users == 0 { mallopt(M_PERTURB, 0) }
        }
        for piece in recycled { free(piece) }
    }

    /// What is freed is filled with the complement, 0 stands for nothing at all.
    private static func fill(with byte: UInt8) { mallopt(M_PERTURB, Int32(~byte)) }

    /// The pieces of 128 to 1032 bytes that would be given as they are: of each size, until two in a row are filled. What is
    /// left of a larger piece may be of a size that was looked at before, so it is done again until there is none.
    private static func takeRecycled() -> [UnsafeMutableRawPointer] {
        var taken: [UnsafeMutableRawPointer] = []
        taken.reserveCapacity(4096)
        let mark: UInt64 = 0xA5A5_A5A5_A5A5_A5A5
        fill(with: UInt8(truncatingIfNeeded: mark))
        var isClean = false
        for _ in 0..<8 where !isClean {
            isClean = true
            for size in stride(from: 1032, through: 136, by: -16) {
                var filled = 0
                for _ in 0..<64 where filled < 2 {
                    guard let piece = malloc(size) else { return taken }
                    taken.append(piece)
                    // A look at two places: it must not take longer than most plugins need to be made.
                    let ends = (
                        piece.load(fromByteOffset: 32, as: UInt64.self),
                        piece.load(fromByteOffset: size - 8, as: UInt64.self)
                    )
                    filled = ends == (mark, mark) ? filled + 1 : 0
                    if filled == 0 { isClean = false }
                }
            }
        }
        return taken
    }
}
