// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import NodeKit
import TestSupport

@Suite struct RegistryTests {
    @Test("Only the plugin that promises the type is loaded") func promisedType() throws {
        let scratch = try Scratch()
        try buildFixture("sound", in: scratch)
        try buildFixture("half-good", in: scratch)
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(scratch.path)]))
        let catalog = registry.catalog(for: ["gain", "sound"])
        #expect(catalog.types["sound"]?.origin == scratch.file("libvg-sound.so"))
        #expect(catalog.types["gain"]?.origin == "built in")
        #expect(registry.plugins.count == 1)
    }

    @Test("A type that no file name promises is found all the same") func unpromisedType() throws {
        let scratch = try Scratch()
        try buildFixture("sound", in: scratch, as: "something.so")
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(scratch.path)]))
        #expect(registry.catalog(for: ["sound"]).types["sound"] != nil)
    }

    @Test("A built-in type wins over a plugin, and the loss is reported") func builtInWins() throws {
        let scratch = try Scratch()
        try buildFixture("duplicate", in: scratch)
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(scratch.path)]))
        #expect(registry.fullCatalog().types["gain"]?.origin == "built in")
        #expect(registry.failures.map(\.reason) == ["node type gain is built in already"])
    }

    @Test("Of two plugins with one type the first found wins, and the loss is reported") func firstWins() throws {
        let first = try Scratch()
        let second = try Scratch()
        try buildFixture("sound", in: first)
        try buildFixture("sound", in: second)
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(first.path), .init(second.path)]))
        #expect(registry.fullCatalog().types["sound"]?.origin == first.file("libvg-sound.so"))
        #expect(
            registry.failures.map(\.reason) == ["node type sound is already taken by \(first.file("libvg-sound.so"))"])
    }

    @Test("A symbolic link to a plugin promises another of its types") func symbolicLink() throws {
        let scratch = try Scratch()
        try buildFixture("sound", in: scratch, as: "libvg-many.so")
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("libvg-sound.so"), withDestinationPath: "libvg-many.so")
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(scratch.path)]))
        #expect(registry.catalog(for: ["sound"]).types["sound"]?.origin == scratch.file("libvg-sound.so"))
        _ = registry.fullCatalog()
        #expect(registry.failures.isEmpty)
        #expect(registry.plugins.count == 1)
    }

    @Test("The types of a plugin that cannot be loaded are known with the reason") func unloadable() throws {
        let scratch = try Scratch()
        try buildFixture("wrong-abi", in: scratch)
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(scratch.path)]))
        let catalog = registry.catalog(for: ["wrong-abi"])
        #expect(catalog.types["wrong-abi"] == nil)
        #expect(catalog.unavailable["wrong-abi"]?.reason == "libvg-wrong-abi.so has ABI version 77, the host has 3")
    }

    @Test("A broken plugin does not hide a sound one further down the path") func furtherDown() throws {
        let broken = try Scratch()
        let sound = try Scratch()
        try buildFixture("wrong-abi", in: broken, as: "libvg-sound.so")
        try buildFixture("sound", in: sound)
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(broken.path), .init(sound.path)]))
        let catalog = registry.catalog(for: ["sound"])
        #expect(catalog.types["sound"]?.origin == sound.file("libvg-sound.so"))
        #expect(catalog.unavailable["sound"] == nil)
        #expect(registry.failures.count == 1)
    }

    @Test("In a folder of other things only files with the prefix count") func otherFiles() throws {
        let scratch = try Scratch()
        for name in ["libvg-a.so", "b.so", "libvg-c.txt"] {
            try "".write(toFile: scratch.file(name), atomically: true, encoding: .utf8)
        }
        let all = PluginSearch(folders: [.init(scratch.path)]).files().map(\.promisedType)
        let prefixed = PluginSearch(folders: [.init(scratch.path, onlyPrefixed: true)]).files().map(\.promisedType)
        #expect(all == ["b", "a"])
        #expect(prefixed == ["a"])
    }

    @Test("The usual folders start with those asked for") func usualFolders() {
        let folders = PluginSearch.standard(extra: ["/first", "/second"]).folders
        #expect(folders.prefix(2).map(\.path) == ["/first", "/second"])
        #expect(folders.contains { $0.path.hasSuffix("/lib/voicegraph") })
        #expect(folders.contains { $0.path.hasSuffix("/voicegraph/plugins") })
        #expect(PluginSearch.missing(["/", "/nowhere/at/all"]) == ["/nowhere/at/all"])
    }
}
