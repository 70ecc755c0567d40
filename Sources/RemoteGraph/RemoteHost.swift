// SPDX-License-Identifier: Apache-2.0
import API
import Control
import Host
import JSON
import NodeKit
import System
@_exported import VoiceGraph

/// A host in another process of this user, or on another machine: what `voicegraph run` plays there, reached by its socket, by
/// ssh or by HTTP. Its graph is followed and asked as that of a `Host`, also by the models.
///
///     let kiosk = try await RemoteHost.connect(ssh: "kiosk")
///     let voice = SpeechModel(kiosk)
///     try await voice.speak("The doors are closing.")
///
/// It ends when the host does, or is not reached any more: subscriptions end then, and calls throw. Audio stays where it is,
/// and so do series that are measured only for whoever asks.
public final class RemoteHost: GraphHost, Sendable {
    /// The host's name.
    public let name: String
    private let bus = EventBus()
    private let wire: any Wire
    private let events: RemoteEvents
    /// Whether it was a visitor's token that let in: how the run is, is not for them.
    private let isVisitor: Bool

    /// Connects to the host with this name, or to the only one that runs; on the machine `ssh`, by an ssh of its own that
    /// logs in without asking. Throws if there is none, or more than one, or it cannot be reached.
    public static func connect(_ name: String? = nil, ssh machine: String? = nil) async throws -> RemoteHost {
        try await Host.aside {
            func client(_ name: String?) throws(Fault) -> ControlClient {
                if let machine { return try ControlClient(name, ssh: machine, asks: false, isSilent: true) }
                return try ControlClient(name)
            }
            let calls = try client(name)
            return try RemoteHost(SocketWire(calls, client(calls.name)))
        }
    }

    /// Connects to a host that `voicegraph run --web` shows, at the address `url`, as "http://kiosk:8765". The token lets in,
    /// and says what may be done; a link as `voicegraph web` prints it has one in it. Nothing is encrypted where the address
    /// does not begin with https. Needs libcurl. Throws if it cannot be reached, or does not know the token.
    public static func connect(url: String, token: String? = nil) async throws -> RemoteHost {
        let link = try WebLink(url, token: token)
        return try await Host.aside { try RemoteHost(HTTPWire(link)) }
    }

    init(_ wire: any Wire) throws(Fault) {
        (name, self.wire) = (wire.name, wire)
        events = RemoteEvents(wire, bus)
        isVisitor = try events.begin()["right"]?.string == Right.visitor.rawValue
    }

    deinit { events.end() }

    /// Whether the host is there. [any]
    public var isConnected: Bool { events.isConnected }

    /// See `Host.subscribe`. Neither audio comes nor series on request. [any]
    public func subscribe(
        _ delivery: Delivery, series: Set<String> = [],
        where wants: @escaping @Sendable (Published) -> Bool = { _ in true },
        until isLast: @escaping @Sendable (Published) -> Bool = { _ in false }
    ) -> Subscription {
        bus.subscribe(delivery, series: series, where: wants, until: isLast)
    }

    /// Does an action of a node there, and returns its results; see `Host.perform`.
    @discardableResult
    public func perform(
        _ action: String, on node: String, _ arguments: [String: SettingValue], patience: Double
    ) async throws(Fault) -> [String: SettingValue] {
        let answer = try await ask(
            "do",
            [
                "node": .string(node), "action": .string(action), "arguments": JSON(.table(arguments)),
                "patience": .number(patience),
            ])
        return answer["results"]?.settings ?? [:]
    }

    /// Turns a parameter there; see `Host.set`.
    public func set(_ node: String, _ parameter: String, to value: Float, at time: Double? = nil) async throws(Fault) {
        var fields: [String: JSON] = [
            "node": .string(node), "parameter": .string(parameter), "value": .number(Double(value)),
        ]
        fields["at"] = time.map { .number($0) }
        _ = try await ask("set", fields)
    }

    /// Silences a node there, or not.
    public func setMuted(_ node: String, _ isMuted: Bool) async throws(Fault) {
        _ = try await ask("mute", ["node": .string(node), "on": .bool(isMuted)])
    }

    /// The graph there as it plays now. Whoever came in by a visitor's token does not get to know how the run is.
    public func look() async throws(Fault) -> GraphLook? {
        let nodes = try await ask("nodes")
        let status = isVisitor ? Status() : Status(try await ask("status")["status"] ?? .null)
        let late = isVisitor ? [] : try await ask("dropouts")["dropouts"]?.items ?? []
        return GraphLook(
            nodes: nodes["nodes"]?.items.map(GraphLook.Node.init) ?? [],
            links: nodes["links"]?.items.map(GraphLook.Link.init) ?? [], state: status.state, time: status.time,
            late: late.compactMap(GraphLook.LateAudio.init))
    }

    /// Makes any call of the host, as `voicegraph ctl` does; the answer's fields.
    private func ask(_ call: String, _ fields: [String: JSON] = [:]) async throws(Fault) -> JSON {
        do { return try await Host.aside { [wire] in try wire.ask(call, fields) } } catch {
            throw error as? Fault ?? Fault("\(error)")
        }
    }
}

extension JSON {
    /// The values of an object; of anything else none.
    var settings: [String: SettingValue] { if case .table(let table)? = setting { table } else { [:] } }
}

extension GraphLook.Node {
    fileprivate init(_ json: JSON) {
        self.init(name: json["name"]?.string ?? "", type: json["type"]?.string ?? "")
        roles = Set(json["roles"]?.items.compactMap { $0.string.flatMap(Role.init) } ?? [])
        trouble = json["degraded"]?.string
        (isMuted, isBypassed) = (json["mute"]?.bool ?? false, json["bypass"]?.bool ?? false)
        for parameter in json["parameters"]?.items ?? [] {
            if let key = parameter["key"]?.string { parameters[key] = parameter["value"]?.double.map(Float.init) }
        }
    }
}

extension GraphLook.Link {
    fileprivate init(_ json: JSON) {
        self.init(
            from: json["from"]?.string ?? "", to: json["to"]?.string ?? "", gainDB: json["gain_db"]?.double ?? 0)
    }
}

extension GraphLook.LateAudio {
    fileprivate init?(_ json: JSON) {
        guard let cause = json["cause"]?.string.flatMap(Dropout.Cause.init) else { return nil }
        self.init(cause: cause, text: json["text"]?.string ?? "")
    }
}
