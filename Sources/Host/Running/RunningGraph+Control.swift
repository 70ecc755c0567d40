// SPDX-License-Identifier: Apache-2.0
import Drivers
import Graph
import NodeKit

/// What is done to a running graph, and what is asked of it.
extension RunningGraph {
    /// Turns a parameter. [control]
    public func set(_ node: String, _ parameter: String, to value: Float) throws(HostError) {
        let instance = try instance(node)
        let index = try index(of: parameter, instance)
        let range = instance.parameters[index].range
        guard range.contains(value) else {
            throw HostError("\(node).\(parameter) must be from \(range.lowerBound) to \(range.upperBound)")
        }
        guard engine.set(instance, parameter: index, to: value) else { throw HostError("too many changes at once") }
    }

    /// What a parameter was last set to; one that follows a control may be elsewhere. [control]
    public func value(_ node: String, _ parameter: String) throws(HostError) -> Float {
        let instance = try instance(node)
        return instance.value(try index(of: parameter, instance))
    }

    private func index(of parameter: String, _ instance: NodeInstance) throws(HostError) -> Int {
        if let index = instance.parameterIndex(parameter) { return index }
        let known = instance.parameters.map(\.key).joined(separator: ", ")
        throw HostError(
            "node '\(instance.name)' has no parameter '\(parameter)'",
            hint: known.isEmpty ? "it has none" : "it has: \(known)")
    }

    /// Saves every node that has something to keep and says where, with `state = "FOLDER"`; returns their names. The
    /// others are saved even if one cannot be. [control]
    @discardableResult
    public func saveStates() throws(HostError) -> [String] {
        var saved: [String] = []
        var failure: HostError?
        for node in description.nodes {
            guard case .string(let given)? = node.entries["state"]?.value,
                let instance = nodes.first(where: { $0.name == node.name }), instance.canSave
            else { continue }
            let folder = join(description.baseFolder, given)
            do throws(NodeError) {
                if folder.hasSuffix(".ttl") {
                    throw NodeError("\(given) is a file", hint: "name a folder to save to: state = \"FOLDER\"")
                }
                try instance.save(to: folder)
                saved.append(node.name)
            } catch {
                failure = HostError("node '\(node.name)' cannot be saved: \(error.message)", hint: error.hint)
            }
        }
        if let failure { throw failure }
        return saved
    }

    /// Sends a message to a message input of a node. [control]
    public func send(_ message: Message, to node: String, port: String) throws(HostError) {
        let instance = try instance(node)
        guard let index = instance.messageInput(port) else {
            let known = instance.ports.filter { $0.isMessageInput }.map(\.symbol).joined(separator: ", ")
            throw HostError(
                "node '\(node)' has no message input '\(port)'",
                hint: known.isEmpty ? "it takes no messages" : "it has: \(known)")
        }
        guard router.send(to: instance, port: index, message) else { throw HostError("too many messages wait") }
    }

    func instance(_ name: String) throws(HostError) -> NodeInstance {
        guard let instance = nodes.first(where: { $0.name == name }) else {
            throw HostError(
                "there is no node '\(name)'", hint: "nodes: \(nodes.map(\.name).joined(separator: ", "))")
        }
        return instance
    }

    /// Tells of nodes that were silenced because of what they give, and of their return.
    func watchGuards() {
        for node in nodes {
            let reading = node.guardReading
            let name = node.name
            let was = state.withLock { state in
                defer { state.silenced[name] = reading.isClosed ? reading.reason : nil }
                return state.silenced[name] != nil
            }
            guard was != reading.isClosed else { continue }
            bus.publish(
                .event(
                    Event(
                        reading.isClosed ? "node.silenced" : "node.heard", node: name, time: time.now,
                        fields: [
                            "reason": .string(reading.reason), "blocks": .integer(Int64(clamping: reading.badBlocks)),
                        ])))
        }
    }

    /// What is measured now. [control]
    public var status: Status {
        let (info, measured, counters) = (driver.info, driver.status, engine.counters)
        let threads = engine.schedule?.threads ?? 1
        return state.withLock { state in
            let frames = counters.position &- state.lastPosition
            if frames > 0 {
                let busy = clock.seconds(counters.busyTicks &- state.lastTicks)
                let recent = busy / (Double(frames) / info.rate)
                state.load = state.lastPosition == 0 ? recent : 0.7 * state.load + 0.3 * recent
                state.lastPosition = counters.position
                state.lastTicks = counters.busyTicks
            }
            var status = Status()
            status.driver = info.kind.rawValue
            status.notice = info.notice
            status.server = info.server
            status.ownServer = info.ownServer
            status.client = info.client
            status.rate = info.rate
            status.block = info.block
            status.threads = threads
            status.load = state.load
            status.xruns = measured.xruns + Int(counters.oversizedBlocks)
            status.blocks = counters.cycles
            status.time = time.now
            status.degraded = state.degraded.merging(state.silenced) { failed, _ in failed }
            status.state = measured.state.rawValue
            status.scheduling = measured.scheduling
            status.dropouts = dropouts.counts
            status.unrecorded = counters.lostRecords
            status.lastChange = state.lastChange
            return status
        }
    }

    /// How long each node took per block, in seconds, by name. [control]
    public var timings: [NodeTiming] { engine.timings }
}

extension NodeInstance {
    /// Index of a message input among those, by symbol.
    func messageInput(_ symbol: String) -> Int? { ports.filter(\.isMessageInput).firstIndex { $0.symbol == symbol } }
}

extension Port {
    fileprivate var isMessageInput: Bool { kind == VG_MESSAGE_PORT && direction == VG_INPUT }
}

extension Event {
    /// Why something failed, if it says.
    public var reason: String? {
        for key in ["reason", "message", "error", "text"] {
            if case .string(let text) = fields[key] { return text }
        }
        return nil
    }
}
