// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport

@testable import WebAudio

/// Nodes that take or give audio over the web, by a clock, and the streams of them as the nodes make them.
final class WebStreams: Sendable {
    let clock: WebClock
    private let endpoints = Lock<[WebEndpoint]>([])

    init(clock: WebClock = .system) { self.clock = clock }

    /// A node type whose nodes are here. The memory is never freed.
    func type(_ name: String) -> UnsafePointer<vg_node_type> {
        if name == WebInput.descriptor.name {
            return makeNodeType(WebInput.self, as: WebInput.descriptor, calls: WebInput.calls) {
                [self] (settings, host) throws(NodeError) in try WebInput(settings, host, clock) { add($0) }
            }
        }
        return makeNodeType(WebOutput.self, as: WebOutput.descriptor, calls: WebOutput.calls) {
            [self] (settings, host) throws(NodeError) in try WebOutput(settings, host, clock) { add($0) }
        }
    }

    private func add(_ endpoint: WebEndpoint) { endpoints.withLock { $0.append(endpoint) } }

    func openInput(_ node: String, rate: Double, channels: Int, client: String) throws(Fault) -> WebInputStream {
        try (endpoint(node) as! InputEndpoint).open(rate: rate, channels: channels, client: client)
    }

    func openOutput(_ node: String, rate: Double, channels: Int, client: String) throws(Fault) -> WebOutputStream {
        try (endpoint(node) as! OutputEndpoint).open(rate: rate, channels: channels, client: client)
    }

    /// The newest of a name.
    private func endpoint(_ node: String) -> WebEndpoint { endpoints.withLock { $0.last { $0.node == node }! } }

    /// Who streams with a node.
    func clients(of node: String) -> [String] {
        let endpoint = endpoint(node)
        return endpoint.monitor.locked { endpoint.state.clients }
    }
}
