// SPDX-License-Identifier: Apache-2.0
import CPeers
import Glibc
import Realtime
import System

/// What a side of a transfer does: `total` floats, `chunk` at a time, from or to a block.
private typealias Side = @Sendable (_ total: Int, _ chunk: Int, _ block: Block) -> Void

/// One ring, as the benchmark uses it.
private struct Contender {
    var name: String
    var fill: Side
    var drain: Side
    /// Both ends in turn.
    var alternate: Side
}

/// Memory for 1024 floats.
private struct Block: @unchecked Sendable {
    // Sendable: one thread uses it at a time.
    let start: UnsafeMutablePointer<Float>
}

/// A C pointer that two threads share.
private struct Handle: @unchecked Sendable {
    // Sendable: a ring is made to have its two ends used by two threads.
    let pointer: OpaquePointer
    init(_ pointer: OpaquePointer) { self.pointer = pointer }
}

/// Our ring beside a ring in C11 and libjack's, 16384 floats each: with both ends on one thread, which is the price of
/// the calls, and between two threads, where the processors' caches have their say.
func ringBenchmark(_ effort: Effort) throws -> [Row] {
    let capacity = 16384
    let ring = Ring<Float>(minimumCapacity: capacity)
    let (writer, reader) = (ring.writer, ring.reader)
    let c11 = Handle(peer_ring_new(capacity)!)
    let jack = Handle(peer_jack_new(capacity)!)
    // How fast a copy is depends on where it begins in a page, so all use the same places, another one each time.
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 32768, alignment: 4096)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: 32768)
    defer {
        peer_ring_free(c11.pointer)
        peer_jack_free(jack.pointer)
        memory.deallocate()
    }
    let contenders = [
        Contender(
            name: "voicegraph", fill: { fill(writer, $0, $1, $2) }, drain: { drain(reader, $0, $1, $2) },
            alternate: { alternate(writer, reader, $0, $1, $2) }),
        Contender(
            name: "C11 ring", fill: { peer_ring_fill(c11.pointer, $0, $1, $2.start) },
            drain: { peer_ring_drain(c11.pointer, $0, $1, $2.start) },
            alternate: { peer_ring_alternate(c11.pointer, $0, $1, $2.start) }),
        Contender(
            name: "jack_ringbuffer", fill: { peer_jack_fill(jack.pointer, $0, $1, $2.start) },
            drain: { peer_jack_drain(jack.pointer, $0, $1, $2.start) },
            alternate: { peer_jack_alternate(jack.pointer, $0, $1, $2.start) }),
    ]
    var rows: [Row] = []
    for threads in [1, 2] {
        for chunk in [1, 64, 1024] {
            let calls = chunk == 1 ? 1_000_000 : chunk == 64 ? 400_000 : 40_000
            let total = (effort.isQuick ? calls / 8 : calls) * chunk
            let samples = try interleaved(effort.repetitions) { repetition in
                let place = (memory + repetition % 32 * 128).assumingMemoryBound(to: Float.self)
                let blocks = (Block(start: place), Block(start: place + 4096))
                return contenders.map { contender in
                    {
                        let time =
                            threads == 1
                            ? processorTime { contender.alternate(total, chunk, blocks.0) }
                            : try transfer(contender, total, chunk, blocks)
                        return time / Double(total / chunk)
                    }
                }
            }
            rows += report(samples, contenders.map(\.name), chunk, threads)
        }
    }
    withExtendedLifetime(ring) {}
    return rows
}

private func report(_ samples: [[Double]], _ names: [String], _ chunk: Int, _ threads: Int) -> [Row] {
    let item = "\(chunk) float\(chunk == 1 ? "" : "s"), \(threads) thread\(threads == 1 ? "" : "s")"
    let least = chunk == 1 ? 0.5 : 0.9
    let own = Row(item, names[0], samples[0], "ns/call")
    let toC11 = own.compared(samples[0], with: samples[1], names[1])
    let toJack = own.compared(samples[0], with: samples[2], names[2])
    return [
        toC11.aiming(chunk == 1 ? "> 0.5 x" : ">= 0.9 x", (toC11.ratio?.median ?? 0) >= least),
        toJack.aiming("> 1 x", (toJack.ratio?.median ?? 0) > 1),
        Row(item, names[1], samples[1], "ns/call"), Row(item, names[2], samples[2], "ns/call"),
    ]
}

/// Moves `total` floats from one thread to another. Returns the processor time of the side that took less, in
/// nanoseconds: the other one also waited.
private func transfer(_ contender: Contender, _ total: Int, _ chunk: Int, _ blocks: (Block, Block)) throws -> Double {
    let (reading, times) = (StartGate(), Times())
    let thread = try SystemThread(name: "drain") {
        reading.open()
        times.drain = processorTime { contender.drain(total, chunk, blocks.1) }
    }
    reading.wait()
    let fill = processorTime { contender.fill(total, chunk, blocks.0) }
    thread.join()
    return min(fill, times.drain)
}

private final class Times: @unchecked Sendable {
    // Sendable: read after the thread that writes it has been joined.
    var drain = 0.0
}

private func fill(_ writer: RingWriter<Float>, _ total: Int, _ chunk: Int, _ block: Block) {
    var spins: UInt32 = 0
    if chunk == 1 {
        for _ in 0..<total {
            while !writer.push(1) { peer_wait(&spins) }
        }
        return
    }
    var sent = 0
    while sent < total {
        let wrote = writer.write(block.start, count: chunk)
        if wrote == 0 { peer_wait(&spins) }
        sent += wrote
    }
}

private func drain(_ reader: RingReader<Float>, _ total: Int, _ chunk: Int, _ block: Block) {
    var spins: UInt32 = 0
    var got = 0
    while got < total {
        if chunk == 1 {
            if let value = reader.pop() {
                peer_keep(nil, value)
                got += 1
            } else {
                peer_wait(&spins)
            }
        } else {
            let count = reader.read(into: block.start, count: chunk)
            if count == 0 { peer_wait(&spins) } else { peer_keep(block.start, block.start[0]) }
            got += count
        }
    }
}

private func alternate(
    _ writer: RingWriter<Float>, _ reader: RingReader<Float>, _ total: Int, _ chunk: Int, _ block: Block
) {
    var done = 0
    while done < total {
        if chunk == 1 {
            _ = writer.push(1)
            peer_keep(nil, reader.pop() ?? 0)
        } else {
            _ = writer.write(block.start, count: chunk)
            _ = reader.read(into: block.start, count: chunk)
            peer_keep(block.start, block.start[0])
        }
        done += chunk
    }
}
