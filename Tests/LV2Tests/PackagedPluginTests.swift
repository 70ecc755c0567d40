// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport

@testable import LV2

/// Plugins as distributions ship them: instruments, event filters, effects with tails and latency.
@Suite(.timeLimit(.minutes(5)))
struct PackagedPluginTests {
    private static let note = [TimedMIDI(100, [0x90, 60, 100]), TimedMIDI(30000, [0x80, 60, 0])]

    @Test("Fifths doubles every note seven semitones up", needs(Plugins.fifths, package: "lv2-examples"))
    func fifthsAreAdded() throws {
        let harness = try NodeHarness(lv2NodeType(), settings(Plugins.fifths))
        harness.midiInputs = [[TimedMIDI(10, [0x90, 60, 100]), TimedMIDI(200, [0x80, 60, 0])]]
        _ = harness.run(512)
        #expect(
            harness.midiOutputs == [
                [
                    TimedMIDI(10, [0x90, 60, 100]), TimedMIDI(10, [0x90, 67, 100]), TimedMIDI(200, [0x80, 60, 0]),
                    TimedMIDI(200, [0x80, 67, 0]),
                ]
            ])
    }

    // The plugin counts a note from the event before it, so the events lie on block borders here.
    @Test("The gate opens with a note and closes with its end", needs(Plugins.midigate, package: "lv2-examples"))
    func gateFollowsNotes() throws {
        let harness = try NodeHarness(lv2NodeType(), settings(Plugins.midigate))
        harness.midiInputs = [[TimedMIDI(128, [0x90, 60, 100]), TimedMIDI(320, [0x80, 60, 0])]]
        let input = noise(512)
        let output = harness.run(512, inputs: [input])[0]
        #expect(output[..<128].allSatisfy { $0 == 0 })
        #expect(Array(output[128..<320]) == Array(input[128..<320]))
        #expect(output[320...].allSatisfy { $0 == 0 })
    }

    @Test("The metronome clicks while the transport rolls, once a beat", needs(Plugins.metro, package: "lv2-examples"))
    func metronomeFollowsTransport() throws {
        let harness = try NodeHarness(lv2NodeType(), settings(Plugins.metro), maxBlock: 480)
        var clicks: [Int] = []
        var sounding = false
        for block in 0..<200 {
            harness.transport = vg_transport(
                rolling: true, frame: UInt64(block * 480), bpm: 120, beat: Double(block) * 480 / 24000,
                beats_per_bar: 4, beat_type: 4)
            for (frame, sample) in harness.run([480])[0].enumerated() {
                // The click rings for about 70 ms, so a pause of 100 ms ends it.
                if abs(sample) > 1e-4 {
                    if !sounding || block * 480 + frame - (clicks.last ?? 0) > 12000 {
                        clicks.append(block * 480 + frame)
                    }
                    sounding = true
                }
            }
        }
        #expect(clicks.count == 4)
        for (index, click) in clicks.enumerated() { #expect(abs(click - index * 24000) < 100) }
    }

    @Test(
        "The sampler plays the sample of its default state", needs(Plugins.sampler, package: "lv2-examples"),
        arguments: [false, true])
    func samplerPlays(offline: Bool) throws {
        let harness = try NodeHarness(lv2NodeType(), settings(Plugins.sampler), offline: offline)
        harness.midiInputs = [Self.note]
        let output = harness.run(9600)[0]
        #expect(output[..<100].allSatisfy { $0 == 0 })
        #expect(peak(output) > 0.1)
    }

    @Test(
        "An instrument sounds from the note's frame on, and not before",
        needs("http://drobilla.net/plugins/mda/EPiano", "http://drobilla.net/plugins/mda/JX10", package: "mda-lv2"),
        arguments: ["EPiano", "Piano", "JX10", "DX10"])
    func instrumentSounds(name: String) throws {
        let harness = try NodeHarness(lv2NodeType(), settings("http://drobilla.net/plugins/mda/" + name))
        harness.midiInputs = [Self.note]
        let output = harness.run(24000)
        #expect(output.count == 2)
        #expect(peak(output[0][..<100]) == 0)
        #expect(peak(output[0]) > 0.01)
        #expect(peak(output[1]) > 0.01)
        #expect(output.allSatisfy { $0.allSatisfy(\.isFinite) })
    }

    @Test(
        "A preset by its label sets the parameters of the node",
        needs("http://drobilla.net/plugins/mda/Detune", package: "mda-lv2"))
    func presetSetsParameters() throws {
        let uri = "http://drobilla.net/plugins/mda/Detune"
        let detuned = try NodeHarness(lv2NodeType(), settings(uri, preset: "out of tune"))
        let plain = try NodeHarness(lv2NodeType(), settings(uri))
        let start = detuned.instance.parameters.map(\.defaultValue)
        #expect(start != plain.instance.parameters.map(\.defaultValue))
        let input = noise(4800)
        #expect(detuned.run(4800, inputs: [input, input]) != plain.run(4800, inputs: [input, input]))
    }

    @Test(
        "A reverb and an echo ring on after their input has ended",
        needs(
            "http://plugin.org.uk/swh-plugins/plate", "http://plugin.org.uk/swh-plugins/fadDelay", package: "swh-lv2"),
        arguments: ["plate", "fadDelay"])
    func tailsRing(name: String) throws {
        let harness = try NodeHarness(lv2NodeType(), settings("http://plugin.org.uk/swh-plugins/" + name))
        let burst = noise(4800) + [Float](repeating: 0, count: 91200)
        let output = harness.run(96000, inputs: [burst])
        #expect(output.allSatisfy { peak($0[9600...]) > 1e-3 })
        #expect(output.allSatisfy { $0.allSatisfy(\.isFinite) })
    }

    @Test(
        "A latency of seconds is known before the first block",
        needs("http://plugin.org.uk/swh-plugins/artificialLatency", package: "swh-lv2"))
    func latencyIsKnown() throws {
        let uri = "http://plugin.org.uk/swh-plugins/artificialLatency"
        let harness = try NodeHarness(lv2NodeType(), settings(uri, params: ["delay": .integer(2500)]))
        #expect(harness.instance.latency == 120_000)
        harness.set("delay", 10)
        _ = harness.run(64)
        #expect(harness.instance.latency == 480)
    }

    @Test(
        "A convolver that loads its response through the worker passes the signal it should",
        needs("http://gareus.org/oss/lv2/zeroconvolv#Mono", package: "x42-plugins"), arguments: [false, true])
    func convolverLoads(offline: Bool) throws {
        let harness = try NodeHarness(
            lv2NodeType(), settings("http://gareus.org/oss/lv2/zeroconvolv#Mono", preset: "No-OP Mono"), maxBlock: 256,
            offline: offline)
        let input = noise(48000)
        let output = harness.run(48000, inputs: [input], plan: .fixed(256))[0]
        // The response is one impulse: once it is loaded, what comes out is what went in, though not to the last bit,
        // and as late as the plugin says.
        let late = harness.instance.latency
        #expect(zip(output[24000...], input[(24000 - late)...]).allSatisfy { abs($0 - $1) < 1e-5 })
    }
}
