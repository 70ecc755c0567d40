// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// A conversation and everything that can happen to it, for as long as is asked for: `make soak-voice` for fifteen minutes,
/// here for some seconds.
@Suite("Conversation soak", .serialized) struct ConversationSoakTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seconds = environment["VOICEGRAPH_SOAK_SECONDS"].flatMap(Double.init) ?? 15
    private static let seed = environment["VOICEGRAPH_SOAK_SEED"].flatMap(UInt64.init) ?? 4

    @Test(
        "Random turns, interruptions and faults: everything said is answered, refused or reported",
        .timeLimit(.minutes(5 + Int(seconds / 30))))
    func soak() async throws {
        print("figure: conversation soak of \(Self.seconds) s with seed \(Self.seed)")
        let soak = try await ConversationSoak(seed: Self.seed)
        do {
            try await soak.run(seconds: Self.seconds)
        } catch {
            print(soak.figures.table)
            throw error
        }
        let figures = soak.figures
        print(figures.table)
        #expect(figures.refused.isEmpty, "what can be done is done")
        #expect(figures.replies > 0 && figures.faults.count > 0 && figures.kept > 0)
        if let settled = figures.settled, let last = figures.last {
            let most = figures.hasModels ? 65_536 : 12_288
            #expect(last.kilobytes - settled.kilobytes < most, "memory is flat")
            #expect(last.descriptors <= settled.descriptors + 4 && last.threads <= settled.threads + 4)
        }
    }
}
