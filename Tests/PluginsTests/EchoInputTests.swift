// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import NodeKit
import TestSupport

/// What an echo canceller may be given, good and bad.
@Suite(.serialized, .timeLimit(.minutes(10))) struct EchoInputTests {
    private let rate = 16000

    private func played(_ seconds: Int) throws -> [Float] {
        Array(try EchoVoice.flite.samples(rate: rate).prefix(seconds * rate))
    }

    @Test(
        "What is no number is silence, and counted; after it the echo is taken away as before",
        arguments: ["kalman", "speex"])
    func noNumbers(_ engine: String) throws {
        let played = try played(8)
        var heard = mixed(EchoRoom.office.heard(played, rate: rate), roomNoise(played.count))
        var reference = played
        for frame in 4 * rate..<4 * rate + 100 {
            heard[frame] = [.nan, .infinity, -.infinity, 1e30][frame % 4]
            reference[frame + 1000] = .nan
        }
        var bench = try EchoBench(["engine": .string(engine)], rate: rate)
        bench.run(heard, reference: reference)
        #expect(bench.given.allSatisfy { $0.isFinite })
        #expect(bench.node.capture.counts["not a number"] == 200)
        let after = heard.map { $0.isFinite && abs($0) < 1 ? $0 : 0 }
        #expect(bench.loss(6..<8, of: after) >= 20)
    }

    @Test("An overdriven microphone is told, and that it is well again") func clipping() throws {
        let played = try played(14)
        let loud = EchoRoom.office.heard(played, rate: rate).enumerated().map { index, sample in
            index < 5 * rate ? max(-1, min(1, sample * 40)) : sample
        }
        var bench = try EchoBench(rate: rate)
        bench.run(loud, reference: played)
        #expect(bench.given.allSatisfy { abs($0) < 2 })
        let health = bench.node.capture.health
        #expect(health.count == 2 && health.first?.reason?.contains("overdriven") == true && health.last == .ok)
    }

    @Test("A reference that is unplugged lets the microphone pass, and the echo is still known when it is back")
    func unplugged() throws {
        let played = try played(12)
        let (out, back) = (5 * rate, 8 * rate)
        let reference = played.enumerated().map { (out..<back).contains($0.offset) ? 0 : $0.element }
        let near = [Float](repeating: 0, count: out + rate) + noise(rate)
        var bench = try EchoBench(rate: rate)
        // Nothing is played either.
        bench.run(mixed(EchoRoom.office.heard(reference, rate: rate), near), reference: reference)
        // From the end of the room on, bit by bit, until a frame before the reference is back.
        let passed = out + rate..<back - bench.node.instance.latency
        let same = bench.given[passed] == bench.heard[passed]
        #expect(same)
        #expect(bench.loss(8.2..<10) >= 20)
        #expect(
            bench.node.capture.events("echo.state").map { $0.string("state") }.suffix(3) == [
                "cancelling", "idle", "cancelling",
            ])
    }

    @Test("Digital silence stays silence") func silence() throws {
        var bench = try EchoBench(["noise_suppression": .number(20), "gain_control": .number(-20)], rate: rate)
        bench.run([Float](repeating: 0, count: 2 * rate), reference: try played(2))
        #expect(Signal.peak(bench.given) < 1e-6)
    }

    @Test("The reference waits as long as sound takes to the loudspeaker, and the delay says how much more")
    func alignment() throws {
        let played = try played(8)
        let late = delayed(EchoRoom.office.heard(played, rate: rate), rate * 4 / 10)
        func loss(device: Double, delay: Double) throws -> Double {
            var bench = try EchoBench(["tail_ms": .number(150), "delay_ms": .number(0)], rate: rate)
            bench.node.capture.outputLatency = Int(device * Double(rate))
            try bench.node.set(setting: "delay_ms", to: .number(delay * 1000))
            bench.run(late, reference: played)
            return bench.loss(3..<8)
        }
        let known = try loss(device: 0.3, delay: 0.1)
        let unknown = try loss(device: 0, delay: 0)
        print("figure: an echo after 0.4 s: \(known) dB with its delay, \(unknown) dB without")
        #expect(known >= 25 && unknown < 15)
    }

    @Test("Two channels of the reference are mixed") func stereo() throws {
        let (played, other) = (try played(6), Signal.noise(frames: 6 * 16000, seed: 2, amplitude: 0.05))
        let heard = EchoRoom.office.heard(zip(played, other).map { $0 + $1 }, rate: rate)
        let node = try NodeHarness(
            pluginType("echo"), ["reference_channels": .integer(2)], rate: Double(rate), maxBlock: 8192, offline: true)
        #expect(node.instance.ports.filter { $0.bus == "reference" }.map(\.symbol) == ["reference_1", "reference_2"])
        let given = node.render(heard.count, block: 512, inputs: [heard, played, other])[0]
        let span = 3 * rate..<6 * rate
        #expect(Signal.decibels(Signal.rms(heard[span]) / Signal.rms(given[span])) > 20)
    }

    @Test("Another rate is another canceller, and as good") func newRate() throws {
        var bench = try EchoBench(rate: rate)
        let played = try played(5)
        bench.run(EchoRoom.office.heard(played, rate: rate), reference: played)
        let before = bench.node.instance.latency
        try bench.node.prepare(Preparation(rate: 48000, maxBlock: 8192, offline: true))
        #expect(before == 319 && bench.node.instance.latency == 959)
        let faster = Array(try EchoVoice.flite.samples(rate: 48000).prefix(5 * 48000))
        let heard = EchoRoom.office.heard(faster, rate: 48000)
        let given = bench.node.render(heard.count, block: 512, inputs: [heard, faster])[0]
        let span = 2 * 48000..<5 * 48000
        #expect(Signal.decibels(Signal.rms(heard[span]) / Signal.rms(given[span])) > 25)
    }

    @Test("The thread of WebRTC's canceller begins and ends with the node, and counts what it was too late for")
    func thread() throws {
        let node = try NodeHarness(pluginType("echo"), ["engine": .string("webrtc")], rate: 16000, maxBlock: 160)
        let latency = node.instance.latency
        // Faster than time goes: what is not there in time is silence, and lost.
        let given = node.run(32000, inputs: [noise(32000)], plan: .fixed(160))[0]
        #expect(given.count == 32000 && given.allSatisfy { $0.isFinite })
        try node.prepare(Preparation(rate: 48000, maxBlock: 256))
        #expect(node.instance.latency > 2 * latency)
        _ = node.run(4800, inputs: [noise(4800)], plan: .fixed(256))
        #expect(node.capture.health.isEmpty)
    }

    @Test("Steady noise is lowered by as many dB as were asked for, and speech stays") func steadyNoise() throws {
        let speech = [Float](repeating: 0, count: 3 * rate) + (try played(5))
        let steady = Signal.noise(frames: speech.count, seed: 4, amplitude: 0.01)
        var bench = try EchoBench(["noise_suppression": .number(12)], rate: rate)
        bench.run(mixed(speech, steady), reference: [])
        let (lowered, kept) = (bench.loss(1.5..<3), bench.loss(3..<8, of: speech))
        print("figure: noise suppression of 12 dB: noise \(lowered) dB, speech \(kept) dB")
        #expect(abs(lowered - 12) < 2.5)
        #expect(abs(kept) < 1)
        // Live.
        try bench.node.set(setting: "noise_suppression", to: .bool(false))
        bench.run(steady, reference: [])
        #expect(abs(bench.loss(2..<3)) < 0.1)
    }

    @Test("Speech is brought to a loudness, and nothing goes beyond full scale", arguments: [-20.0, -40]) func gain(
        level: Double
    ) throws {
        let speech = try played(12).map { $0 * Float(pow(10, (level + 26) / 20)) }
        var bench = try EchoBench(["gain_control": .number(-26)], rate: rate)
        bench.run(speech, reference: [])
        let given = Signal.decibels(Signal.rms(bench.given[6 * rate..<12 * rate]))
        print("figure: gain control: \(level) dBFS becomes \(given), -26 is asked for")
        #expect(abs(given + 26) < 3)
        #expect(Signal.peak(bench.given) < 1)
    }

    @Test(
        "A setting that makes no sense is refused with its name",
        arguments: [
            ("engine", SettingValue.string("ears")), ("tail_ms", .number(5)), ("delay_ms", .number(-2000)),
            ("suppression", .string("much")), ("suppression", .number(200)), ("noise_suppression", .bool(true)),
            ("gain_control", .number(6)), ("reference_channels", .integer(3)),
        ])
    func wrong(_ key: String, _ value: SettingValue) throws {
        let error = #expect(throws: NodeError.self) { try EchoBench([key: value]) }
        #expect(error?.key == key || error?.message.contains(key) == true, "\(String(describing: error))")
    }
}
