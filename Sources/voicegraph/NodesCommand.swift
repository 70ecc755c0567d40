// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Host

/// `voicegraph nodes`: every node type, where it came from, and why others cannot be used.
struct NodesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nodes", abstract: "List all node types, and those that cannot be used with the reason.")

    @Flag(help: "One JSON object a line.")
    var json = false

    @OptionGroup
    var plugins: PluginOptions

    func run() throws {
        let registry = NodeRegistry(search: try plugins.search())
        let catalog = registry.fullCatalog()
        print(
            json ? NodeListing.json(catalog) : NodeListing.table(catalog, failures: registry.failures), terminator: "")
    }
}

/// `voicegraph describe TYPE`: ports, parameters and settings of a node type.
struct DescribeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe", abstract: "Show the ports, parameters and settings of a node type.")

    @Argument(help: "The node type, as in a file's `type`.")
    var type: String

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup
    var plugins: PluginOptions

    func run() throws {
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
        if catalog.mayBeIsolated(type) { descriptor.settings.append(NodeCatalog.isolateSetting) }
        let text =
            json
            ? NodeListing.json(descriptor, origin: entry.origin)
            : NodeListing.description(descriptor, origin: entry.origin)
        print(text, terminator: "")
    }
}
