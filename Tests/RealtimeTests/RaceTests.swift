// SPDX-License-Identifier: Apache-2.0
import Glibc
import Realtime
import Synchronization
import TestSupport

/// Two threads on each structure, for the thread sanitizer.
/// Memory that the ring alone protects: the producer writes a place before it sends its number, the consumer reads it
/// after it got the number. The elements themselves are no bait: generic code copies them unseen by the sanitizer.
private struct Bait: @unchecked Sendable {
    // Sendable: whether that holds is what is tested.
    let places: UnsafeMutablePointer<Int>
    let mask: Int

    init<Element>(_ ring: Ring<Element>) {
        places = .allocate(capacity: ring.capacity)
        places.initialize(repeating: -1, count: ring.capacity)
        mask = ring.capacity - 1
    }

    func set(_ value: Int) { places[value & mask] = value }
    func holds(_ value: Int) -> Bool { places[value & mask] == value }
}

@Suite("Race", .timeLimit(.minutes(10))) struct RaceTests {
    @Test("One by one, all arrive in order", arguments: [1, 2, 64, 4096])
    func single(capacity: Int) {
        let count = stressed(capacity < 64 ? 5_000 : 250_000)
        let ring = Ring<Int>(minimumCapacity: capacity)
        let bait = Bait(ring)
        defer { bait.places.deallocate() }
        var wrong = 0
        together({
            var value = 0
            while value < count {
                guard ring.writer.space > 0 else {
                    sched_yield()
                    continue
                }
                bait.set(value)
                if ring.writer.push(value) { value += 1 }
            }
        }) {
            var expected = 0
            while expected < count {
                if ring.reader.available > 0, !bait.holds(expected) { wrong += 1 }
                guard let value = ring.reader.pop() else {
                    sched_yield()
                    continue
                }
                if value != expected { wrong += 1 }
                expected += 1
            }
        }
        #expect(wrong == 0)
        #expect(ring.reader.pop() == nil)
        #expect(ring.writer.total == count)
    }

    @Test("In blocks of random lengths, all arrive in order and the sum is right", arguments: [7, 64, 1024])
    func blocks(longest: Int) {
        let count = stressed(500_000)
        let ring = Ring<Int>(minimumCapacity: longest)
        let bait = Bait(ring)
        defer { bait.places.deallocate() }
        var wrong = 0
        var sum = 0
        together({
            var next = 0
            while next < count {
                let length = min(count - next, Int.random(in: 1...longest), ring.writer.space)
                for value in next..<next + length { bait.set(value) }
                let written = ring.writer.write(Array(next..<next + length), count: length)
                if written == 0 { sched_yield() }
                next += written
            }
        }) {
            var block = [Int](repeating: 0, count: longest)
            var expected = 0
            while expected < count {
                // Looked at before it is taken: once taken, the producer may have the place back.
                let length = min(ring.reader.available, Int.random(in: 1...longest))
                for value in expected..<expected + length where !bait.holds(value) { wrong += 1 }
                let read = ring.reader.read(into: &block, count: length)
                if read == 0 { sched_yield() }
                for index in 0..<read {
                    if block[index] != expected + index { wrong += 1 }
                    sum += block[index]
                }
                expected += read
            }
        }
        #expect(wrong == 0)
        #expect(sum == count * (count - 1) / 2)
    }

    @Test("Whatever is retired is freed once, even through a queue of two", arguments: [2, 64])
    func retire(capacity: Int) {
        let count = stressed(100_000)
        let queue = RetireQueue(capacity: capacity)
        let left = Ring<UInt>(minimumCapacity: 1)
        let freed = Atomic<Int>(0)
        var sum = 0
        together({
            var retirer = queue.retirer
            var number = 0
            while number < count {
                guard retirer.flush() else {
                    sched_yield()
                    continue
                }
                // The audio thread's last writes to what it retires must reach whoever frees it.
                let memory = UnsafeMutablePointer<Int>.allocate(capacity: 1)
                memory.pointee = number
                retirer.retire(UnsafeMutableRawPointer(memory))
                number += 1
            }
            _ = left.writer.push(UInt(bitPattern: retirer.kept))
        }) {
            func release(_ pointer: UnsafeMutableRawPointer) {
                let memory = pointer.assumingMemoryBound(to: Int.self)
                sum += memory.pointee
                memory.deallocate()
                freed.add(1, ordering: .relaxed)
            }
            while true {
                if queue.drain(release) == 0 { sched_yield() }
                guard let kept = left.reader.pop() else { continue }
                queue.drain(release)
                if let pointer = UnsafeMutableRawPointer(bitPattern: kept) { release(pointer) }
                break
            }
        }
        #expect(freed.load(ordering: .relaxed) == count)
        #expect(sum == count * (count - 1) / 2)
    }

    @Test("Level records are whole and in order, and none is lost uncounted")
    func levels() {
        let count = stressed(20_000)
        let queue = LevelQueue(channels: 3, rate: 60 * 16, records: 8)
        let ended = Atomic<Bool>(false)
        let dropped = Atomic<Int>(0)
        var taken = 0
        var wrong = 0
        together({
            var meter = queue.meter
            var samples = [Float](repeating: 0, count: 16)
            for block in 0..<count {
                for index in samples.indices { samples[index] = Float(block % 1000) }
                samples.withUnsafeMutableBufferPointer { samples in
                    let inputs = [UnsafeMutablePointer<Float>?](repeating: samples.baseAddress, count: 3)
                    meter.feed(inputs, count: 3, frames: 16, position: UInt64(16 * block))
                }
                if block % 8 == 0 { sched_yield() }
            }
            dropped.store(Int(meter.dropped), ordering: .relaxed)
            ended.store(true, ordering: .releasing)
        }) {
            var newest: UInt64 = 0
            while true {
                let last = ended.load(ordering: .acquiring)
                while let record = queue.next() {
                    taken += 1
                    let value = Float((record.position / 16 - 1) % 1000)
                    if record.position <= newest || record.peak != [value, value, value] { wrong += 1 }
                    newest = record.position
                }
                if last { break }
                sched_yield()
            }
        }
        #expect(wrong == 0)
        #expect(taken + dropped.load(ordering: .relaxed) == count)
    }
}
