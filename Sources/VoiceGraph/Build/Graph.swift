// SPDX-License-Identifier: Apache-2.0
import Config
@_exported import Drivers
@_exported import GraphFile
@_exported import Host
@_exported import NodeKit
import System

/// A graph as a value: nodes, and what goes from where to where.
///
///     let graph = Graph("voice") {
///         let mic = Input("mic")
///         mic => Gain(gainDB: -6) => Meter("level") => Output("out")
///         mic => Record("take", path: "take.flac")
///     }
///     try await host.load(graph)
///
/// A node stands where it is named first; the same value again is the same node. One without a name is called as its type is,
/// with a number where that is taken. What is wrong with a graph is told when it is used, with the place in the program.
public struct Graph: Sendable {
    /// What a file would say. Whatever a part cannot express can be set here.
    public var description: GraphDescription
    /// What was found when it was read or put together: of a graph that was read warnings only.
    public private(set) var diagnostics: [Diagnostic]
    /// Types of this program that its nodes have.
    var types: [ProgramType] = []

    /// Puts a graph together; `name` is that of the JACK client.
    public init(_ name: String = "voicegraph", @GraphParts _ parts: () -> Chain) {
        var assembly = Assembly(parts())
        description = GraphDescription(name: name)
        description.nodes = assembly.nodes()
        description.links = assembly.links()
        types = assembly.types
        diagnostics = assembly.faults
    }

    /// Reads a graph file. Throws `InvalidGraph` with everything that is wrong in it; what its nodes want of the machine is
    /// looked at when it is loaded.
    public init(contentsOf path: String, overrides: [String] = []) throws(InvalidGraph) {
        try self.init(ConfigFile.load(path: path, overrides: overrides))
    }

    /// Reads a graph from the text of a file, whose name diagnostics tell. Paths in it, and what it includes, start at
    /// `folder`, by default that of the process.
    public init(text: String, file: String = "graph.conf", folder: String = "") throws(InvalidGraph) {
        try self.init(ConfigFile.load(text: text, file: folder.isEmpty ? file : folder + "/" + file))
    }

    private init(_ read: (GraphDescription?, [Diagnostic])) throws(InvalidGraph) {
        guard let description = read.0, !read.1.contains(where: { $0.severity == .error }) else {
            throw InvalidGraph(diagnostics: read.1)
        }
        self.description = description
        diagnostics = read.1
    }

    /// The text of a file that says the same. Nodes of types that live in this program are in it, but only this program can
    /// load them.
    public var text: String { GraphText.text(of: description) }

    /// The same, if it could be put together.
    func checked() throws(InvalidGraph) -> GraphDescription {
        guard !diagnostics.contains(where: { $0.severity == .error }) else {
            throw InvalidGraph(diagnostics: diagnostics)
        }
        return description
    }
}

extension Host {
    /// Checks and builds a graph; returns its warnings. Throws `InvalidGraph` with everything that is wrong with it, `Fault`
    /// while another graph plays. Types of this program that it has are registered.
    @discardableResult
    public func load(_ graph: Graph) throws -> [Diagnostic] {
        var description = try graph.checked()
        // Wherever the program goes, paths start where they did.
        description.baseFolder = description.baseFolder.isEmpty ? currentFolder() : absolute(description.baseFolder)
        for type in graph.types { try type.register(self) }
        return graph.diagnostics + (try load(description, keeping: graph.types))
    }
}
