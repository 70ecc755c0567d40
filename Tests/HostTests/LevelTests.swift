// SPDX-License-Identifier: Apache-2.0
import Realtime
import TestSupport

@testable import Host

/// Levels as consumers get them, from a whole graph.
@Suite(.timeLimit(.minutes(2))) struct LevelTests {
    /// 937.5 Hz at 48 kHz: whole cycles in every window.
    private func graph(level: Double, wave: String = "sine") -> String {
        """
        [graph]
        links = ["tone -> meter -> out", "tone -> orb"]
        [node.tone]
        type = "tone"
        wave = "\(wave)"
        frequency = 937.5
        level_db = \(level)
        [node.meter]
        type = "meter"
        [node.orb]
        type = "visualizer"
        [node.out]
        type = "output"
        """
    }

    @Test("There are sixty frames a second with their times", arguments: [44_100.0, 48_000, 96_000], [64, 1000])
    func frameRate(rate: Double, block: Int) throws {
        let run = try OfflineRun(graph(level: -20), rate: rate, block: block)
        run.play(Int(rate))
        let frames = run.levels("meter")
        #expect(frames.count == 60)
        let window = (rate / 60).rounded(.down)
        for (index, frame) in frames.enumerated() {
            #expect(abs(frame.time - Double(index + 1) * window / rate) < 1e-9)
        }
    }

    /// Silence 0; full-scale sine 0.9398; -20 dBFS sine 0.5398; an RMS of -25 dB 0.5.
    @Test(
        "The orb level is that of the scale of fifty decibels",
        arguments: [
            (-120.0, "sine", 0.0), (0, "sine", 0.9398), (-20, "sine", 0.5398), (-21.9897, "sine", 0.5),
            (-60, "sine", 0),

        ])
    func orbLevel(_ vector: (level: Double, wave: String, orb: Float)) throws {
        let run = try OfflineRun(graph(level: vector.level, wave: vector.wave))
        run.play(9600)
        for node in ["orb"] {
            let frame = try #require(run.levels(node).last)
            #expect(abs(frame.orb - vector.orb) < 1e-4)
        }
    }

    @Test("Peak and RMS are in their decibels", arguments: [0.0, -6, -20, -60]) func decibels(level: Double) throws {
        let run = try OfflineRun(graph(level: level))
        run.play(9600)
        let frame = try #require(run.levels("meter").last)
        #expect(abs(Signal.decibels(Double(frame.peak[0])) - level) < 0.1)
        #expect(abs(Double(LevelScale.decibels(rms: frame.rms[0])) - (level - 3.0103)) < 0.1)
    }

    @Test("Sixty level frames come in a second")
    func sixtyFramesComeInASecond() throws {
        let run = try OfflineRun(graph(level: -20))
        run.play(96_000)
        #expect(run.levels("orb").count == 120)
    }
}
