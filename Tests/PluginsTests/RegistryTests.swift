// SPDX-License-Identifier: Apache-2.0
import Foundation
import Graph
import Host
import NodeKit
import TestSupport

@Suite struct RegistryTests {
    @Test func onlyThePluginThatPromisesTheTypeIsLoaded() throws {
        let scratch = try Scratch()
        try buildFixture("sound", in: scratch)
        try buildFixture("half-good", in: scratch)
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(scratch.path)]))
        let catalog = registry.catalog(for: ["gain", "sound"])
        #expect(catalog.types["sound"]?.origin == scratch.file("libvg-sound.so"))
        #expect(catalog.types["gain"]?.origin == "built in")
        #expect(registry.plugins.count == 1)
    }

    @Test func aTypeThatNoFileNamePromisesIsFoundAllTheSame() throws {
        let scratch = try Scratch()
        try buildFixture("sound", in: scratch, as: "something.so")
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(scratch.path)]))
        #expect(registry.catalog(for: ["sound"]).types["sound"] != nil)
    }

    @Test func aBuiltInTypeWinsOverAPluginAndTheLossIsReported() throws {
        let scratch = try Scratch()
        try buildFixture("duplicate", in: scratch)
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(scratch.path)]))
        #expect(registry.fullCatalog().types["gain"]?.origin == "built in")
        #expect(registry.failures.map(\.reason) == ["node type gain is built in already"])
    }

    @Test func ofTwoPluginsWithOneTypeTheFirstFoundWinsAndTheLossIsReported() throws {
        let first = try Scratch()
        let second = try Scratch()
        try buildFixture("sound", in: first)
        try buildFixture("sound", in: second)
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(first.path), .init(second.path)]))
        #expect(registry.fullCatalog().types["sound"]?.origin == first.file("libvg-sound.so"))
        #expect(
            registry.failures.map(\.reason) == ["node type sound is already taken by \(first.file("libvg-sound.so"))"])
    }

    @Test func aSymbolicLinkToAPluginPromisesAnotherOfItsTypes() throws {
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

    @Test func theTypesOfAPluginThatCannotBeLoadedAreKnownWithTheReason() throws {
        let scratch = try Scratch()
        try buildFixture("wrong-abi", in: scratch)
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(scratch.path)]))
        let catalog = registry.catalog(for: ["wrong-abi"])
        #expect(catalog.types["wrong-abi"] == nil)
        #expect(catalog.unavailable["wrong-abi"]?.reason == "libvg-wrong-abi.so has ABI version 77, the host has 1")
    }

    @Test func aBrokenPluginDoesNotHideASoundOneFurtherDownThePath() throws {
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

    @Test func inAFolderOfOtherThingsOnlyFilesWithThePrefixCount() throws {
        let scratch = try Scratch()
        for name in ["libvg-a.so", "b.so", "libvg-c.txt"] {
            try "".write(toFile: scratch.file(name), atomically: true, encoding: .utf8)
        }
        let all = PluginSearch(folders: [.init(scratch.path)]).files().map(\.promisedType)
        let prefixed = PluginSearch(folders: [.init(scratch.path, onlyPrefixed: true)]).files().map(\.promisedType)
        #expect(all == ["b", "a"])
        #expect(prefixed == ["a"])
    }

    @Test func theUsualFoldersStartWithThoseAskedFor() {
        let folders = PluginSearch.standard(extra: ["/first", "/second"]).folders
        #expect(folders.prefix(2).map(\.path) == ["/first", "/second"])
        #expect(folders.contains { $0.path.hasSuffix("/lib/voicegraph") })
        #expect(folders.contains { $0.path.hasSuffix("/voicegraph/plugins") })
        #expect(PluginSearch.missing(["/", "/nowhere/at/all"]) == ["/nowhere/at/all"])
    }
}
