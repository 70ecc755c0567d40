// SPDX-License-Identifier: Apache-2.0
import CPeers
import Realtime

/// Peak and sum of squares beside the loop that one would write first.
func meterBenchmark(_ effort: Effort) throws -> [Row] {
    var rows: [Row] = []
    for frames in [64, 128, 256, 1024, 4096] {
        let samples = (0..<frames).map { Float($0 % 200 - 100) / 100 }
        let rounds = (effort.isQuick ? 400_000 : 4_000_000) / frames
        let figures = try samples.withUnsafeBufferPointer { buffer in
            let pointer = buffer.baseAddress!
            return try interleaved(
                effort.repetitions,
                [
                    { repeated(rounds, pointer) { DSP.measure(pointer, frames: frames) } },
                    { repeated(rounds, pointer) { plainMeasure(pointer, frames) } },
                ])
        }
        let own = Row("\(frames) frames", "voicegraph", figures[0], "ns").compared(
            figures[0], with: figures[1], "plain loop")
        rows.append(own.aiming(">= 10 x", (own.ratio?.median ?? 0) >= 10))
        rows.append(Row("\(frames) frames", "plain loop", figures[1], "ns"))
    }
    return rows
}

/// Nanoseconds of one of many rounds.
private func repeated(_ rounds: Int, _ samples: UnsafePointer<Float>, _ body: () -> Measure) -> Double {
    processorTime {
        for _ in 0..<rounds {
            let measure = body()
            peer_keep(samples, measure.peak + measure.sumOfSquares)
        }
    } / Double(rounds)
}

@inline(never)
private func plainMeasure(_ samples: UnsafePointer<Float>, _ frames: Int) -> Measure {
    var peak: Float = 0
    var sum: Float = 0
    for frame in 0..<frames {
        peak = max(peak, abs(samples[frame]))
        sum += samples[frame] * samples[frame]
    }
    return Measure(peak: peak, sumOfSquares: sum)
}
