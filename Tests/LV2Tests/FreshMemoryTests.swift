// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import LV2

/// What a plugin is given does not depend on what the process did before.
@Suite("Fresh memory", .enabled(if: !Sanitizer.isLoaded, "malloc is another")) struct FreshMemoryTests {
    /// Pieces of a size, full of what is no number, as somebody may have left them.
    private static func leaveGarbage(_ size: Int, _ count: Int) {
        let pieces = (0..<count).map { _ in malloc(size)! }
        for piece in pieces { memset(piece, 0xFF, size) }
        // Not all: what lies beside each other would become one piece.
        for piece in pieces.enumerated().filter({ $0.offset % 2 == 0 }) { free(piece.element) }
    }

    /// How many of so many pieces are zero.
    private static func zeros(_ size: Int, _ count: Int) -> Int {
        let pieces = (0..<count).map { _ in malloc(size)! }
        defer { for piece in pieces { free(piece) } }
        // The first words are the C library's, as long as a piece is free.
        return pieces.count { UnsafeRawBufferPointer(start: $0, count: size).dropFirst(16).allSatisfy { $0 == 0 } }
    }

    // In a process of its own, whose memory nothing else takes or leaves.
    @Test("Pieces of every size are zero, whatever was left in them, and only while that is asked for")
    func small() async {
        await #expect(processExitsWith: .success) {
            for size in [136, 200, 512, 832, 1032, 1500, 5000, 200_000] {
                FreshMemoryTests.leaveGarbage(size, 40)
                let zeros = FreshMemory.during { FreshMemoryTests.zeros(size, 30) }
                try #require(zeros == 30, "\(size) bytes: \(zeros) of 30")
            }
            FreshMemoryTests.leaveGarbage(512, 20)
            try #require(FreshMemoryTests.zeros(512, 5) == 0)
        }
    }

    @Test("It can be asked for within itself, and its end is that of the last")
    func nested() async {
        await #expect(processExitsWith: .success) {
            FreshMemoryTests.leaveGarbage(2000, 20)
            FreshMemory.during {
                FreshMemory.during {}
                #expect(FreshMemoryTests.zeros(2000, 5) == 5)
            }
        }
    }
}
