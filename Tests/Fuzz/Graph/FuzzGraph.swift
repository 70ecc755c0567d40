// SPDX-License-Identifier: Apache-2.0
import Config
import Graph
import GraphFile
import Nodes

private let catalog: NodeCatalog = {
    var catalog = NodeCatalog(builtInNodeTypes)
    catalog.addUnavailable("tts", reason: "libespeak-ng.so.1 is missing", package: "libespeak-ng1")
    return catalog
}()

/// Any bytes are a graph file: they are read, checked and shown without a crash, every place lies in the text, and
/// what passes has sound indices.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzGraph(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var (description, diagnostics) = ConfigFile.load(
        text: bytes, file: "fuzz.conf", overrides: ["node.a.gain_db=1"],
        environment: ["HOME": "/home/user", "EMPTY": ""])
    if let description {
        let result = GraphBuilder.build(description, catalog: catalog)
        diagnostics += result.diagnostics
        if let graph = result.graph { check(graph) }
    } else {
        precondition(!diagnostics.isEmpty, "refused without a reason")
    }
    for diagnostic in diagnostics where diagnostic.location.file == "fuzz.conf" { check(diagnostic, bytes) }
    let format = DiagnosticFormat(color: true)
    precondition(diagnostics.isEmpty == format.text(diagnostics).isEmpty)
    precondition(DiagnosticFormat.json(diagnostics).split(separator: "\n").count == diagnostics.count)
    return 0
}

private func check(_ diagnostic: Diagnostic, _ bytes: [UInt8]) {
    let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
    let place = diagnostic.location
    precondition(place.line >= 1 && place.line <= lines.count, "line \(place.line) of \(lines.count)")
    precondition(place.column >= 1 && place.column <= lines[place.line - 1].count + 1, "column \(place.column)")
    precondition(place.length >= 1 && place.column + place.length <= lines[place.line - 1].count + 2)
    precondition(!diagnostic.message.isEmpty)
}

private func check(_ graph: ResolvedGraph) {
    for link in graph.links {
        precondition(graph.nodes.indices.contains(link.fromNode) && graph.nodes.indices.contains(link.toNode))
        precondition(graph.nodes[link.fromNode].instance.ports.indices.contains(link.fromPort))
        let target = graph.nodes[link.toNode].instance
        switch link.target {
        case .port(let port):
            precondition(target.ports[port].kind == link.portKind && target.ports[port].direction.rawValue == 0)
        case .parameter(let parameter): precondition(target.parameters.indices.contains(parameter))
        }
        precondition(link.gain.isFinite)
    }
}
