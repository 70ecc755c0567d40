// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import Synchronization
import TestSupport

@testable import LV2

/// What goes wrong in hosts, each with an installed plugin that shows it. Not under sanitizers: what the plugins do
/// with their own memory and time is theirs.
@Suite(.timeLimit(.minutes(3)), .enabled(if: !Sanitizer.isLoaded, "plugins are not ours to sanitize"))
struct PitfallTests {
    private static let note = [TimedMIDI(1000, [0x90, 60, 100]), TimedMIDI(30000, [0x80, 60, 0])]
    private static let ir = "http://tomszilagyi.github.io/plugins/lv2/ir"
    private static let swh = "http://plugin.org.uk/swh-plugins/"

    private func harness(
        _ plugin: String, _ params: [String: SettingValue] = [:], preset: String? = nil, state: String? = nil,
        maxBlock: Int = 256, offline: Bool = true
    ) throws -> NodeHarness {
        try NodeHarness(
            lv2NodeType(), settings(plugin, params: params, preset: preset, state: state), maxBlock: maxBlock,
            offline: offline)
    }

    private func inputs(_ harness: NodeHarness, _ frames: Int) -> [[Float]] {
        let signal = noise(frames).map { $0 * 0.25 }
        return harness.instance.ports.filter { $0.kind == VG_AUDIO_PORT && $0.direction == VG_INPUT }.map { _ in signal
        }
    }

    /// Runs it and expects something to be heard, in finite numbers.
    private func expectSound(_ harness: NodeHarness, frames: Int = 9600) {
        let output = harness.run(frames, inputs: inputs(harness, frames), plan: .fixed(harness.preparation.maxBlock))
        #expect(output.allSatisfy { $0.allSatisfy(\.isFinite) })
        #expect(output.contains { peak($0) > 1e-4 })
    }

    @Test(
        "1: A plugin is never run in place: some write what they still have to read",
        needs(swh + "matrixMSSt", package: "swh-lv2"))
    func neverInPlace() throws {
        #expect(lv2NodeType().pointee.flags & UInt32(VG_IN_PLACE) == 0)
        let apart = try harness(Self.swh + "matrixMSSt")
        let shared = try harness(Self.swh + "matrixMSSt")
        shared.inPlace = true
        let mid = noise(1000)
        let side = noise(1000, seed: 2)
        #expect(apart.run(1000, inputs: [mid, side]) != shared.run(1000, inputs: [mid, side]))
    }

    @Test(
        "2: Every port is connected before activate",
        needs(swh + "bandpass_iir", "urn:ardour:a-comp", package: "swh-lv2 and ardour-lv2-plugins"),
        arguments: [swh + "bandpass_iir", "urn:ardour:a-comp"])
    func portsAreConnectedFirst(plugin: String) throws { expectSound(try harness(plugin)) }

    @Test("3: activate is called before run", needs("http://drobilla.net/plugins/fomp/cs_chorus1", package: "fomp"))
    func isActivated() throws { expectSound(try harness("http://drobilla.net/plugins/fomp/cs_chorus1")) }

    @Test(
        "4: Ports that may stay unconnected get a buffer too",
        needs("http://calf.sourceforge.net/plugins/Equalizer5Band", package: "calf-plugins"))
    func optionalPortsAreConnected() throws {
        let uri = "http://calf.sourceforge.net/plugins/Equalizer5Band"
        let info = try PluginInfo(.shared, uri: uri)
        #expect(info.ports.contains { $0.isOptional })
        #expect(try PortLayout(info).unconnected.isEmpty)
        expectSound(try harness(uri))
    }

    @Test(
        "5: An empty block does not reach the plugin",
        needs("urn:ardour:a-delay", ir, package: "ardour-lv2-plugins, ir.lv2"),
        arguments: ["urn:ardour:a-delay", ir])
    func emptyBlocksAreKept(plugin: String) throws {
        let plain = try harness(plugin)
        let signal = inputs(plain, 2560)
        let broken = try harness(plugin)
        let expected = plain.run([Int](repeating: 256, count: 10), inputs: signal)
        let blocks = [0, 256, 0, 256, 256, 0, 0, 256, 256, 256, 256, 256, 0, 256, 256]
        #expect(broken.run(blocks, inputs: signal) == expected)
    }

