// SPDX-License-Identifier: Apache-2.0
import Foundation
import Graph
import Host
import NodeKit
import Synchronization
import TestSupport

@Suite struct LoaderTests {
    @Test("A sound plugin is loaded with its description") func soundPlugin() throws {
        let scratch = try Scratch()
        let plugin = try PluginLoader.load(buildFixture("sound", in: scratch))
        #expect(plugin.name == "fixture" && plugin.version == "1.0" && plugin.license == "Apache-2.0")
        #expect(plugin.types.map { String(cString: $0.pointee.name) } == ["sound"])
        #expect(plugin.failures.isEmpty)
    }

    @Test("A plugin that was built when structs were shorter plays, and what it did not know is not read")
    func olderPlugin() throws {
        let scratch = try Scratch()
        let plugin = try PluginLoader.load(buildFixture("older", in: scratch))
        #expect(plugin.failures.isEmpty)
        let type = try #require(plugin.types.first)
        let told = Mutex<[(name: String, position: UInt64, isSilent: Bool)]>([])
        var services = NodeServices()
        services.publish = { event in
            let (name, position) = (String(cString: event.pointee.name), event.pointee.position)
            let isSilent = event.pointee.isSilent
            told.withLock { $0.append((name, position, isSilent)) }
        }
        let node = try NodeInstance(type: type, name: "old", settings: Settings(), services: services)
        #expect(node.ports.map(\.symbol) == ["text"] && node.ports.map(\.takes) == [0])
        try node.prepare(Preparation(rate: 48000, maxBlock: 64))
        node.activate()
        node.poll()
        node.deactivate()
        #expect(!node.wantsPoll)
        #expect(told.withLock { $0.map(\.name) } == ["begun"])
        #expect(told.withLock { $0.allSatisfy { $0.position == 0 && !$0.isSilent } })
    }

    @Test(
        "A broken plugin is refused with its reason",
        arguments: [
            ("wrong-abi", "has ABI version 77, the host has 3"),
            ("wrong-type-abi", "node type 0 has ABI version 99, the host has 3"),
            ("small-size", "says that its description has 8 bytes, too few"),
            ("too-old", "node type 0 says that it has 152 bytes, too few"),
            ("missing-symbol", "exports no vg_plugin_entry"),
            ("null-entry", "refuses this host, which has ABI version 3"),
            ("no-types", "offers no node types"),
            ("null-types", "offers 3 node types but lists none"),
            ("absurd-count", "claims to offer 4000000000 node types"),
            ("absurd-ports", "node type absurd-ports: it declares 4294967295 ports"),
            ("absurd-extensions", "node type absurd-extensions: its extension messages has no table"),
            ("absurd-needs", "node type absurd-needs: it declares 4294967295 needs"),
            ("null-name", "node type 0 has no name"),
            (
                "invalid-name",
                "node type 0 is called \"Not A Name\"; a name has lower-case letters, digits and -"
            ),
            ("null-function", "node type null-function: its create, destroy or prepare function is NULL"),
            ("undefined-symbol", "needs from_nowhere, which no library offers"),
        ])
    func brokenPlugins(name: String, reason: String) throws {
        let failure = try failure(name)
        #expect(failure.reason == reason)
        #expect(failure.type == name)
        #expect(!failure.hint.isEmpty)
    }

    @Test(
        "A missing library is named, and with it the package if that is known",
        arguments: [("libvgabsent.so.3", ""), ("libespeak-ng.so.99", "libespeak-ng1")])
    func missingLibrary(library: String, package: String) throws {
        let scratch = try Scratch()
        let source = scratch.file("absent.c")
        try "int from_another_library(void) { return 1; }".write(toFile: source, atomically: true, encoding: .utf8)
        try run("cc", ["-shared", "-fPIC", "-Wl,-soname,\(library)", "-o", scratch.file("libabsent.so"), source])
        let file = try buildFixture("missing-library", in: scratch, ["-L\(scratch.path)", "-labsent"])
        try FileManager.default.removeItem(atPath: scratch.file("libabsent.so"))
        let failure = try #require(throws: PluginFailure.self) { try PluginLoader.load(file) }
        #expect(failure.reason == "\(library) is missing")
        #expect(failure.package == package)
        #expect(
            failure.hint
                == (package.isEmpty ? "install the library that contains \(library)" : "apt install \(package)")
        )
    }

    @Test(
        "A file that is no shared object is refused",
        arguments: ["", "this is text, not a shared object, and it is long enough to have had a header"])
    func noSharedObject(content: String) throws {
        let scratch = try Scratch()
        try content.write(toFile: scratch.file("libvg-text.so"), atomically: true, encoding: .utf8)
        let failure = try #require(throws: PluginFailure.self) {
            try PluginLoader.load(PluginFile(path: scratch.file("libvg-text.so")))
        }
        #expect(failure.reason.hasPrefix("is not a shared object of this machine"))
    }

    @Test("A file that is not there is refused") func noFile() throws {
        let failure = try #require(throws: PluginFailure.self) {
            try PluginLoader.load(PluginFile(path: "/nowhere/libvg-none.so"))
        }
        #expect(failure.reason == "cannot be opened: No such file or directory")
        #expect(failure.package.isEmpty)
    }

    @Test("The sound type of a half-broken plugin is kept") func halfBroken() throws {
        let scratch = try Scratch()
        let plugin = try PluginLoader.load(buildFixture("half-good", in: scratch))
        #expect(plugin.types.map { String(cString: $0.pointee.name) } == ["half-good"])
        #expect(plugin.failures.map(\.type) == ["half-bad"])
        #expect(
            plugin.failures.map(\.reason) == ["node type half-bad: its parameter loud has a default outside its range"])
    }

    @Test("A failing `prepare` tells its reason and leaves the host running") func failingPrepare() throws {
        let scratch = try Scratch()
        let plugin = try PluginLoader.load(buildFixture("failing-prepare", in: scratch))
        let node = try NodeInstance(type: plugin.types[0], name: "n", settings: Settings())
        let error = try #require(throws: NodeError.self) {
            try node.prepare(Preparation(rate: 48000, maxBlock: 64))
        }
        #expect(error.message == "the device is on fire")
        #expect(error.hint == "put it out")
    }
}
