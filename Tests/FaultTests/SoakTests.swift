// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// Everything at once, for as long as is asked for: `make soak` for ten minutes, here for some seconds.
@Suite("Soak", .serialized) struct SoakTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seconds = environment["VOICEGRAPH_SOAK_SECONDS"].flatMap(Double.init) ?? 8
    private static let seed = environment["VOICEGRAPH_SOAK_SEED"].flatMap(UInt64.init) ?? 4

    @Test(
        "Random edits and faults under load: every promise holds", .timeLimit(.minutes(5 + Int(seconds / 30))))
    func soak() async throws {
        print("figure: soak of \(Self.seconds) s with seed \(Self.seed)")
        let soak = try await Soak(seed: Self.seed)
        do {
            try await soak.run(seconds: Self.seconds)
        } catch {
            print(soak.figures.table)
            throw error
        }
        let figures = soak.figures
        print(figures.table)
        #expect(figures.refused.isEmpty, "calls that can be done are done")
        #expect(
            figures.stepsAboveRamp == 0, "no sample is further from the one before than ramps allow:\(figures.steps)")
        #expect(figures.edits > 10 && figures.frames > 48000)
        let crowd = crowd()
        #expect(figures.reconnectTimes.allSatisfy { $0 < .seconds(10) * crowd }, "back in a second, on a quiet machine")
        // One that fails again and again waits for up to 5 s, and then has to be started beside all that load.
        #expect(figures.pluginTimes.allSatisfy { $0 < .seconds(20) * crowd }, "back in 0.3 s, on a quiet machine")
        // What malloc keeps free is some megabytes, more or less; what it has given is counted below.
        if let settled = figures.settledKilobytes, let last = figures.last {
            #expect(last.kilobytes - settled < 8192, "memory is flat")
        }
        // One description that is kept of each edit would be more than one piece and 1 kB each: these are a few seconds of it.
        if let settled = figures.settledHeap, let last = figures.lastHeap {
            #expect(last.pieces - settled.pieces < 250, "what is allocated is freed")
            // What was told is kept, in two arrays that grow by half.
            let kept = min(2 * (figures.told - figures.toldSettled), 8 << 20)
            #expect(last.bytes - settled.bytes < 512 << 10 + kept, "what is allocated is freed")
        }
    }
}
