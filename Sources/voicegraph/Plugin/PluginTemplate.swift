// SPDX-License-Identifier: Apache-2.0

/// A package for a new plugin: files by their path inside the package, made of those in `Scaffold`.
struct PluginTemplate: Sendable {
    /// What it is written in.
    enum Language: String, Sendable, CaseIterable { case swift, c }

    /// What each file holds, by its path.
    var files: [(path: String, text: String)]

    /// Writes a plugin with one node type `name`, which `isTypeName` must accept. `kit` is the folder
    /// of the package NodeKit.
    init(name: String, language: Language, kit: String) {
        let module = name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        let symbol = name.split(separator: "-").joined(separator: "_")
        func fill(_ parts: [UInt8]...) -> String {
            var text = parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
            for (key, value) in [
                ("@NAME@", name), ("@MODULE@", module), ("@SYMBOL@", symbol),
                ("@BUILD@", language == .swift ? ".build/release" : "."),
                ("@KIT@", kit),
            ] {
                text = text.split(separator: key, omittingEmptySubsequences: false).joined(separator: value)
            }
            return text
        }
        switch language {
        case .swift:
            files = [
                ("Package.swift", fill(PackageResources.Package_swift_in)),
                ("Sources/\(module)/\(module).swift", fill(PackageResources.Node_swift_in)),
                ("Tests/\(module)Tests/\(module)Tests.swift", fill(PackageResources.Tests_swift_in)),
                ("README.md", fill(PackageResources.README_swift_md_in, PackageResources.README_end_md_in)),
                ("example.conf", fill(PackageResources.example_conf_in)), (".gitignore", ".build/\n"),
            ]
        case .c:
            files = [
                ("Makefile", fill(PackageResources.Makefile_in)), ("\(name).c", fill(PackageResources.node_c_in)),
                ("README.md", fill(PackageResources.README_c_md_in, PackageResources.README_end_md_in)),
                ("example.conf", fill(PackageResources.example_conf_in)), (".gitignore", "*.so\n"),
            ]
        }
    }
}
