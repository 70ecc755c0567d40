// SPDX-License-Identifier: Apache-2.0
import Host
import NIOCore
import Testing

@testable import Server

/// What clients of the page are told of levels.
@Suite struct LiveTests {
    @Test("Places of series that nodes no longer give become free, and the others keep what they say") func places()
        throws
    {
        let bus = EventBus()
        let frames = LevelFrames(bus.subscribe(.latest))
        func give(_ node: String, _ value: Float) {
            bus.publish(.frame(SeriesFrame(node: node, time: 1, rows: [SeriesFrame.Row("peak", [value])])))
        }
        var told: [LevelFrames.Name] = []
        var most = 0
        var seen = LevelFrames.Reader()
        for count in 0..<5000 {
            // One that stays, and one that is gone after a moment, as where somebody edits for weeks.
            give("stays", Float(count))
            give("node\(count)", Float(count) + 0.5)
            let before = frames.edition
            frames.advance()
            #expect(frames.edition != before, "who reads learns of each new name")
            most = max(most, frames.names.count)
            told = frames.names
            var message = try #require(frames.message(for: seen))
            seen.seen = frames.round
            message.moveReaderIndex(forwardBy: 16)
            var values: [String: Float] = [:]
            while let place = message.readInteger(endianness: .little, as: UInt16.self) {
                let count = message.readInteger(endianness: .little, as: UInt16.self)
                let bits = message.readInteger(endianness: .little, as: UInt32.self)
                #expect(count == 1)
                values[told[Int(place)].node] = bits.map(Float.init(bitPattern:))
            }
            #expect(values == ["stays": Float(count), "node\(count)": Float(count) + 0.5])
        }
        #expect(most <= 2 * (LevelFrames.patience + 1), "\(most) names at once")
        #expect(Set(told).count == told.count)
    }
}
