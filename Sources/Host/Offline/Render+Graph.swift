// SPDX-License-Identifier: Apache-2.0
import Glibc
import GraphFile
import NodeKit

/// What a render changes in a graph.
extension Render {
    /// Puts the file nodes into a graph, before it is built.
    public func change(_ graph: inout GraphDescription) throws(Fault) {
        for (name, file) in inputs.sorted(by: { $0.key < $1.key }) { try feed(name, file, &graph) }
        for index in graph.nodes.indices where graph.nodes[index].type == StandardType.record && !records {
            graph.nodes[index].entries["autostart"] = Entry(.bool(false))
        }
        let source = try source(in: graph)
        var channels = self.channels ?? 2
        if self.channels == nil, case .integer(let given) = source.entries["channels"]?.value {
            channels = Int(clamping: given)
        }
        let links = try links(to: source, of: graph, channels: channels)
        let file = descriptor == nil ? absolute(path) : path
        if descriptor == nil { try checkFolder(of: file) }
        var entries: [String: SettingValue] = settings
        entries["path"] = .string(file)
        entries["literal"] = .bool(true)
        entries["descriptor"] = descriptor.map { .integer(Int64($0)) }
        entries["channels"] = .integer(Int64(channels))
        entries["overwrite"] = .bool(true)
        entries["autostart"] = .bool(false)
        graph.nodes.append(
            NodeDescription(
                name: Self.recorder, type: StandardType.record, entries: entries.mapValues { Entry($0) },
                keys: entries.keys.sorted(), required: true))
        graph.links += links
    }

    /// Makes an input node a `file` node.
    private func feed(_ name: String, _ file: String, _ graph: inout GraphDescription) throws(Fault) {
        guard let index = graph.nodes.firstIndex(where: { $0.name == name && $0.type == StandardType.input }) else {
            throw missing(StandardType.input, name, "--input \(name)=\(file): ", in: graph)
        }
        guard access(file, R_OK) == 0 else {
            throw Fault(
                "--input \(name)=\(file): cannot read \(file): \(String(cString: strerror(errno)))",
                hint: file.hasPrefix("/") ? "" : "the path starts at the folder where the command runs")
        }
        // As many channels as the graph says, whatever the file has.
        let channels = graph.nodes[index].entries["channels"]
        graph.nodes[index].type = StandardType.file
        graph.nodes[index].entries = ["path": Entry(.string(absolute(file)))]
        graph.nodes[index].entries["channels"] = channels
        graph.nodes[index].keys = ["path"] + (channels == nil ? [] : ["channels"])
        graph.nodes[index].required = true
    }

    /// The output node that is rendered.
    func source(in graph: GraphDescription) throws(Fault) -> NodeDescription {
        let outputs = graph.nodes.filter { $0.type == StandardType.output }
        guard let output else {
            if let first = outputs.first { return first }
            throw Fault("the graph has no output node to render", hint: "add a node of type \"output\"")
        }
        if let node = outputs.first(where: { $0.name == output }) { return node }
        throw missing(StandardType.output, output, "--output \(output): ", in: graph)
    }

    /// That a node of a type was named that there is not.
    func missing(
        _ type: String, _ name: String, _ option: String, in graph: GraphDescription
    ) -> Fault {
        let known = graph.nodes.filter { $0.type == type }.map(\.name)
        var suggester = Suggester()
        let all = known.isEmpty ? "the graph has no \(type) nodes" : "\(type) nodes: \(known.joined(separator: ", "))"
        if let other = graph.nodes.first(where: { $0.name == name }) {
            return Fault("\(option)node '\(name)' is of type \(other.type), not \(type)", hint: all)
        }
        return Fault(
            "\(option)there is no \(type) node '\(name)'", hint: suggester.hint(name, among: known, otherwise: all))
    }

    /// What the output hears, for the node that writes `channels` of it.
    private func links(
        to source: NodeDescription, of graph: GraphDescription, channels: Int
    ) throws(Fault) -> [LinkDescription] {
        var links: [LinkDescription] = []
        for var link in graph.links where link.to.node == source.name {
            if let given = self.channels, let port = link.to.port {
                // Ports are called after how many there are: the only one is `in`, one of several `in_1`.
                let number = port == "in" ? 1 : port.hasPrefix("in_") ? Int(port.dropFirst(3)) : nil
                if let number, number > given {
                    throw Fault(
                        "--channels \(given) has no place for what goes to '\(link.to)'",
                        hint: "give --channels \(number), or leave it out")
                }
                if let number { link.to.port = port == "in" ? nil : given == 1 ? "in" : "in_\(number)" }
            }
            link.to.node = Self.recorder
            links.append(link)
        }
        return links
    }

    private func checkFolder(of file: String) throws(Fault) {
        let folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? ""
        guard access(folder.isEmpty ? "/" : folder, W_OK) == 0 else {
            throw Fault(
                "cannot write \(path): \(String(cString: strerror(errno)))",
                hint: "make the folder with mkdir -p, or choose another")
        }
    }
}
