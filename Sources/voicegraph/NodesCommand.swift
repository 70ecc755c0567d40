// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import GraphFile
import Host
import Reference

/// `voicegraph nodes`: every node type, where it came from, and why others cannot be used.
struct NodesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nodes", abstract: "List all node types, and those that cannot be used with the reason.",
        discussion: """
            Examples:
              voicegraph nodes
              voicegraph nodes --json --plugin-path .build/release
            """)

    @Flag(help: "One JSON object a line.")
    var json = false

    @OptionGroup
    var plugins: PluginOptions

    func run() throws {
        let registry = NodeRegistry(search: try plugins.search())
        let catalog = registry.fullCatalog()
        writeOut(json ? NodeListing.json(catalog) : NodeListing.table(catalog, failures: registry.failures))
    }
}

/// `voicegraph describe TYPE`: ports, parameters and settings of a node type, or of an LV2 plugin.
struct DescribeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe", abstract: "Show the ports, parameters and settings of a node type or an LV2 plugin.",
        discussion: """
            `describe lv2 PLUGIN` and `describe URI` show what is behind a node of type lv2 with that plugin, as `lv2 \
            info` does: parameters with units, ranges and scale points, ports, properties and presets.

            Examples:
              voicegraph describe tts
              voicegraph describe lv2 eg-amp
              voicegraph describe http://lv2plug.in/plugins/eg-amp --json
            """)

    @Argument(help: "The node type, as in a file's `type`, or the URI of an LV2 plugin.", completion: .nodeTypes)
    var type: String

    @Argument(help: "With the type lv2: the plugin, by URI or unique name.", completion: .lv2Plugins)
    var plugin: String?

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup
    var plugins: PluginOptions

    func validate() throws {
        if plugin != nil, type != StandardType.lv2 {
            throw ValidationError("only nodes of type lv2 are described with a plugin, not those of type \(type)")
        }
    }

    func run() throws {
        // No node type has a colon in its name, and every URI has one.
        if let lv2 = plugin ?? (type.contains(":") ? type : nil) { return try LV2Command.Info.show(lv2, json: json) }
        let catalog = NodeRegistry(search: try plugins.search()).catalog(for: [type])
        if let why = catalog.unavailable[type] {
            let remedy = why.package.isEmpty ? "" : "; apt install \(why.package)"
            throw fail("node type \(type) is unavailable: \(why.reason)\(remedy)")
        }
        guard let entry = catalog.types[type], var descriptor = catalog.descriptor(type) else {
            var suggester = Suggester()
            let hint = suggester.hint(type, among: catalog.names, otherwise: "`voicegraph nodes` lists all")
            throw fail("there is no node type \(type); \(hint)")
        }
        if catalog.mayBeIsolated(type) { descriptor.settings.append(NodeKeys.isolate.setting) }
        if descriptor.events.contains(where: { $0.role != nil }) {
            descriptor.settings += NodeKeys.keeping.map(\.setting)
        }
        let text =
            json
            ? NodeListing.json(descriptor, origin: entry.origin)
            : NodeListing.description(descriptor, origin: entry.origin)
        writeOut(text)
    }
}

extension CompletionKind {
    /// The names of the node types that are installed.
    static var nodeTypes: CompletionKind {
        .custom { _, _, _ in NodeRegistry(search: .standard(extra: [])).fullCatalog().types.keys.sorted() }
    }
}
