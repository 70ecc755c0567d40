// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// How a model is.
public enum ModelState: Sendable, Equatable {
    /// It can be installed.
    case absent
    /// There is no package of it for this machine.
    case noBuild
    /// It is there, whole and as the catalogue has it.
    case installed
    /// Another version is there, this one.
    case outdated(String)
    /// It is there, and something is wrong with it: "encoder_model.ort is missing".
    case damaged(String)
}

/// The models of one user: a folder with a folder for each. One of these is there as a whole or not at all, since it is put
/// together elsewhere and renamed. Nothing is installed into Python; pip only fetches.
public struct ModelStore: Sendable {
    /// Where installed models are.
    public let folder: String
    /// Where packages are while they are fetched, and stay when something went wrong afterwards.
    public let cache: String
    /// What can be installed.
    public var catalogue = Model.catalogue
    /// This machine as `uname` names it.
    public var machine = Self.thisMachine
    /// The variables that the programs which fetch and unpack are given, with $PATH where they are looked for.
    public var environment: [String: String]

    /// The models in a folder, with packages in another.
    public init(folder: String, cache: String, environment: [String: String]) {
        self.folder = folder
        self.cache = cache
        self.environment = environment
    }

    /// A model of the catalogue. [any]
    public func model(_ name: String) -> Model? { catalogue.first { $0.name == name } }

    /// Where a model is when it is installed. [any]
    public func path(_ name: String) -> String { folder + "/" + name }

    /// Folders of models that are not in the catalogue, such as voices that somebody has put there.
    public var others: [String] {
        names(in: folder).filter { model($0) == nil && !$0.hasPrefix(".") && !names(in: path($0)).isEmpty }.sorted()
    }

    /// How a model is. Sizes are compared always, the files' sums only when `verifying`, which takes a third of a second
    /// for 100 MB. [control]
    public func state(of model: Model, verifying: Bool = false) -> ModelState {
        let place = path(model.name)
        let wheel = model.wheel(for: machine)
        guard exists(model.name) else { return wheel == nil ? .noBuild : .absent }
        guard let manifest = Manifest(folder: place) else { return .damaged("it has no manifest that can be read") }
        for file in manifest.files {
            guard let size = fileSize(place + "/" + file.name) else { return .damaged("\(file.name) is missing") }
            if size != file.size { return .damaged("\(file.name) has \(size) bytes instead of \(file.size)") }
            if verifying, fileSHA256(place + "/" + file.name) != file.sha256 {
                return .damaged("the sha256 of \(file.name) is another")
            }
        }
        guard let wheel else { return .installed }
        if manifest.version != model.version || manifest.packageSHA256 != wheel.sha256 {
            return .outdated(manifest.version)
        }
        for file in wheel.files where !manifest.files.contains(where: { $0.name == file.name }) {
            return .damaged("\(file.name) is missing")
        }
        return .installed
    }

    /// The models that are there and need this one. [control]
    public func dependents(of name: String) -> [String] {
        catalogue.filter { $0.needs.contains(name) && exists($0.name) }.map(\.name)
    }

    /// What can be said while models are removed.
    public enum RemovalStep: Sendable, Equatable {
        /// This one is not installed.
        case absent(String)
        /// This one is gone.
        case removed(String)
    }

    /// Removes models. Those that others need are kept, and this throws, unless the others go as well or `force` is given.
    /// [control]
    public func remove(
        _ names: [String], force: Bool = false, tell: (RemovalStep) -> Void = { _ in }
    ) throws(Fault) {
        for name in names where !force && exists(name) {
            let others = dependents(of: name).filter { !names.contains($0) }
            if others.isEmpty { continue }
            throw Fault(
                "\(name) is needed by \(others.joined(separator: ", "))",
                hint: "remove \(others.count == 1 ? "that" : "those") as well, or give --force")
        }
        guard names.contains(where: exists) else {
            for name in names { tell(.absent(name)) }
            return
        }
        let lock = try FolderLock(folder)
        defer { withExtendedLifetime(lock) {} }
        sweep()
        for name in names {
            guard exists(name) else {
                tell(.absent(name))
                continue
            }
            // Out of sight first: half of it is never seen.
            let away = hidden(name, "old")
            guard rename(path(name), away) == 0 else { throw .system("cannot remove \(path(name))") }
            removeFolder(away)
            tell(.removed(name))
        }
    }

    /// Whether a model is there in some form. [any]
    func exists(_ name: String) -> Bool { access(path(name), F_OK) == 0 }

    /// A place beside a model for what is not yet, or not any more, that model. [any]
    func hidden(_ name: String, _ kind: String) -> String { "\(folder)/.\(name).\(kind)-\(getpid())" }

    /// Removes what was left when an installation or a removal was cut short; the models that it was of. Only by who has
    /// locked the folder. [control]
    @discardableResult
    func sweep() -> [String] {
        var found: [String] = []
        for model in catalogue {
            for name in names(in: folder).sorted()
            where name.hasPrefix(".\(model.name).partial-") || name.hasPrefix(".\(model.name).old-") {
                removeFolder(folder + "/" + name)
                if name.hasPrefix(".\(model.name).partial-") { found.append(model.name) }
            }
        }
        return found
    }

    /// "x86_64"
    public static let thisMachine: String = {
        var facts = utsname()
        uname(&facts)
        return withUnsafeBytes(of: facts.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }()
}
