// SPDX-License-Identifier: Apache-2.0
import NodeKit
import System

/// A node that clients may open streams of.
public struct WebStreamDescription: Sendable, Equatable {
    /// Which way the audio goes.
    public enum Direction: String, Sendable {
        /// From a client into the graph: the node is a `web-input`.
        case input
        /// From the graph to clients: the node is a `web-output`.
        case output
    }

    /// The graph that it is in.
    public var graph: String
    /// Its name there.
    public var node: String
    /// Which way the audio goes.
    public var direction: Direction
    /// Audio channels of the node.
    public var channels: Int
    /// Of the graph, in Hz.
    public var rate: Double
    /// Who streams: of an input one at most, of an output as many as listen.
    public var clients: [String]
}

/// The nodes of this process that take or give audio over the web, by their names: nodes add themselves when they are
/// prepared and are gone when they end; a server opens streams of them for its clients.
///
///     let stream = try WebStreams.shared.openInput("mic", rate: 48_000, channels: 1, client: "a phone")
///     if !stream.push(position: 0, frames: samples) { /* the node has ended */ }
public final class WebStreams: Sendable {
    /// Where the nodes of `webNodeTypes` are.
    public static let shared = WebStreams()

    /// Sample rates that a client may have, in Hz.
    public static let rates = 8000.0...192_000
    /// Channels that a node or a client may have.
    public static let channels = 1...8
    /// Clients that may listen to one node at a time.
    public static let mostListeners = OutputFeed.slots

    private let endpoints = Lock<[WebEndpoint]>([])
    let clock: WebClock

    /// An empty table.
    public convenience init() { self.init(clock: .system) }

    init(clock: WebClock) { self.clock = clock }

    /// The node types whose nodes are here. The memory is never freed. [control]
    public func makeNodeTypes() -> [UnsafePointer<vg_node_type>] {
        [
            makeNodeType(WebInput.self, as: WebInput.descriptor, calls: WebInput.calls) {
                [self] (settings, host) throws(NodeError) in try WebInput(settings, host, self)
            },
            makeNodeType(WebOutput.self, as: WebOutput.descriptor, calls: WebOutput.calls) {
                [self] (settings, host) throws(NodeError) in try WebOutput(settings, host, self)
            },
        ]
    }

    /// What can be opened now. [any]
    public func list() -> [WebStreamDescription] {
        let all = endpoints.withLock(\.self).map(\.description)
        return all.filter { $0.direction == .input } + all.filter { $0.direction == .output }
    }

    /// Opens the stream of a `web-input` for one client, which sends so many channels at `rate` in Hz; nobody else may until
    /// it is closed. `graph` nil: of whichever graph has such a node. [any]
    public func openInput(
        _ node: String, graph: String? = nil, rate: Double, channels: Int, client: String
    ) throws(Fault) -> WebInputStream {
        try check(rate, channels)
        let endpoint: InputEndpoint = try endpoint(node, graph, "takes")
        return try endpoint.open(rate: rate, channels: channels, client: client)
    }

    /// Opens a stream of a `web-output` for one more client, which plays so many channels at `rate` in Hz. `graph` nil: of
    /// whichever graph has such a node. [any]
    public func openOutput(
        _ node: String, graph: String? = nil, rate: Double, channels: Int, client: String
    ) throws(Fault) -> WebOutputStream {
        try check(rate, channels)
        let endpoint: OutputEndpoint = try endpoint(node, graph, "gives")
        return try endpoint.open(rate: rate, channels: channels, client: client)
    }

    private func check(_ rate: Double, _ channels: Int) throws(Fault) {
        guard Self.rates.contains(rate) else {
            throw Fault("\(rate) Hz is no rate of a stream", hint: "use 8000 to 192000 Hz")
        }
        guard Self.channels.contains(channels) else {
            throw Fault("a stream cannot have \(channels) channels", hint: "use 1 to 8")
        }
    }

    /// The newest of a name that is of a kind; `what` it does with audio.
    private func endpoint<Endpoint: WebEndpoint>(
        _ node: String, _ graph: String?, _ what: String
    ) throws(Fault) -> Endpoint {
        let named = endpoints.withLock { $0.filter { $0.isNamed(node, graph) } }
        if let endpoint = named.last(where: { $0 is Endpoint }) as? Endpoint { return endpoint }
        let place = graph.map { " in the graph '\($0)'" } ?? ""
        guard named.isEmpty else {
            throw Fault(
                "the node '\(node)' is for the other direction: it \(what == "takes" ? "gives" : "takes") audio")
        }
        throw Fault(
            "there is no node '\(node)'\(place) that \(what) audio over the web",
            hint: "its type must be web-\(what == "takes" ? "input" : "output"), and it must be playing")
    }

    // By the nodes.

    func add(_ endpoint: WebEndpoint) {
        endpoints.withLock { all in
            if !all.contains(where: { $0 === endpoint }) { all.append(endpoint) }
        }
    }

    func remove(_ endpoint: WebEndpoint) { endpoints.withLock { $0.removeAll { $0 === endpoint } } }
}

private struct TypeList: @unchecked Sendable {
    // Sendable: written once, before anyone can see it.
    let list: [UnsafePointer<vg_node_type>]
}

private let sharedTypes = TypeList(list: WebStreams.shared.makeNodeTypes())

/// The node types `web-input` and `web-output`, whose nodes are in `WebStreams.shared`. Made once and never freed. [control]
public var webNodeTypes: [UnsafePointer<vg_node_type>] { sharedTypes.list }