    @Test(
        "6: The latency is that of real blocks, known before the first and followed when it changes",
        needs(
            "http://lsp-plug.in/plugins/lv2/sc_limiter_mono", "http://lsp-plug.in/plugins/lv2/loud_comp_mono",
            package: "lsp-plugins-lv2"),
        arguments: [("sc_limiter_mono", 240), ("loud_comp_mono", 4096)])
    func latencyIsReal(name: String, frames: Int) throws {
        let harness = try harness("http://lsp-plug.in/plugins/lv2/" + name)
        #expect(harness.instance.latency == frames)
        _ = harness.run(2048)
        #expect(harness.instance.latency == frames)
        #expect(harness.takeNotes().isEmpty)
    }

    @Test(
        "7: No block is longer than the plugin was told",
        needs("http://zynaddsubfx.sourceforge.net/fx#Reverb", package: "zynaddsubfx-lv2"), arguments: [64, 1024])
    func blocksStayBounded(block: Int) throws {
        let harness = try harness("http://zynaddsubfx.sourceforge.net/fx#Reverb", maxBlock: block)
        expectSound(harness)
    }

    @Test(
        "8: A block reaches the plugin whole, whatever moves in it",
        needs("http://gareus.org/oss/lv2/nodelay#micro", package: "x42-plugins"))
    func blocksStayWhole() throws {
        let uri = "http://gareus.org/oss/lv2/nodelay#micro"
        let signal = noise(10240)
        func play(_ plan: BlockPlan, moving: Bool) throws -> [[Float]] {
            let harness = try harness(uri, ["delay": .integer(1920)], maxBlock: 1024)
            let code = try #require(harness.instance.processor).assumingMemoryBound(to: LV2Processor.self)
            (wholeRun, runLengths) = (code.pointee.code.run, [])
            code.pointee.code.run = { handle, frames in
                runLengths.append(frames)
                wholeRun?(handle, frames)
            }
            // To where it is: a ramp that changes nothing, unless blocks are cut at its end.
            if moving { harness.set("delay", 1920, over: 1500) }
            return harness.run(10240, inputs: [signal], plan: plan)
        }
        let whole = try alone(uri, ["delay": 1920], signal, block: 1024)
        let still = try play(.fixed(1024), moving: false)
        let moved = try play(.fixed(1024), moving: true)
        let movedLengths = runLengths
        let cut = try play(.fixed(1), moving: false)
        #expect(still == [whole])
        #expect(moved == [whole])
        #expect(movedLengths == [UInt32](repeating: 1024, count: 10))
        #expect(cut != [whole])
    }

    /// What a plugin plays when nothing but its own code is between the signal and it.
    private func alone(
        _ uri: String, _ values: [String: Float], _ signal: [Float], block: Int
    ) throws -> [Float] {
        let info = try PluginInfo(.shared, uri: uri)
        let ports = try PortLayout(info)
        let instance = try PluginInstance(
            info, ports, ports.layout.parameters.map { values[$0.key] ?? $0.defaultValue }, states: [], patches: [],
            Preparation(rate: 48_000, maxBlock: block, offline: true), log: PluginLog(URIDs(URIDMap.shared)),
            world: .shared)
        instance.activate()
        let processor = instance.processor
        return stride(from: 0, to: signal.count, by: block).flatMap { start in
            for frame in 0..<block { processor.inputs[0].connected[frame] = signal[start + frame] }
            processor.code.run(processor.code.handle, UInt32(block))
            return (0..<block).map { processor.outputs[0].connected[$0] }
        }
    }

    @Test(
        "9: Event outputs have in every block the room that the plugin wants",
        needs("http://gareus.org/oss/lv2/meters#phasewheel", package: "x42-plugins"),
        arguments: ["phasewheel", "stereoscope"])
    func eventRoomIsOffered(name: String) throws {
        let harness = try harness("http://gareus.org/oss/lv2/meters#" + name)
        let signal = inputs(harness, 9600)
        #expect(harness.run(9600, inputs: signal, plan: .fixed(256)) == signal)
    }

    @Test(
        "10: Outputs that the plugin leaves alone are silent, not full of what was there",
        needs(swh + "delay_n", package: "swh-lv2"), arguments: ["delay_n", "comb_n", "allpass_n"])
    func unwrittenOutputsAreSilent(name: String) throws {
        let output = try harness(Self.swh + name).run(4800)
        #expect(output.allSatisfy { peak($0) == 0 })
    }

    @Test(
        "11: Work is done that is asked for while the plugin runs",
        needs("http://guitarix.sourceforge.net/plugins/gx_amp#GUITARIX", package: "guitarix-lv2"),
        arguments: [false, true])
    func workInRun(offline: Bool) throws {
        expectSound(try harness("http://guitarix.sourceforge.net/plugins/gx_amp#GUITARIX", offline: offline))
    }

