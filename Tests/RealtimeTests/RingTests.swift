// SPDX-License-Identifier: Apache-2.0
import Realtime
import TestSupport

@Suite("Ring") struct RingTests {
    @Test(
        "Capacity is the next power of two, at least one",
        arguments: [(-3, 1), (0, 1), (1, 1), (3, 4), (64, 64), (65, 128)])
    func capacity(asked: Int, given: Int) {
        #expect(Ring<Float>(minimumCapacity: asked).capacity == given)
    }

    @Test("A full ring refuses and keeps what it has; an empty one gives nil")
    func fullAndEmpty() {
        let ring = Ring<Int>(minimumCapacity: 4)
        #expect(ring.reader.pop() == nil)
        for value in 0..<4 { #expect(ring.writer.push(value)) }
        #expect(!ring.writer.push(99))
        #expect(ring.writer.space == 0)
        #expect(ring.reader.available == 4)
        for value in 0..<4 { #expect(ring.reader.pop() == value) }
        #expect(ring.reader.pop() == nil)
        #expect(ring.writer.space == 4)
        #expect(ring.writer.total == 4)
        #expect(ring.reader.total == 4)
    }

    @Test("Blocks of every length keep their order across the wrap")
    func blocks() {
        let ring = Ring<Int32>(minimumCapacity: 16)
        var next: Int32 = 0
        var expected: Int32 = 0
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let source = (0..<Int.random(in: 0...20, using: &random)).map { next + Int32($0) }
            let room = ring.writer.space
            let written = ring.writer.write(source, count: source.count)
            #expect(written == min(source.count, room))
            next += Int32(written)
            var target = [Int32](repeating: -1, count: Int.random(in: 0...20, using: &random))
            let read = ring.reader.read(into: &target, count: target.count)
            #expect(Array(target[..<read]) == (0..<read).map { expected + Int32($0) })
            #expect(target[read...].allSatisfy { $0 == -1 })
            expected += Int32(read)
            #expect(ring.reader.available == Int(next - expected))
        }
    }

    @Test("Nothing, a negative count and nil move nothing")
    func nothing() {
        let ring = Ring<Float>(minimumCapacity: 8)
        var value: Float = 1
        #expect(ring.writer.write(nil, count: 3) == 0)
        #expect(ring.writer.write(&value, count: 0) == 0)
        #expect(ring.writer.write(&value, count: -1) == 0)
        #expect(ring.writer.push(2))
        #expect(ring.reader.read(into: nil, count: 1) == 0)
        #expect(ring.reader.read(into: &value, count: -1) == 0)
        #expect(ring.reader.skip(-1) == 0)
        #expect(ring.reader.skip(0) == 0)
        #expect(ring.reader.pop() == 2)
    }

    @Test("Skipping takes what there is and no more")
    func skip() {
        let ring = Ring<Int>(minimumCapacity: 8)
        for value in 0..<6 { _ = ring.writer.push(value) }
        #expect(ring.reader.skip(4) == 4)
        #expect(ring.reader.pop() == 4)
        #expect(ring.reader.skip(10) == 1)
        #expect(ring.reader.pop() == nil)
    }

    @Test("Elements of any size and alignment come out as they went in")
    func wideElements() {
        let ring = Ring<SIMD16<Double>>(minimumCapacity: 2)
        for value in 0..<5 {
            #expect(ring.writer.push(SIMD16(repeating: Double(value))))
            #expect(ring.reader.pop() == SIMD16(repeating: Double(value)))
        }
    }
}
