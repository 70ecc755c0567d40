// SPDX-License-Identifier: Apache-2.0
import Glibc
import Realtime
import TestSupport

/// Feeds planar audio to a meter in blocks of the given lengths, over and over.
private func feed(_ meter: inout LevelMeter, _ channels: [[Float]], blocks: [Int], from position: UInt64 = 0) {
    let copies = channels.map { channel in
        let copy = UnsafeMutablePointer<Float>.allocate(capacity: max(1, channel.count))
        copy.initialize(from: channel, count: channel.count)
        return copy
    }
    defer { copies.forEach { $0.deallocate() } }
    let frames = channels.first?.count ?? 0
    var start = 0
    var index = 0
    while start < frames {
        let length = min(blocks[index % blocks.count], frames - start)
        let inputs: [UnsafeMutablePointer<Float>?] = copies.map { $0 + start }
        meter.feed(inputs, count: inputs.count, frames: length, position: position + UInt64(start))
        start += length
        index += 1
    }
}

private func drain(_ queue: LevelQueue) -> [LevelRecord] {
    var records: [LevelRecord] = []
    while let record = queue.next() { records.append(record) }
    return records
}

/// A whole number of periods in 1024 frames, so that a window's RMS is exact.
private func sine(_ amplitude: Float, frames: Int) -> [Float] {
    (0..<frames).map { amplitude * Float(sin(2 * Double.pi * 16 * Double($0) / 1024)) }
}

@Suite("Levels") struct LevelTests {
    static let orbVectors: [(samples: [Float], level: Float)] = [
        (sine(0, frames: 1024), 0),
        (sine(1, frames: 1024), 0.9398),
        (sine(0.1, frames: 1024), 0.5398),
        ([Float](repeating: pow(10, -1.25), count: 1024), 0.5),
        ([Float](repeating: 4, count: 1024), 1),
        ([Float](repeating: 1e-6, count: 1024), 0),
        ([Float](repeating: .nan, count: 1024), 0),
    ]

    @Test("O2: The orb level has its known values", arguments: orbVectors)
    func orbLevel(samples: [Float], level: Float) {
        let queue = LevelQueue(channels: 1, rate: 48_000)
        var meter = queue.meter
        feed(&meter, [samples], blocks: [128])
        #expect(abs(meter.orb - level) < 0.00005)
    }

    @Test("The orb level of several channels is that of all their samples together")
    func orbOfChannels() {
        let queue = LevelQueue(channels: 2, rate: 48_000)
        var meter = queue.meter
        feed(&meter, [[Float](repeating: 0.1, count: 1024), [Float](repeating: 0.3, count: 1024)], blocks: [256])
        let expected = (20 * log10(Float((0.01 + 0.09) / 2).squareRoot()) + 50) / 50
        #expect(abs(meter.orb - expected) < 1e-5)
    }

    @Test(
        "`dBFS` has a floor of -120",
        arguments: [(Float(1), Float(0)), (0.1, -20), (0, -120), (1e-6, -120), (1e-7, -120)])
    func decibels(rms: Float, level: Float) {
        #expect(abs(LevelScale.decibels(rms: rms) - level) < 1e-4)
        #expect(LevelScale.decibels(rms: .nan).isNaN)
    }

    @Test(
        "A record comes every 60th of a second, rounded",
        arguments: [(48_000.0, 800), (44_100, 735), (22_050, 368), (96_000, 1600), (8000, 133), (0, 1)])
    func interval(rate: Double, frames: Int) {
        let queue = LevelQueue(channels: 1, rate: rate)
        var meter = queue.meter
        #expect(meter.interval == frames)
        feed(&meter, [[Float](repeating: 0, count: frames * 3 + frames - 1)], blocks: [100], from: 5000)
        #expect(drain(queue).map(\.position) == [1, 2, 3].map { 5000 + UInt64(frames * $0) })
    }

    @Test("Peak and RMS are per channel and start anew with each record")
    func values() {
        let queue = LevelQueue(channels: 2, rate: 48_000)
        var meter = queue.meter
        let loud = [Float](repeating: -0.5, count: 800)
        let soft = [Float](repeating: 0.25, count: 800)
        feed(&meter, [loud + soft, soft + soft], blocks: [96])
        let records = drain(queue)
        #expect(records.map(\.peak) == [[0.5, 0.25], [0.25, 0.25]])
        #expect(records.map(\.rms) == [[0.5, 0.25], [0.25, 0.25]])
    }

    @Test("However the audio is cut into blocks, the records are the same", arguments: 1...8)
    func blocks(seed: Int) {
        let audio = (0..<3).map { _ in (0..<20_000).map { _ in Float.random(in: -1...1) } }
        func records(_ blocks: [Int]) -> [LevelRecord] {
            let queue = LevelQueue(channels: 3, rate: 44_100)
            var meter = queue.meter
            feed(&meter, audio, blocks: blocks)
            return drain(queue)
        }
        let whole = records([20_000])
        let cut = records((0..<50).map { _ in Int.random(in: 1...(1 << seed)) })
        #expect(whole.count == 20_000 / 735)
        #expect(cut.count == whole.count)
        for (a, b) in zip(whole, cut) {
            #expect(a.position == b.position)
            #expect(a.peak == b.peak)
            #expect(zip(a.rms, b.rms).allSatisfy { abs($0 - $1) < 1e-6 })
            #expect(abs(a.orb - b.orb) < 1e-6)
        }
    }

    @Test("A NaN shows in its record and channel, and not in the next")
    func notANumber() {
        let queue = LevelQueue(channels: 2, rate: 48_000)
        var meter = queue.meter
        var bad = [Float](repeating: 0.5, count: 1600)
        bad[700] = .nan
        feed(&meter, [bad, [Float](repeating: 0.5, count: 1600)], blocks: [64])
        let records = drain(queue)
        #expect(records.count == 2)
        #expect(records[0].peak[0].isNaN && records[0].rms[0].isNaN)
        #expect(records[0].peak[1] == 0.5)
        #expect(records[1].peak == [0.5, 0.5])
        #expect(records.allSatisfy { (0...1).contains($0.orb) })
    }

    @Test("Channels that are missing are silent and further ones ignored")
    func channelCounts() {
        let queue = LevelQueue(channels: 2, rate: 60 * 16)
        var meter = queue.meter
        feed(&meter, [[Float](repeating: 1, count: 16)], blocks: [16])
        feed(&meter, [[Float]](repeating: [Float](repeating: 1, count: 16), count: 3), blocks: [16])
        meter.feed(nil, count: 2, frames: 16, position: 0)
        meter.feed([nil, nil], count: 2, frames: 16, position: 0)
        #expect(drain(queue).map(\.peak) == [[1, 0], [1, 1], [0, 0], [0, 0]])
        #expect(LevelQueue(channels: 1000, rate: 48_000).meter.channels == LevelMeter.maxChannels)
        #expect(LevelQueue(channels: 0, rate: 48_000).meter.channels == 1)
    }

    @Test("A full ring drops whole records, and the next one that fits says how many")
    func drops() {
        let queue = LevelQueue(channels: 1, rate: 60 * 4, records: 2)
        var meter = queue.meter
        feed(&meter, [[Float](repeating: 1, count: 4 * 10)], blocks: [4])
        #expect(meter.dropped > 0)
        let first = drain(queue)
        #expect(first.count + Int(meter.dropped) == 10)
        #expect(first.map(\.position) == first.indices.map { UInt64(4 * ($0 + 1)) })
        feed(&meter, [[Float](repeating: 1, count: 4)], blocks: [4])
        #expect(drain(queue).map(\.dropped) == [10 - first.count])
    }
}
