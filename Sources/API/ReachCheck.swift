// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// What values that come over a network may name: files in the graph's folder, and nothing else beyond the graph.
struct ReachCheck {
    /// The real path of the graph's folder; nil: the graph is of no file, so no file is in its folder.
    private let folder: String?

    init(folder: String?) { self.folder = folder.flatMap { Self.real($0.isEmpty ? "." : $0) } }

    /// Refuses what leads out. A node's texts are looked at even where its type does not say that they name files.
    func check(
        _ values: [String: SettingValue], against settings: [Setting], isNode: Bool = false
    ) throws(Fault) {
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let setting = settings.first(where: { $0.key == key }) else { continue }
            if setting.reach == .file, case .integer = value, setting.kind == VG_SET_INTEGER {
                throw refusal(key, .file)
            }
            for text in value.texts where !text.isEmpty {
                switch setting.reach {
                case .file?: if leaves(text) { throw refusal(key, .file) }
                case let reach?: throw refusal(key, reach)
                case nil:
                    if isNode, setting.choices.isEmpty, Self.isPath(text), leaves(text) { throw refusal(key, .file) }
                }
            }
        }
    }

    /// Whether a path, seen from the graph's folder, lies outside it, links followed.
    private func leaves(_ text: String) -> Bool {
        guard let folder, !text.hasPrefix("~") else { return true }
        var path = text.hasPrefix("/") ? text : folder + "/" + text
        // What is not there yet lies where the nearest folder does that is.
        while Self.real(path) == nil {
            guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return true }
            // Behind a name that is missing ".." leads nowhere that could be looked at.
            guard path[slash...] != "/.." else { return true }
            path = String(path[..<slash])
        }
        let real = Self.real(path) ?? "/"
        return real != folder && !real.hasPrefix(folder == "/" ? folder : folder + "/")
    }

    private func refusal(_ key: String, _ reach: Setting.Reach) -> Fault {
        let what =
            switch reach {
            case .file: "a file outside the graph's folder"
            case .program: "a program, or a file that may name one"
            case .variable: "a variable of the environment"
            case .address: "an address"
            }
        return Fault(
            "'\(key.prefix(60))' would name \(what), which nobody may do over the network",
            hint: "write it into the graph's file, or trust = true in its [web]")
    }

    private static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") || text.hasPrefix("~") || text == ".." || text.hasPrefix("../") || text.contains("/../")
    }

    private static func real(_ path: String) -> String? {
        guard let name = realpath(path, nil) else { return nil }
        defer { free(name) }
        return String(cString: name)
    }
}

extension SettingValue {
    /// All texts in it.
    fileprivate var texts: [String] {
        switch self {
        case .string(let text): [text]
        case .list(let items): items.flatMap(\.texts)
        case .table(let table): table.values.flatMap(\.texts)
        default: []
        }
    }
}
