// SPDX-License-Identifier: Apache-2.0
import LV2
import NodeKit
import TestSupport

@testable import Host
@testable import Isolation

private let installed = Set(World.shared.installed(names: false).map(\.uri))

/// What is heard of an isolated node is what is heard of the node.
@Suite(.serialized, .timeLimit(.minutes(10))) struct IdentityTests {
    /// Effects with and without state, latency, MIDI, control outputs and workers, of several makers.
    static let effects = [
        "http://lv2plug.in/plugins/eg-amp", "http://lv2plug.in/plugins/eg-params",
        "http://drobilla.net/plugins/mda/Overdrive", "http://drobilla.net/plugins/mda/Piano",
        "http://drobilla.net/plugins/mda/Limiter", "http://drobilla.net/plugins/mda/Ambience",
        "http://plugin.org.uk/swh-plugins/plate", "http://plugin.org.uk/swh-plugins/lookaheadLimiter",
        "http://plugin.org.uk/swh-plugins/fastLookaheadLimiter", "http://plugin.org.uk/swh-plugins/delayorama",
        "http://gareus.org/oss/lv2/fil4#mono",
        "http://gareus.org/oss/lv2/midifilter#miditranspose",
    ].filter(installed.contains)

    private func registry() -> NodeRegistry {
        let isolation = Isolation()
        isolation.use(
            testPolicy {
                $0.memory = 2 << 30
                $0.blockShare = 20_000  // of a block of one frame, too
            })
        return NodeRegistry(isolation: isolation)
    }

    private func play(
        _ type: UnsafePointer<vg_node_type>, _ settings: [String: SettingValue], offline: Bool
    ) throws -> (audio: [[Float]], controls: [[Float]], midi: [[TimedMIDI]], latency: Int) {
        let harness = try NodeHarness(type, settings, maxBlock: 512, offline: offline)
        for port in harness.midiInputs.indices {
            harness.midiInputs[port] = (0..<20).map {
                TimedMIDI($0 * 777, $0 % 2 == 0 ? [0x90, UInt8(50 + $0), 100] : [0x80, UInt8(49 + $0), 0])
            }
        }
        var random = SeededRandom(seed: 7)
        let inputs = harness.instance.ports.count { $0.kind == VG_AUDIO_PORT && $0.direction == VG_INPUT }
        var audio: [[Float]] = []
        for round in 0..<40 {
            let frames = [512, 1, 64, 333, 128][round % 5]
            if let parameter = harness.instance.parameters.first, round % 7 == 3 {
                let share = Float(random.next() % 1000) / 1000
                let range = parameter.range
                harness.set(
                    parameter.key, range.lowerBound + (range.upperBound - range.lowerBound) * share,
                    over: round % 2 * 480)
            }
            let signal = (0..<inputs).map { _ in (0..<frames).map { _ in Float(random.next() % 2001) / 1000 - 1 } }
            let output = harness.run([frames], inputs: signal)
            if audio.isEmpty { audio = output } else { for index in audio.indices { audio[index] += output[index] } }
        }
        return (audio, harness.controlOutputs, harness.midiOutputs, harness.instance.latency)
    }

    @Test("An isolated LV2 plugin gives, bit for bit, what the same plugin gives in the host", arguments: effects)
    func anInstalledPlugin(uri: String) throws {
        let registry = registry()
        let entry = try #require(registry.catalog(for: ["lv2"]).types["lv2"])
        let isolated = try #require(registry.isolator.isolated(entry.type, path: "", isGroup: false))
        for offline in [true, false] {
            let settings: [String: SettingValue] = ["plugin": .string(uri)]
            let here = try play(entry.type, settings, offline: offline)
            let there = try play(isolated, settings, offline: offline)
            #expect(here.audio.map { $0.map(\.bitPattern) } == there.audio.map { $0.map(\.bitPattern) })
            #expect(here.controls == there.controls)
            #expect(here.midi == there.midi)
            #expect(here.latency == there.latency)
        }
    }

    @Test("An isolated plugin of the host's own kind does too", arguments: ["tremolo", "bitcrush"])
    func ownPlugins(name: String) throws {
        let registry = registry()
        let entry = try #require(registry.catalog(for: [name]).types[name])
        let isolated = try #require(registry.isolator.isolated(entry.type, path: entry.origin, isGroup: false))
        let here = try play(entry.type, [:], offline: false)
        let there = try play(isolated, [:], offline: false)
        #expect(here.audio.map { $0.map(\.bitPattern) } == there.audio.map { $0.map(\.bitPattern) })
        #expect(here.audio[0].contains { $0 != 0 })
    }
}

/// A generator that gives the same numbers every time.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 2 &+ 1 }
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
