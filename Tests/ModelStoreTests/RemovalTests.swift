// SPDX-License-Identifier: Apache-2.0
import Foundation
import System
import TestSupport

@testable import ModelStore

@Suite("Removing models", .timeLimit(.minutes(5))) struct RemovalTests {
    private func removed(_ store: ModelStore, _ names: String..., force: Bool = false) throws -> [ModelStore
        .RemovalStep]
    {
        var steps: [ModelStore.RemovalStep] = []
        try store.remove(names, force: force) { steps.append($0) }
        return steps
    }

    @Test("A model is removed, and one that is not there is told")
    func remove() async throws {
        let house = try await Wheelhouse()
        let store = house.store()
        #expect(try removed(store, "model") == [.absent("model")])
        try store.install(["model"])
        #expect(try removed(store, "model", "model") == [.removed("model"), .absent("model")])
        #expect(store.entries == ["engine"])
        #expect(try removed(store, "engine") == [.removed("engine")])
        #expect(store.entries == [])
    }

    @Test("What others need is kept, unless they go as well or it is forced")
    func needed() async throws {
        let house = try await Wheelhouse()
        let store = house.store()
        try store.install(["model"])
        let error = #expect(throws: Fault.self) { try removed(store, "engine") }
        #expect(error == Fault("engine is needed by model", hint: "remove that as well, or give --force"))
        #expect(store.entries == ["engine", "model"])
        #expect(try removed(store, "engine", force: true) == [.removed("engine")])
        try store.install(["model", "engine"])
        #expect(try removed(store, "engine", "model") == [.removed("engine"), .removed("model")])
    }

    @Test("A damaged model is removed too")
    func damaged() async throws {
        let house = try await Wheelhouse()
        let store = house.store()
        try FileManager.default.createDirectory(
            atPath: store.path("model") + "/deep/er", withIntermediateDirectories: true)
        #expect(try removed(store, "model") == [.removed("model")])
        #expect(store.entries == [])
    }

    @Test("While one program changes the folder, another does not")
    func locked() async throws {
        let house = try await Wheelhouse()
        let store = house.store()
        try store.install(["model"])
        let lock = try FolderLock(store.folder)
        let refusal = "another program installs or removes models in \(store.folder)"
        let error = #expect(throws: Fault.self) { try removed(store, "model") }
        #expect(error?.message == refusal)
        try FileManager.default.removeItem(atPath: store.path("model"))
        #expect(store.error(installing: "model")?.message == refusal)
        // Looking is not changing.
        #expect(try store.steps(installing: "engine").words == ["already engine"])
        withExtendedLifetime(lock) {}
    }

    @Test("A folder that was locked is free when its program is done, even if it removed the folder")
    func unlocked() async throws {
        let house = try await Wheelhouse()
        let folder = house.scratch.file("locked")
        do {
            let lock = try FolderLock(folder)
            rmdir(folder)
            // It is another folder now.
            let other = try FolderLock(folder)
            withExtendedLifetime((lock, other)) {}
        }
        _ = try FolderLock(folder)
    }
}
