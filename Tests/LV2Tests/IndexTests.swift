// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

@testable import LV2

/// The list of plugins that is made without lilv.
@Suite(.timeLimit(.minutes(2)))
final class IndexTests {
    private let folder = URL(fileURLWithPath: NSTemporaryDirectory() + "voicegraph-index-\(UUID().uuidString)")
    private var cache: String { folder.appending(path: "cache/index").path }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func write(_ text: String, _ path: String) throws {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let prefixes = """
            @prefix lv2: <http://lv2plug.in/ns/lv2core#> .
            @prefix doap: <http://usefulinc.com/ns/doap#> .
            @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

            """
        try (prefixes + text).write(to: file, atomically: true, encoding: .utf8)
    }

    @Test("It has the same plugins as lilv, with the same names")
    func agreesWithLilv() throws {
        let index = PluginIndex()
        let world = World()
        #expect(index.plugins.map(\.uri) == world.installed(names: false).map(\.uri))
        // Some of them: lilv reads all that a plugin's data say.
        for place in stride(from: 0, to: index.plugins.count, by: 16) {
            let plugin = index.plugins[place]
            #expect(try PluginInfo(world, uri: plugin.uri).name == plugin.name)
        }
    }

    @Test("Names, classes and references are found in manifest and data, names without a language first")
    func factsAreFound() throws {
        try write(
            """
            <urn:x:one> rdfs:seeAlso <data/one.ttl> ; a lv2:Plugin .
            <urn:x:two> a lv2:ReverbPlugin , lv2:Plugin ; doap:name "Zwei"@de , "Two" .
            <urn:x:preset> a <urn:x:Preset> ; rdfs:seeAlso <gone.ttl> ; doap:name "No plugin" .
            """, "plugins/a.lv2/manifest.ttl")
        try write(
            "<urn:x:one> a lv2:Plugin , lv2:InstrumentPlugin ; doap:name \"O\\tne\" .", "plugins/a.lv2/data/one.ttl")
        let path = [folder.path + "/plugins"]
        for _ in 0..<2 {
            let plugins = PluginIndex(path: path, cache: cache).plugins
            #expect(plugins.map(\.uri) == ["urn:x:one", "urn:x:two"])
            #expect(plugins.map(\.category) == ["Instrument", "Reverb"])
            #expect(plugins.map(\.shortName) == ["one", "two"])
            #expect(plugins.last?.name == "Two")
        }
        #expect(PluginIndex(path: path, cache: cache).matching(["REVERB", "two"]).map(\.uri) == ["urn:x:two"])
    }

    @Test(
        "A word is found where a word of name, class or short name begins, or the URI; in the middle only if that is asked",
        arguments: [
            (["amp"], ["urn:x:eg-amp", "urn:x:loud"], ["urn:x:eg-amp", "urn:x:exAMPle", "urn:x:loud"]),
            (["EG-A"], ["urn:x:eg-amp"], ["urn:x:eg-amp"]),
            (["mp"], [], ["urn:x:eg-amp", "urn:x:exAMPle", "urn:x:loud"]),
            (["reverb", "big"], ["urn:x:exAMPle"], ["urn:x:exAMPle"]),
            (["urn:x:e"], ["urn:x:eg-amp", "urn:x:exAMPle"], ["urn:x:eg-amp", "urn:x:exAMPle"]),
            (["amp", "nothing"], [], []), (["x:l"], [], ["urn:x:loud"]),
        ])
    func words(_ words: [String], _ found: [String], _ anywhere: [String]) throws {
        try write(
            """
            <urn:x:eg-amp> a lv2:Plugin ; doap:name "Simple" .
            <urn:x:exAMPle> a lv2:ReverbPlugin , lv2:Plugin ; doap:name "A Big Room" .
            <urn:x:loud> a lv2:Plugin ; doap:name "Tube (Amplifier)" .
            """, "plugins/a.lv2/manifest.ttl")
        let index = PluginIndex(path: [folder.path + "/plugins"], cache: cache)
        #expect(index.matching(words).map(\.uri) == found)
        #expect(index.matching(words, anywhere: true).map(\.uri) == anywhere)
    }

    @Test("Only what changed is read again; what went away is gone")
    func onlyChangesAreRead() throws {
        for name in ["a", "b"] { try write("<urn:x:\(name)> a lv2:Plugin .", "plugins/\(name).lv2/manifest.ttl") }
        func index() -> PluginIndex { PluginIndex(path: [folder.path + "/plugins"], cache: cache) }
        #expect(index().bundlesRead == 2)
        #expect(index().bundlesRead == 0)
        try write("<urn:x:b> a lv2:Plugin ; doap:name \"Changed\" .", "plugins/b.lv2/manifest.ttl")
        let changed = index()
        #expect(changed.bundlesRead == 1 && changed.plugins.last?.name == "Changed")
        try FileManager.default.removeItem(at: folder.appending(path: "plugins/b.lv2"))
        #expect(index().plugins.map(\.uri) == ["urn:x:a"])
        #expect(index().bundlesRead == 0)
    }

    @Test("A search elsewhere keeps what was found here")
    func searchesShareTheFile() throws {
        for name in ["one", "two"] { try write("<urn:x:\(name)> a lv2:Plugin .", "\(name)/a.lv2/manifest.ttl") }
        func index(_ name: String) -> PluginIndex { PluginIndex(path: [folder.path + "/" + name], cache: cache) }
        for name in ["one", "two"] { #expect(index(name).bundlesRead == 1) }
        for name in ["one", "two"] {
            let again = index(name)
            #expect(again.bundlesRead == 0 && again.plugins.map(\.uri) == ["urn:x:\(name)"])
        }
        try FileManager.default.removeItem(at: folder.appending(path: "one"))
        #expect(index("two").bundlesRead == 0)
        #expect(try !String(contentsOfFile: cache, encoding: .utf8).contains("urn:x:one"))
    }

    @Test("A damaged index is read anew", arguments: ["", "nonsense", "voicegraph lv2 index 1\nP\tx\n"])
    func damagedIndexIsNone(text: String) throws {
        try write("<urn:x:a> a lv2:Plugin .", "plugins/a.lv2/manifest.ttl")
        let cacheFolder = URL(fileURLWithPath: cache).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: cacheFolder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: cache))
        #expect(PluginIndex(path: [folder.path + "/plugins"], cache: cache).plugins.map(\.uri) == ["urn:x:a"])
    }

    @Test("Broken bundles do not end the list")
    func brokenBundles() throws {
        let names = PluginIndex(path: [try BrokenBundles.folder()]).plugins.map(\.shortName)
        #expect(names.contains("broken:good") || names.contains("good"))
        #expect(!names.contains("no-manifest"))
    }
}