    @Test(
        "11: Work is done that is asked for while a state is restored, before any block",
        needs("http://gareus.org/oss/lv2/zeroconvolv#Mono", package: "x42-plugins"))
    func workInRestore() throws {
        let harness = try harness("http://gareus.org/oss/lv2/zeroconvolv#Mono", preset: "No-OP Mono")
        let signal = noise(4800)
        let output = harness.run(4800, inputs: [signal], plan: .fixed(256))[0]
        let late = harness.instance.latency
        #expect(zip(output[late...], signal).allSatisfy { abs($0 - $1) < 1e-5 })
    }

    @Test("12: A plugin may map URIs in run", needs("http://drumgizmo.org/lv2", package: "drumgizmo"))
    func mapsInRun() throws {
        let feature = URIDMap.shared.map
        let map = feature.pointee.map
        mapping = map
        feature.pointee.map = { handle, uri in
            let number = mapping?(handle, uri) ?? 0
            if number == 0 { unmappedURIs.add(1, ordering: .relaxed) } else { mappedURIs.add(1, ordering: .relaxed) }
            return number
        }
        defer { feature.pointee.map = map }
        let harness = try harness("http://drumgizmo.org/lv2")
        harness.midiInputs = harness.midiInputs.map { _ in Self.note }
        let before = mappedURIs.load(ordering: .relaxed)
        #expect(harness.run(9600, plan: .fixed(256)).allSatisfy { $0.allSatisfy(\.isFinite) })
        #expect(mappedURIs.load(ordering: .relaxed) > before)
        #expect(unmappedURIs.load(ordering: .relaxed) == 0)
    }

    @Test(
        "13: A state with a loaded file goes through a folder and sounds the same",
        needs(Plugins.sampler, "http://gareus.org/oss/lv2/convoLV2#Mono", package: "lv2-examples and x42-plugins"),
        arguments: [(Plugins.sampler, "sample"), ("http://gareus.org/oss/lv2/convoLV2#Mono", "impulse")])
    func stateWithFile(plugin: String, key: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("voicegraph-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("file.wav").path
        try WaveFile.write([noise(480, seed: 9).map { $0 * 0.5 }], to: file)

        func play(_ params: [String: SettingValue], _ state: String?) throws -> (NodeHarness, [[Float]]) {
            let harness = try harness(plugin, params, state: state)
            harness.midiInputs = harness.midiInputs.map { _ in Self.note }
            let signal = inputs(harness, 9600)
            return (harness, harness.run(9600, inputs: signal, plan: .fixed(256)))
        }
        let (first, sounded) = try play([key: .string(file)], nil)
        #expect(peak(sounded[0]) > 0.01)
        let saved = folder.appendingPathComponent("saved").path
        try first.instance.save(to: saved)
        // The restored file is there before the first block, the given one is told in it.
        func settled(_ outputs: [[Float]]) -> [Float] { Array(outputs[0][800...]) }
        let restored = try play([:], saved).1
        let plain = try play([:], nil).1
        #expect(settled(restored) == settled(sounded))
        #expect(settled(plain) != settled(sounded))
    }

    @Test("13: The default state is restored", needs(Plugins.params, package: "lv2-examples"))
    func defaultStateIsRestored() throws {
        let info = try PluginInfo(.shared, uri: Plugins.params)
        #expect(info.wantsDefaultState)
        #expect(PluginState.defaultState(of: Plugins.params, .shared) != nil)
        _ = try harness(Plugins.params).run(512)
    }

    @Test(
        "14: Ports that share a symbol are told apart, and odd ranges are made usable",
        needs(
            "http://eq10q.sourceforge.net/eq/eq10qs", "http://drobilla.net/plugins/blop/sawtooth",
            "http://lsp-plug.in/plugins/lv2/sc_limiter_mono", package: "eq10q, blop-lv2 and lsp-plugins-lv2"))
    func oddPortsAreUsable() throws {
        let equalizer = try PluginInfo(.shared, uri: "http://eq10q.sourceforge.net/eq/eq10qs")
        let sawtooth = try PluginInfo(.shared, uri: "http://drobilla.net/plugins/blop/sawtooth")
        let limiter = try PluginInfo(.shared, uri: "http://lsp-plug.in/plugins/lv2/sc_limiter_mono")
        for info in [equalizer, sawtooth, limiter] {
            let layout = try PortLayout(info).layout
            #expect(Set(layout.parameters.map(\.key)).count == layout.parameters.count)
            #expect(Set(layout.ports.map { "\($0.symbol) \($0.direction.rawValue)" }).count == layout.ports.count)
            #expect(layout.parameters.allSatisfy { $0.range.contains($0.defaultValue) })
            #expect(layout.parameters.allSatisfy { $0.scale != VG_LOGARITHMIC || $0.range.lowerBound > 0 })
        }
        #expect(Set(equalizer.ports.map(\.symbol)).count < equalizer.ports.count)
        #expect(limiter.ports.contains { $0.isLogarithmic && ($0.minimum ?? 0) <= 0 })
        // In cycles a frame, but for the default.
        #expect(try PortLayout(sawtooth).layout.parameters[0].range.upperBound >= 24_000)
        let wave = try harness(sawtooth.uri).run(48_000)[0]
        let rises = zip(wave, wave.dropFirst()).count { $0 < 0 && $1 >= 0 }
        #expect(abs(rises - 440) < 5)
    }

    @Test(
        "15: Tails end in zeros, not in denormals",
        needs(swh + "fourByFourPole", package: "swh-lv2"))
    func tailsHaveNoDenormals() throws {
        let harness = try harness(Self.swh + "fourByFourPole")
        let burst = noise(480) + [Float](repeating: 0, count: 95520)
        let output = harness.run(96000, inputs: [burst], plan: .fixed(256))
        #expect(output.allSatisfy { peak($0[..<4800]) > 0 })
        #expect(!output.joined().contains { $0.isSubnormal })
    }

    @Test(
        "16: A running plugin is not activated again, which would reset it",
        needs(swh + "fadDelay", package: "swh-lv2"))
    func activationIsNoPause() throws {
        let burst = noise(4800) + [Float](repeating: 0, count: 43200)
        let plain = try harness(Self.swh + "fadDelay").run(48000, inputs: [burst], plan: .fixed(256))
        let nudged = try harness(Self.swh + "fadDelay")
        let start = nudged.run(9600, inputs: [Array(burst[..<9600])], plan: .fixed(256))
        nudged.instance.activate()
        let rest = nudged.run(38400, inputs: [Array(burst[9600...])], plan: .fixed(256))
        #expect(peak(rest[0]) > 1e-3)
        #expect(zip(start, rest).map { $0 + $1 } == plain)
    }

    @Test(
        "17: A plugin that its library lacks is refused",
        needs("http://breakfastquay.com/rdf/lv2-rubberband#r3mono", package: "rubberband-lv2"))
    func missingPluginsAreRefused() throws {
        let error = #expect(throws: NodeError.self) {
            try harness("http://breakfastquay.com/rdf/lv2-rubberband#r3mono")
        }
        #expect(error?.message.contains("does not hold this plugin") == true)
    }

