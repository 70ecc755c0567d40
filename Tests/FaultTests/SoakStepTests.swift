// SPDX-License-Identifier: Apache-2.0
import Foundation
import GraphFile
import TestSupport

/// What the soak takes for a click, and what for the sound of an edit.
@Suite("Steps of the soak") struct SoakStepTests {
    private static let rate = 48_000

    /// The file's graph, with its sine so loud at the output, in dB.
    private func graph(_ gain: Double) -> GraphDescription {
        var graph = Soak.firstModel
        graph.links[1].gainDB = gain
        return graph
    }

    /// A sine of so many frames, which gets from one gain to another in 10 ms from a frame on.
    private func sine(_ frames: Int, _ from: Double, to gain: Double, at change: Int) -> [Float] {
        (0..<frames).map { frame in
            let part = min(max(Double(frame - change) / 480, 0), 1)
            let now = from + (gain - from) * (1 - cos(.pi * part)) / 2
            return Float(SoakSteps.amplitude * now * sin(2 * .pi * 200 * Double(frame) / Double(Self.rate)))
        }
    }

    /// Steps of a graph that was 12 dB quieter than the file's for longer than anything is remembered.
    private func quietSteps() -> SoakSteps {
        var steps = SoakSteps(Soak.firstModel)
        steps.change(to: graph(-12), "quieter", at: nil)
        steps.listen(from: 0)
        steps.change(to: graph(-12), "nothing", at: 2 * SoakSteps.memory)
        _ = steps.judge([Float](repeating: 0, count: 2 * SoakSteps.memory), rate: Self.rate)
        steps.listen(from: 0)
        return steps
    }

    @Test("A graph that gets louder as a whole may be so loud at once, and until the next change")
    func reload() {
        var steps = quietSteps()
        steps.change(to: Soak.firstModel, "reload", at: 4800)
        let findings = steps.judge(sine(14_400, 0.2512, to: 1, at: 4800), rate: Self.rate)
        #expect(findings.above == 0 && findings.largestShare < 0.9, "\(findings)")
        #expect(findings.frames == 14_400)
    }

    @Test("What is louder than any graph that was asked for is found, with the change before it")
    func louder() throws {
        var steps = quietSteps()
        steps.change(to: graph(-12), "turned", at: 1200)
        let findings = steps.judge(sine(14_400, 0.2512, to: 1, at: 4800), rate: Self.rate)
        let first = try #require(findings.first)
        #expect(first.change == "turned" && first.frame > 4800 && first.since == first.frame - 1200)
        #expect(findings.above > 1000 && findings.largestShare > 1.4, "\(findings)")
    }

    @Test("A click of a tenth of the sine is found in each graph", arguments: [0.0, -6, -12])
    func click(gain: Double) throws {
        var steps = quietSteps()
        steps.change(to: graph(gain), "louder", at: 1000)
        let loudness = pow(10, gain / 20)
        var heard = sine(9600, 0.2512, to: loudness, at: 1000)
        // At a peak of the sine, where its own steps are the smallest.
        heard[7260] -= Float(0.1 * SoakSteps.amplitude * loudness)
        let findings = steps.judge(heard, rate: Self.rate)
        let first = try #require(findings.first)
        #expect(first.frame == 7260 && findings.above == 2, "there and back: \(findings)")
    }

    @Test("A gain that jumps at a peak is found, where a ramp of 10 ms is none")
    func jump() throws {
        var steps = quietSteps()
        steps.change(to: Soak.firstModel, "reload", at: 4000)
        var heard = sine(9600, 0.2512, to: 1, at: 4000)
        let (quiet, loud) = (sine(9600, 0.2512, to: 0.2512, at: 0), sine(9600, 1, to: 1, at: 0))
        heard.replaceSubrange(4000..., with: quiet[4000..<4140] + loud[4140...])
        let first = try #require(steps.judge(heard, rate: Self.rate).first)
        #expect(first.frame == 4140 && first.change == "reload")
    }

    @Test("What is not a number is found")
    func notANumber() throws {
        var steps = quietSteps()
        var heard = sine(4800, 0.2512, to: 0.2512, at: 0)
        heard[100] = .nan
        let first = try #require(steps.judge(heard, rate: Self.rate).first)
        #expect(first.frame == 100 && first.share == .infinity)
    }

    @Test("What delays still hold may be as loud as it was, and only for as long as they hold it")
    func delays() {
        for (later, found) in [(24_000, false), (SoakSteps.memory + 1, true)] {
            var steps = SoakSteps(Soak.firstModel)
            steps.listen(from: 0)
            steps.change(to: graph(-12), "quieter", at: 0)
            steps.change(to: graph(-12), "turned", at: later)
            let quiet = [Float](repeating: 0, count: later)
            // A listener who goes takes nothing along.
            #expect(steps.judge(quiet, rate: Self.rate).above == 0)
            steps.listen(from: 0)
            steps.change(to: graph(-12), "turned", at: 1)
            #expect((steps.judge(sine(4800, 1, to: 1, at: 0), rate: Self.rate).above > 0) == found, "\(later)")
        }
    }
}
