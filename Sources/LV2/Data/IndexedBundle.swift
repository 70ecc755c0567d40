// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc

/// What the index knows of one bundle, and the files it knows it from.
struct IndexedBundle {
    var path: String
    var plugins: [ListedPlugin] = []
    /// Each file with its stamp when it was read.
    private var files: [(path: String, stamp: String)] = []

    /// Whether its files are still what they were.
    var isCurrent: Bool { files.allSatisfy { !$0.stamp.isEmpty && fileStamp($0.path) == $0.stamp } }

    /// Reads the manifest and what it refers to.
    init(reading path: String) {
        self.path = path
        var facts = BundleFacts()
        var pending = [path + "/manifest.ttl"]
        var isManifest = true
        while let file = pending.popLast() {
            files.append((file, fileStamp(file)))
            // A mistake in a file ends what it says; what came before it counts.
            try? readTurtle(file) { facts.take($0, isManifest: isManifest) }
            if isManifest { pending = facts.dataFiles.sorted().reversed() }
            isManifest = false
        }
        for (uri, fact) in facts.plugins {
            let short = shortNames(of: uri)[0]
            plugins.append(
                ListedPlugin(
                    uri: uri, name: fact.name ?? short, shortName: short, category: facts.categories[uri] ?? "",
                    bundle: path))
        }
    }

    private init(path: String) { self.path = path }
}

/// What the statements of a bundle say of its plugins.
private struct BundleFacts {
    struct Fact {
        var name: String?
        var nameHasLanguage = false
    }

    var plugins: [String: Fact] = [:]
    /// By subject, which may turn out to be a plugin only later.
    var categories: [String: String] = [:]
    var dataFiles: Set<String> = []
    /// The manifest may refer to data before it says that this is a plugin.
    private var references: [String: Set<String>] = [:]

    mutating func take(_ statement: TurtleStatement, isManifest: Bool) {
        if strcmp(statement.predicate, VG_RDF__type) == 0 {
            let subject = String(cString: statement.subject)
            if isManifest, strcmp(statement.object, VG_CORE__Plugin) == 0 {
                if plugins[subject] == nil { plugins[subject] = Fact() }
                dataFiles.formUnion(references[subject] ?? [])
            } else if isManifest || plugins[subject] != nil, categories[subject] == nil {
                categories[subject] = category(String(cString: statement.object))
            }
        } else if isManifest, strcmp(statement.predicate, VG_RDFS__seeAlso) == 0 {
            guard let path = lilv_file_uri_parse(statement.object, nil) else { return }
            defer { lilv_free(path) }
            let subject = String(cString: statement.subject)
            let file = String(cString: path)
            if plugins[subject] != nil { dataFiles.insert(file) } else { references[subject, default: []].insert(file) }
        } else if strcmp(statement.predicate, VG_DOAP__name) == 0 {
            takeName(String(cString: statement.subject), statement)
        }
    }

    /// A name without a language is taken before one with it; of several the first.
    private mutating func takeName(_ subject: String, _ statement: TurtleStatement) {
        guard let fact = plugins[subject] else { return }
        guard fact.name == nil || (fact.nameHasLanguage && statement.language == nil) else { return }
        plugins[subject]?.name = String(cString: statement.object)
        plugins[subject]?.nameHasLanguage = statement.language != nil
    }

    private func category(_ type: String) -> String? {
        let core = VG_CORE__prefix.string
        guard type.hasPrefix(core), type.hasSuffix("Plugin") else { return nil }
        let word = type.dropFirst(core.count).dropLast("Plugin".count)
        return word.isEmpty ? nil : String(word)
    }
}

// MARK: - The file that keeps it

extension IndexedBundle {
    private static let heading = "voicegraph lv2 index 1"

    /// What an index file knows, by bundle; nothing if there is none, or one of another kind.
    static func load(_ path: String) -> [String: IndexedBundle] {
        guard let text = readText(path) else { return [:] }
        var result: [String: IndexedBundle] = [:]
        var bundle: IndexedBundle?
        func close() { if let bundle { result[bundle.path] = bundle } }
        for (number, line) in text.split(separator: "\n").enumerated() {
            if number == 0 {
                guard line == heading else { return [:] }
                continue
            }
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            switch (fields[0], fields.count) {
            case ("B", 2):
                close()
                bundle = IndexedBundle(path: fields[1])
            case ("F", 3): bundle?.files.append((fields[1], fields[2]))
            case ("P", 4):
                let short = shortNames(of: fields[1])[0]
                let plugin = ListedPlugin(
                    uri: fields[1], name: fields[2], shortName: short, category: fields[3], bundle: bundle?.path ?? "")
                bundle?.plugins.append(plugin)
            default: return [:]
            }
        }
        close()
        return result
    }

    /// Writes the index; that it cannot be written costs time only.
    static func save(_ bundles: [IndexedBundle], to path: String) {
        var text = heading + "\n"
        for bundle in bundles {
            text += "B\t\(field(bundle.path))\n"
            for file in bundle.files { text += "F\t\(field(file.path))\t\(file.stamp)\n" }
            for plugin in bundle.plugins {
                text += "P\t\(field(plugin.uri))\t\(field(plugin.name))\t\(field(plugin.category))\n"
            }
        }
        _ = writeText(text, to: path)
    }
}

/// A text without the characters that separate fields and lines.
func field(_ text: String) -> String {
    String(text.map { $0 == "\t" || $0.isNewline ? " " : $0 })
}
