// SPDX-License-Identifier: Apache-2.0
import Glibc
import GraphFile
import Isolation
import LV2
import NodeKit
import Nodes
import System
import WebAudio

/// All node types: built in, and in plugins that are loaded when a graph asks for what they hold, because loading
/// costs start-up time. Of two types with one name the built-in one counts, then the one found first.
public final class NodeRegistry: Sendable {
    private struct State {
        var catalog: NodeCatalog
        /// Not loaded yet, in the order of the search; nil before the first look into the folders.
        var pending: [PluginFile]?
        var plugins: [LoadedPlugin] = []
        var failures: [PluginFailure] = []
        /// Device and file number of what was loaded: a symbolic link to it is nothing new.
        var loaded: Set<[UInt]> = []
        /// The types of this program, by name.
        var own: [String: ObjectIdentifier] = [:]
    }

    /// What puts nodes into processes of their own.
    public let isolator: Isolator
    private let search: PluginSearch
    private let state: Lock<State>

    /// Reads no folder and loads nothing yet. [control]
    public init(
        search: PluginSearch = .standard(), builtIn: [UnsafePointer<vg_node_type>] = NodeRegistry.ownTypes,
        isolation: Isolation = .shared
    ) {
        self.search = search
        isolator = Isolator(isolation)
        var catalog = NodeCatalog(builtIn)
        catalog.pluginFolders = search.folders.filter { !$0.isOwn }.map(\.path)
        catalog.isolation = NodeCatalog.Isolation(builtIn: [StandardType.lv2]) { [isolator] entry, isGroup in
            isolator.isolated(entry.type, path: entry.isBuiltIn ? "" : entry.origin, isGroup: isGroup)
        }
        state = Lock(State(catalog: catalog))
    }

    /// Serves as the process of isolated nodes, started by the process `parent`, and ends with it. [control]
    public static func serveIsolated(parent: Int32) -> Never {
        IsolatedChild.serve(parent: parent) { (type, path) throws(NodeError) in
            let types: [UnsafePointer<vg_node_type>]
            if path.isEmpty {
                types = ownTypes
            } else {
                do throws(PluginFailure) { types = try PluginLoader.load(PluginFile(path: path)).types } catch {
                    throw NodeError("\(error.path) \(error.reason)", hint: error.hint)
                }
            }
            guard let found = types.first(where: { String(cString: $0.pointee.name) == type }) else {
                throw NodeError("\(path) has no node type \(type) any more")
            }
            return found
        }
    }

    /// The types that are part of the host.
    public static var ownTypes: [UnsafePointer<vg_node_type>] { builtInNodeTypes + webNodeTypes + [lv2NodeType()] }

    /// Adds a type that lives in this program; the same one again is nothing new. Throws where its name is taken. [any]
    func register<N: Node>(_ type: N.Type) throws(Fault) {
        let name = N.descriptor.name
        let id = ObjectIdentifier(type)
        try state.withLock { state throws(Fault) in
            guard state.own[name] != id else { return }
            if let taken = state.catalog.types[name] {
                throw Fault(
                    "there is a node type '\(name)' already: \(taken.origin)", hint: "give this one another name")
            }
            state.own[name] = id
            state.catalog.add(nodeType(N.self), origin: NodeCatalog.program)
        }
    }

    /// A catalog in which each of `names` is looked up, with only the plugins loaded that this needs. A name that
    /// nothing promises causes every plugin to be loaded, so that it is found wherever it is. [control]
    public func catalog(for names: some Sequence<String>) -> NodeCatalog {
        let wanted = Set(names)
        return state.withLock { state in
            for name in wanted.sorted() where state.catalog.types[name] == nil {
                find(name, &state)
                if state.catalog.types[name] == nil, state.catalog.unavailable[name] == nil { loadAll(&state) }
            }
            return state.catalog
        }
    }

    /// A catalog of what a graph uses. Children that try plugins for it, and all later ones, get none of the variables that
    /// it names as those of keys. [control]
    public func catalog(for graph: GraphDescription) -> NodeCatalog {
        SecretVariables.add(graph.keyVariables())
        let found = catalog(for: graph.nodes.map(\.type))
        SecretVariables.add(graph.keyVariables(found))
        return found
    }

    /// A catalog with every plugin loaded. [control]
    public func fullCatalog() -> NodeCatalog {
        state.withLock { state in
            loadAll(&state)
            return state.catalog
        }
    }

    /// The plugins loaded so far. [control]
    public var plugins: [LoadedPlugin] { state.withLock(\.plugins) }

    /// What could not be used so far, and why. [control]
    public var failures: [PluginFailure] { state.withLock(\.failures) }

    private func find(_ name: String, _ state: inout State) {
        let files = state.pending ?? search.files()
        state.pending = files
        for file in files where file.promisedType == name {
            state.pending?.removeAll { $0 == file }
            load([file], &state)
            if state.catalog.types[name] != nil { return }
        }
    }

    private func loadAll(_ state: inout State) {
        let files = state.pending ?? search.files()
        state.pending = []
        load(files, &state)
    }

    private func load(_ files: [PluginFile], _ state: inout State) {
        let faults = PluginTrial.faults(of: files)
        for file in files {
            if let fault = faults[file] { record(fault, &state) } else { load(file, &state) }
        }
    }

    private func load(_ file: PluginFile, _ state: inout State) {
        var status = stat()
        if stat(file.path, &status) == 0, !state.loaded.insert([UInt(status.st_dev), UInt(status.st_ino)]).inserted {
            return
        }
        do throws(PluginFailure) {
            let plugin = try PluginLoader.load(file)
            state.plugins.append(plugin)
            for failure in plugin.failures { record(failure, &state) }
            for type in plugin.types where !state.catalog.add(type, origin: file.path) {
                let name = String(cString: type.pointee.name)
                let origin = state.catalog.types[name]?.origin ?? ""
                state.failures.append(
                    PluginFailure(
                        path: file.path, type: name,
                        reason: "node type \(name) is "
                            + (origin == NodeCatalog.builtIn ? "built in already" : "already taken by \(origin)"),
                        hint: "rename the type, or remove one of the two"))
            }
        } catch {
            record(error, &state)
        }
    }

    private func record(_ failure: PluginFailure, _ state: inout State) {
        state.failures.append(failure)
        guard isTypeName(failure.type) else { return }
        let file = failure.path.split(separator: "/").last.map(String.init) ?? failure.path
        let reason = failure.package.isEmpty ? "\(file) \(failure.reason)" : failure.reason
        state.catalog.addUnavailable(failure.type, reason: reason, package: failure.package)
    }
}
