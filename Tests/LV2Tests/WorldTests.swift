// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import Testing

@testable import LV2

/// The list of installed plugins, and the numbers for URIs.
struct WorldTests {
    @Test("The list of plugins has names, and with short names needs the manifests only")
    func pluginsAreListed() throws {
        let bundle = try ProbeBundle.load()
        let world = World(path: [(bundle as NSString).deletingLastPathComponent])
        let short = world.installed(names: false)
        #expect(short.map(\.name) == ["absent", "demander", "probe", "refuser", "stranger", "twins"])
        #expect(world.installed().map(\.name) == ["Absent", "Demander", "Host Probe", "Refuser", "Stranger", "Twins"])
        #expect(world.installed().first?.uri == "urn:voicegraph:test:absent")
    }

    @Test("A plugin asked for by its URI costs only the manifests that mention it; all others are read when needed")
    func manifests() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("voicegraph-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ bundle: String, _ statements: String) throws {
            let bundle = folder.appendingPathComponent(bundle)
            try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
            let prefixes = """
                @prefix lv2: <http://lv2plug.in/ns/lv2core#> . @prefix pset: <http://lv2plug.in/ns/ext/presets#> .
                @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix one: <http://one.example/> .

                """
            try (prefixes + statements).write(
                to: bundle.appendingPathComponent("manifest.ttl"), atomically: true, encoding: .utf8)
        }
        for name in ["echo", "hall", "comb", "gate", "wah"] {
            try write("\(name).lv2", "one:\(name) a lv2:Plugin ; lv2:binary <x.so> .")
        }
        try write("more.lv2", "<urn:large> a pset:Preset ; lv2:appliesTo one:echo ; rdfs:label \"Large\" .")
        try write("escaped.lv2", "one:ec\\-ho a lv2:Plugin ; lv2:binary <x.so> .")

        let world = World(path: [folder.path])
        #expect(try world.resolve("http://one.example/echo") == "http://one.example/echo")
        #expect(world.locked { _ in world.bundles.count } == 3)
        #expect(world.presets(of: "http://one.example/echo").map(\.label) == ["Large"])
        #expect(throws: NodeError.self) { try world.resolve("http://one.example/chorus") }
        #expect(world.locked { _ in Set(world.bundles).count == 7 && world.bundles.count == 7 })
        #expect(world.installed(names: false).count == 6)

        let other = World(path: [folder.path])
        for name in ["echo", "hall", "comb", "gate", "wah", "ec-ho"] {
            #expect(try other.resolve("http://one.example/\(name)").hasSuffix(name))
        }
        #expect(other.locked { _ in Set(other.bundles).count == 7 && other.bundles.count == 7 })
        #expect(try World(path: [folder.path]).resolve("WAH") == "http://one.example/wah")

        // A short name that is in many words, but begins none of their last parts.
        try write("ah.lv2", "<urn:one:ah> a lv2:Plugin ; lv2:binary <x.so> .")
        let third = World(path: [folder.path])
        #expect(try third.resolve("urn:one:ah") == "urn:one:ah")
        #expect(third.locked { _ in third.bundles.count } == 2)
    }

    @Test("A short name that two plugins share is refused with both URIs")
    func ambiguityIsTold() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("voicegraph-\(UUID().uuidString)")
        let bundle = folder.appendingPathComponent("pair.lv2")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = """
            @prefix lv2: <http://lv2plug.in/ns/lv2core#> .
            <http://one.example/echo> a lv2:Plugin ; lv2:binary <x.so> .
            <http://two.example/more#Echo> a lv2:Plugin ; lv2:binary <x.so> .
            """
        try text.write(to: bundle.appendingPathComponent("manifest.ttl"), atomically: true, encoding: .utf8)
        let world = World(path: [folder.path])
        let error = #expect(throws: NodeError.self) { try world.resolve("ECHO") }
        #expect(error?.message == "\"ECHO\" names 2 LV2 plugins")
        #expect(error?.hint == "use the URI of one: http://one.example/echo, http://two.example/more#Echo")
    }

    @Test("A world without bundles says so")
    func emptyWorldIsTold() {
        let error = #expect(throws: NodeError.self) { try World(path: []).resolve("amp") }
        #expect(error?.hint.contains("LV2_PATH") == true)
    }

    @Test("Threads that map the same URIs at once get the same numbers, and the texts back")
    func mappingIsConsistent() async {
        let uris = (0..<500).map { "urn:voicegraph:test:number-\($0)" }
        let results = await withTaskGroup(of: [UInt32].self) { group in
            for _ in 0..<4 { group.addTask { uris.map { URIDMap.shared.map($0) } } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(results).count == 1)
        #expect(Set(results[0]).count == uris.count && !results[0].contains(0))
        for (uri, number) in zip(uris, results[0]) {
            #expect(URIDMap.shared.text(number).map { String(cString: $0) } == uri)
        }
        #expect(URIDMap.shared.text(0) == nil)
        #expect(URIDMap.shared.text(.max) == nil)
    }

    @Test("All names that no plugin has are compared with data that is read once, and anew when a bundle is added")
    func unknownNames() throws {
        let bundle = try ProbeBundle.load()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("voicegraph-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let broken = folder.appendingPathComponent("broken.lv2")
        try FileManager.default.createDirectory(at: broken, withIntermediateDirectories: true)
        let manifest = broken.appendingPathComponent("manifest.ttl")
        try "<urn:broken> a <urn:plugin> ; .. \"never\"".write(to: manifest, atomically: true, encoding: .utf8)
        let world = World(path: [folder.path])
        func failure(_ name: String) -> NodeError? {
            do throws(NodeError) { _ = try world.resolve(name) } catch { return error }
            return nil
        }
        #expect(failure("urn:broken")?.message.contains("cannot be read") == true)
        // What was wrong when it was read is still what the world knows.
        try "".write(to: broken.appendingPathComponent("more.ttl"), atomically: true, encoding: .utf8)
        try "<urn:broken> a <urn:plugin> .".write(to: manifest, atomically: true, encoding: .utf8)
        #expect(failure("urn:broken")?.message.contains("cannot be read") == true)
        #expect(failure("host probe")?.message == "no LV2 plugin is called \"host probe\"")
        world.add(bundle: bundle)
        #expect(try world.resolve("host probe") == ProbeBundle.probe)
        #expect(failure("host prob")?.hint == "did you mean Host Probe?")
        #expect(failure("urn:broken")?.message == "no LV2 plugin urn:broken is installed")
    }

    @Test("A packet ring gives packets back whole, in order, and refuses what does not fit")
    func packetsStayWhole() {
        let ring = PacketRing(capacity: 64)
        let target = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 8)
        defer { target.deallocate() }
        func push(_ bytes: [UInt8], tag: UInt32) -> Bool {
            bytes.withUnsafeBytes { ring.ends.push($0.baseAddress, size: $0.count, tag: tag) }
        }
        for round in 0..<200 {
            let size = round * 7 % 25
            let first = [UInt8](repeating: UInt8(round), count: size)
            #expect(push(first, tag: UInt32(round)))
            #expect(push([1, 2, 3], tag: 1))
            #expect(!push([UInt8](repeating: 0, count: 57), tag: 2))
            let got = ring.ends.pop(into: target)
            #expect(got?.size == size && got?.tag == UInt32(round))
            #expect(Array(UnsafeRawBufferPointer(start: target, count: size)) == first)
            #expect(ring.ends.pop(into: target)?.size == 3)
            #expect(ring.ends.pop(into: target) == nil)
        }
        #expect(ring.ends.push(nil, size: 0))
        #expect(ring.ends.pop(into: target)?.size == 0)
    }
}