    @Test(
        "17: One that requires what the host does not have is refused, and one that gives no handle is not used",
        arguments: [("unknown-feature", "which the host does not offer"), ("refuses", "refused to start")])
    func unusablePluginsAreRefused(fault: String, reason: String) throws {
        World.shared.add(bundle: try BrokenBundles.folder() + "/\(fault).lv2")
        let error = #expect(throws: NodeError.self) { try harness(BrokenBundles.uri(fault)) }
        #expect(error?.message.contains(reason) == true)
    }

    @Test("18: The data of a plugin is read when it is asked for, not before")
    func bundlesAreReadLate() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("voicegraph-\(UUID().uuidString)")
        let bundle = folder.appendingPathComponent("late.lv2")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let prefixes = """
            @prefix doap: <http://usefulinc.com/ns/doap#> .
            @prefix lv2: <http://lv2plug.in/ns/lv2core#> .
            @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

            """
        func write(_ text: String, _ name: String) throws {
            try (prefixes + text).write(
                to: bundle.appendingPathComponent(name), atomically: true, encoding: .utf8)
        }
        try write("<urn:late:one> a lv2:Plugin ; lv2:binary <x.so> ; rdfs:seeAlso <one.ttl> .", "manifest.ttl")
        try write("<urn:late:one> doap:name \"Early\" .", "one.ttl")
        let world = World(path: [folder.path])
        #expect(world.installed(names: false).map(\.uri) == ["urn:late:one"])
        #expect(try world.resolve("one") == "urn:late:one")
        try write("<urn:late:one> doap:name \"Late\" .", "one.ttl")
        #expect(world.installed().map(\.name) == ["Late"])
    }
}

/// What a plugin's run is called with, told by a test that stands between it and the host.
private nonisolated(unsafe) var runLengths: [UInt32] = []
private nonisolated(unsafe) var wholeRun: (@convention(c) (UnsafeMutableRawPointer, UInt32) -> Void)?

/// URIs that plugins mapped with success and without, counted by a test that stands between them and the host.
private let mappedURIs = Atomic(0)
private let unmappedURIs = Atomic(0)
private nonisolated(unsafe) var mapping: (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> UInt32)?
