// SPDX-License-Identifier: Apache-2.0
import CLilv
import NodeKit

/// A plugin of the list of installed ones.
public struct InstalledPlugin: Sendable, Equatable {
    /// What names it for certain.
    public var uri: String
    /// What its author calls it.
    public var name: String

    /// Describes a plugin.
    public init(uri: String, name: String) {
        self.uri = uri
        self.name = name
    }
}

/// A preset of a plugin.
public struct PluginPreset: Sendable, Equatable {
    /// What names it for certain.
    public var uri: String
    /// What its author calls it.
    public var label: String

    /// Describes a preset.
    public init(uri: String, label: String) {
        self.uri = uri
        self.label = label
    }
}

extension World {
    /// The presets of the plugin with this URI, by label; reads the data of each. [control]
    public func presets(of uri: String) -> [PluginPreset] {
        locked { lilv in lilv.presets(of: uri).map { PluginPreset(uri: $0.uri, label: $0.label) } }
    }

    /// Every installed plugin by URI. With `names`, each plugin's data is read, which takes milliseconds for some;
    /// without, `name` is the short name in the URI. [control]
    public func installed(names: Bool = true) -> [InstalledPlugin] {
        locked { lilv in
            lilv.plugins().map {
                let uri = lilv.uri(of: $0)
                return InstalledPlugin(uri: uri, name: names ? lilv.name(of: $0) : shortNames(of: uri)[0])
            }
        }.sorted { $0.uri < $1.uri }
    }

    /// The URI of the plugin that a file means: a URI, the last part of one, or a plugin's name; capitals do not
    /// matter for the last two. The parts of URIs come from the manifests alone, so they are looked at first; the names
    /// come from the index. [control]
    func resolve(_ wanted: String) throws(NodeError) -> String {
        try locked { (lilv) throws(NodeError) -> String in
            if let known = resolved[wanted] { return known }
            let uri = try search(wanted, lilv)
            resolved[wanted] = uri
            return uri
        }
    }

    private func search(_ wanted: String, _ lilv: Lilv) throws(NodeError) -> String {
        if wanted.contains(":"), lilv.plugin(wanted) != nil { return wanted }
        let index = search ?? SearchIndex(lilv)
        search = index
        func damage() throws(NodeError) {
            if let damage = index.damage(naming: wanted, all: damagedBundles) { throw damage }
        }
        if wanted.contains("://") || wanted.hasPrefix("urn:") {
            try damage()
            throw NodeError("no LV2 plugin \(wanted) is installed", hint: index.hint(wanted), key: "plugin")
        }
        if let only = try single(index.plugins(endingIn: wanted), wanted) { return only }
        if let only = try single(index.plugins(called: wanted, all: { names(lilv) }), wanted) { return only }
        try damage()
        throw NodeError("no LV2 plugin is called \"\(wanted)\"", hint: index.hint(wanted), key: "plugin")
    }

    /// Every plugin's own name by its URI. lilv would read all that their data say; it is asked only for those in
    /// bundles that were added.
    private func names(_ lilv: Lilv) -> [String: String] {
        var names: [String: String] = [:]
        for plugin in PluginIndex(path: path, cache: cachePath("lv2-index")).plugins { names[plugin.uri] = plugin.name }
        for plugin in lilv.plugins() {
            let uri = lilv.uri(of: plugin)
            if names[uri] == nil { names[uri] = lilv.name(of: plugin) }
        }
        return names
    }

    private func single(_ matches: [String], _ wanted: String) throws(NodeError) -> String? {
        guard matches.count > 1 else { return matches.first }
        let shown = matches.sorted().prefix(3).joined(separator: ", ")
        let rest = matches.count > 3 ? ", ..." : ""
        throw NodeError(
            "\"\(wanted)\" names \(matches.count) LV2 plugins", hint: "use the URI of one: \(shown)\(rest)",
            key: "plugin")
    }
}

/// The short names of a plugin: what follows the last slash of its URI, and what follows the last `#` or `:`.
func shortNames(of uri: String) -> [String] {
    let tail = uri.split(separator: "/", omittingEmptySubsequences: true).last.map(String.init) ?? uri
    let part = tail.split(whereSeparator: { $0 == "#" || $0 == ":" }).last.map(String.init) ?? tail
    return part == tail ? [tail] : [part, tail]
}
