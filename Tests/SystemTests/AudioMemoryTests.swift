// SPDX-License-Identifier: Apache-2.0
import System
import TestSupport

@Suite("Memory that the audio thread reaches", .timeLimit(.minutes(5)))
struct AudioMemoryTests {
    /// Of a size that nothing else has, so that no other thread takes its slots.
    private typealias Piece = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

    @Test("Pieces lie side by side, each at a cache line of its own, and what is given back is used again")
    func slots() {
        let pieces = (0..<1000).map { _ in AudioMemory.make(Piece.self, count: 9) }
        let addresses = pieces.map { UInt(bitPattern: $0) }
        #expect(Set(addresses).count == 1000)
        #expect(addresses.allSatisfy { $0 % 64 == 0 })
        let neighbours = zip(addresses, addresses.dropFirst()).count { $1 == $0 + 704 }
        #expect(neighbours >= 900, "\(neighbours) of 999 follow the one before")
        for piece in pieces { AudioMemory.free(piece, count: 9) }
        let again = (0..<1000).map { _ in AudioMemory.make(Piece.self, count: 9) }
        #expect(Set(again.map { UInt(bitPattern: $0) }) == Set(addresses))
        for piece in again { AudioMemory.free(piece, count: 9) }
    }

    @Test("Pieces of any size can be written to their end", arguments: [0, 1, 16, 255, 256, 257, 100_000])
    func sizes(count: Int) {
        let pieces = (0..<3).map { _ in AudioMemory.make(Float.self, count: count) }
        for (index, piece) in pieces.enumerated() { piece.initialize(repeating: Float(index), count: count) }
        for (index, piece) in pieces.enumerated() {
            #expect((0..<count).allSatisfy { piece[$0] == Float(index) })
            AudioMemory.free(piece, count: count)
        }
    }
}
