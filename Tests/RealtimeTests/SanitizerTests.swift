// SPDX-License-Identifier: Apache-2.0
import Glibc
import Realtime
import TestSupport

private final class Garbage {
    var value: Float = 1
}

/// Keeps the optimizer from proving that nobody needs the object.
@inline(never)
private func allocate() -> Float { Garbage().value }

/// Proves that the net holds: `scripts/rtsan` sets the variable, and then a finding must end the process with 43.
@Suite("Realtime sanitizer", .enabled(if: getenv("VOICEGRAPH_RTSAN") != nil, "runs under scripts/rtsan"))
struct SanitizerTests {
    @Test("A planted allocation in a callback is caught")
    func allocation() async {
        await #expect(processExitsWith: .exitCode(43)) {
            vg_realtime_enter()
            let value = allocate()
            vg_realtime_exit()
            exit(value == 1 ? 0 : 1)
        }
    }

    @Test("A planted lock in a callback is caught")
    func lock() async {
        await #expect(processExitsWith: .exitCode(43)) {
            var mutex = pthread_mutex_t()
            pthread_mutex_init(&mutex, nil)
            vg_realtime_enter()
            pthread_mutex_lock(&mutex)
            vg_realtime_exit()
            exit(0)
        }
    }

    @Test("A planted system call in a callback is caught")
    func systemCall() async {
        await #expect(processExitsWith: .exitCode(43)) {
            vg_realtime_enter()
            usleep(1)
            vg_realtime_exit()
            exit(0)
        }
    }

    @Test("A clean callback passes: rings, kernels, meters, retiring, clocks")
    func clean() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let ring = Ring<Float>(minimumCapacity: 64)
            let levels = LevelQueue(channels: 1, rate: 48_000)
            let retired = RetireQueue(capacity: 2)
            let samples = UnsafeMutablePointer<Float>.allocate(capacity: 128)
            samples.initialize(repeating: 0.5, count: 128)
            let inputs = UnsafeMutablePointer<UnsafeMutablePointer<Float>?>.allocate(capacity: 1)
            inputs.initialize(to: samples)
            cleanCallback(ring, levels.meter, retired.retirer, samples, inputs)
            exit(levels.next() == nil ? 1 : 0)
        }
    }

    @Test("What is not in a callback may allocate")
    func outside() async {
        await #expect(processExitsWith: .exitCode(0)) {
            vg_realtime_enter()
            vg_realtime_exit()
            exit(allocate() == 1 ? 0 : 1)
        }
    }
}

private func cleanCallback(
    _ ring: Ring<Float>, _ meter: LevelMeter, _ retirer: Retirer, _ samples: UnsafeMutablePointer<Float>,
    _ inputs: UnsafePointer<UnsafeMutablePointer<Float>?>
) {
    var (meter, retirer) = (meter, retirer)
    let writer = ring.writer
    let reader = ring.reader
    vg_realtime_enter()
    for block in 0..<16 {
        cleanBlock(writer, reader, &meter, &retirer, samples, inputs, block)
    }
    vg_realtime_exit()
}

@_noLocks
private func cleanBlock(
    _ writer: RingWriter<Float>, _ reader: RingReader<Float>, _ meter: inout LevelMeter, _ retirer: inout Retirer,
    _ samples: UnsafeMutablePointer<Float>, _ inputs: UnsafePointer<UnsafeMutablePointer<Float>?>, _ block: Int
) {
    _ = vg_nanoseconds() &+ vg_ticks()
    _ = writer.write(samples, count: 128)
    _ = reader.read(into: samples, count: 128)
    _ = DSP.measure(samples, frames: 128)
    meter.feed(inputs, count: 1, frames: 128, position: UInt64(truncatingIfNeeded: block &* 128))
    if retirer.flush() { retirer.retire(UnsafeMutableRawPointer(samples)) }
}
