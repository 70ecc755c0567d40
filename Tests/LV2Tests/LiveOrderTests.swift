// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@testable import LV2

/// Presets and properties that are asked for one after the other, faster than a plugin takes them.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct LiveOrderTests {
    private static let preset = "urn:voicegraph:test:order"

    /// A preset of the example that sets a property, known to the world from now on.
    private static let bundle = Result {
        let scratch = try Scratch()
        let folder = scratch.path + "/order.lv2"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try """
        @prefix lv2: <http://lv2plug.in/ns/lv2core#> .
        @prefix pset: <http://lv2plug.in/ns/ext/presets#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        @prefix state: <http://lv2plug.in/ns/ext/state#> .
        <\(preset)> a pset:Preset ; lv2:appliesTo <\(Plugins.params)> ; rdfs:label "Order" ;
            state:state [ <\(Plugins.params)#string> "from the preset" ] .
        """.write(toFile: folder + "/manifest.ttl", atomically: true, encoding: .utf8)
        World.shared.add(bundle: folder)
        return scratch
    }

    /// What the string is when everything has been done.
    private func string(after steps: [String], running: Bool) throws -> SettingValue? {
        _ = try Self.bundle.get()
        let harness = try NodeHarness(lv2NodeType(), settings(Plugins.params))
        if running { _ = harness.run(256) } else { harness.instance.deactivate() }
        for step in steps {
            if step == "preset" {
                try harness.instance.loadPreset(Self.preset)
            } else {
                try harness.instance.setProperty("string", to: .string(step))
            }
        }
        harness.instance.activate()
        // Faded out, changed, and in again: 20 ms and some rounds.
        for _ in 0..<40 {
            _ = harness.run(256)
            harness.instance.poll()
        }
        return try harness.property("string")
    }

    @Test(
        "The last one counts, whether audio runs or not", needs(Plugins.params, package: "lv2-examples"),
        arguments: [["before", "preset"], ["preset", "after"], ["before", "preset", "after", "preset", "last"]],
        [true, false])
    func lastCounts(steps: [String], running: Bool) throws {
        let wanted = steps.last == "preset" ? "from the preset" : steps.last!
        #expect(try string(after: steps, running: running) == .string(wanted))
    }
}
