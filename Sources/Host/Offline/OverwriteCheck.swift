// SPDX-License-Identifier: Apache-2.0
import Config
import Glibc
import GraphFile
import NodeKit

/// A path that means the same in every folder. [any]
package func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return join(String(cString: folder), path)
}

/// What tells a file whatever it is called: links and `./` change its name only.
package struct FileIdentity: Hashable {
    private let device: dev_t
    private let number: ino_t

    /// Nil: there is no such file.
    package init?(_ path: String) {
        var status = stat()
        guard !path.isEmpty, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        device = status.st_dev
        number = status.st_ino
    }
}

extension GraphDescription {
    /// An error for every recording that would write over what the graph itself is made of: its own text, or a file that
    /// a setting of another node names. Only recordings with `overwrite` do; the others get a name of their own. [any]
    public func overwriteFaults() -> [Diagnostic] {
        let recordings = nodes.compactMap { node -> (node: NodeDescription, path: Entry, file: FileIdentity)? in
            guard node.type == StandardType.record, node.entries["overwrite"]?.value == .bool(true),
                node.entries["descriptor"] == nil,
                let path = node.entries["path"], case .string(let text) = path.value,
                let file = FileIdentity(join(baseFolder, text))
            else { return nil }
            return (node, path, file)
        }
        guard !recordings.isEmpty else { return [] }
        var owners: [FileIdentity: String] = [:]
        for node in nodes where node.type != StandardType.record {
            for text in node.entries.values.flatMap(\.value.texts) {
                guard let file = FileIdentity(join(baseFolder, text)), owners[file] == nil else { continue }
                owners[file] = "node '\(node.name)' reads"
            }
        }
        for text in Set([location.file] + nodes.map(\.location.file) + links.map(\.location.file)) {
            if let file = FileIdentity(text) { owners[file] = "describes this graph" }
        }
        return recordings.compactMap { node, path, file in
            guard let owner = owners[file] else { return nil }
            let shown = if case .string(let text) = path.value { text } else { "" }
            return Diagnostic(
                .error,
                node.name == Render.recorder
                    ? "the render would write over '\(shown)', which \(owner)"
                    : "node '\(node.name)' would write over '\(shown)', which \(owner)",
                at: path.valueLocation, hint: "write to another file")
        }
    }
}

extension SettingValue {
    /// The texts in it.
    fileprivate var texts: [String] {
        switch self {
        case .string(let text): [text]
        case .list(let items): items.flatMap(\.texts)
        case .table(let entries): entries.values.flatMap(\.texts)
        default: []
        }
    }
}
