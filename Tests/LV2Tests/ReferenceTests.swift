// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport
import Testing

@testable import LV2

/// A plugin and what it is set to.
struct ReferenceCase: Sendable, CustomTestStringConvertible {
    var uri: String
    var controls: [String: Double] = [:]
    var testDescription: String { uri }

    /// Those that are installed of a choice over the packages.
    static let installed = all.filter { Plugins.uris.contains($0.uri) }

    private static let guitarix = "http://guitarix.sourceforge.net/plugins/"

    static let all: [ReferenceCase] = [
        ReferenceCase(uri: "http://lv2plug.in/plugins/eg-amp", controls: ["gain": -12]),
        ReferenceCase(uri: "http://plugin.org.uk/swh-plugins/comb_c"),
        ReferenceCase(uri: "http://plugin.org.uk/swh-plugins/smoothDecimate", controls: ["rate": 9000]),
        ReferenceCase(uri: "http://plugin.org.uk/swh-plugins/plate", controls: ["time": 4, "damping": 0.4]),
        ReferenceCase(uri: "http://drobilla.net/plugins/mda/Delay", controls: ["feedback": 0.7]),
        ReferenceCase(uri: "http://drobilla.net/plugins/fomp/reverb"),
        ReferenceCase(uri: "http://eq10q.sourceforge.net/bassup", controls: ["amount": 3.6]),
        ReferenceCase(uri: "http://eq10q.sourceforge.net/matrix_ms2lr"),
        ReferenceCase(
            uri: "http://breakfastquay.com/rdf/lv2-rubberband#stereo", controls: ["semitones": 2, "cents": 20]),
        ReferenceCase(uri: "http://gareus.org/oss/lv2/nodelay#micro", controls: ["delay": 1920]),
        ReferenceCase(uri: "http://gareus.org/oss/lv2/darc#mono", controls: ["threshold": -30]),
        ReferenceCase(uri: "urn:ardour:a-exp", controls: ["thr": -24, "rat": 6]),
        ReferenceCase(uri: "http://invadarecords.com/plugins/lv2/delay/mono"),
        ReferenceCase(uri: guitarix + "gx_graphiceq_#_graphiceq_"),
        ReferenceCase(uri: guitarix + "gxtubevibrato#tubevibrato"),
        ReferenceCase(uri: guitarix + "gx_mole_#_mole_"),
        ReferenceCase(uri: "http://lsp-plug.in/plugins/lv2/sc_gate_mono"),
        ReferenceCase(uri: "http://lsp-plug.in/plugins/lv2/sc_limiter_mono"),
        ReferenceCase(uri: "http://lsp-plug.in/plugins/lv2/sc_dyna_processor_mono"),
    ]
}

/// The same samples as another host, to the last bit.
@Suite(.timeLimit(.minutes(3)), .enabled(if: !Sanitizer.isLoaded, "plugins are not ours to sanitize"))
struct ReferenceTests {
    // lv2apply runs blocks of one frame.
    @Test(
        "A plugin plays what it plays in lv2apply", .enabled(if: !ReferenceCase.installed.isEmpty, "no plugins"),
        arguments: ReferenceCase.installed)
    func equalsPeer(_ reference: ReferenceCase) async throws {
        let frames = 9600
        let params = reference.controls.mapValues { SettingValue.number($0) }
        let harness = try NodeHarness(
            lv2NodeType(), settings(reference.uri, params: params), maxBlock: 1, offline: true)
        let ports = harness.instance.ports.filter { $0.kind == VG_AUDIO_PORT }
        let inputs = ports.filter { $0.direction == VG_INPUT }.indices.map { index in
            noise(frames, seed: UInt64(index + 1)).map { $0 * 0.5 }
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("voicegraph-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = folder.appendingPathComponent("in.wav").path
        let output = folder.appendingPathComponent("out.wav").path
        try WaveFile.write(inputs, to: input)
        let controls = reference.controls.flatMap { ["-c", $0.key, "\($0.value)"] }
        let run = try await runTool(["lv2apply", "-i", input, "-o", output] + controls + [reference.uri])
        try #require(run.status == 0, "\(run.output)")

        let played = harness.run(frames, inputs: inputs, plan: .fixed(1))
        let expected = try WaveFile.read(output)
        #expect(played.count == expected.count)
        for (ours, theirs) in zip(played, expected) {
            #expect(ours.map(\.bitPattern) == theirs.map(\.bitPattern))
        }
    }
}
