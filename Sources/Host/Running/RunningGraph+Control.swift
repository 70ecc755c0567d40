// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import Graph
import NodeKit
import System

/// What is done to a running graph, and what is asked of it.
extension RunningGraph {
    /// Turns a parameter, from a time of the graph on (seconds; nil: now), by `Author.current`. [control]
    public func set(_ node: String, _ parameter: String, to value: Float, at time: Double? = nil) throws(Fault) {
        let instance = try instance(node)
        let index = try index(of: parameter, instance)
        if let fault = instance.parameters[index].fault(of: value) {
            throw Fault("\(node).\(parameter) \(fault)")
        }
        let position = time.map(self.time.position(at:)) ?? 0
        guard turn(instance, index, to: value, at: position, by: Author.current) else {
            throw Fault(
                instance.isPrepared || instance.isExternal ? "too many changes at once" : "node '\(node)' does not run",
                hint: reports.health(node).reason ?? "try again")
        }
    }

    /// What a parameter was last set to; one that follows a control may be elsewhere. [control]
    public func value(_ node: String, _ parameter: String) throws(Fault) -> Float {
        let instance = try instance(node)
        return instance.value(try index(of: parameter, instance))
    }

    /// What is declared of a parameter; nil: there is none. [control]
    func parameter(_ node: String, _ parameter: String) -> Parameter? {
        guard let instance = nodes.first(where: { $0.name == node }) else { return nil }
        return (try? instance.parameter(called: parameter)).map { instance.parameters[$0] }
    }

    private func index(of parameter: String, _ instance: NodeInstance) throws(Fault) -> Int {
        try instance.parameter(called: parameter)
    }

    /// The parameter that a name means, and the number that a value means for it, as a file would be read. [control]
    func parameter(
        _ node: String, _ name: String, for value: SettingValue
    ) throws(Fault) -> (key: String, number: Float) {
        let instance = try instance(node)
        let parameter = instance.parameters[try index(of: name, instance)]
        do { return (parameter.key, try parameter.value(of: value)) } catch {
            throw Fault("node '\(node)': \(error.message)", hint: error.hint)
        }
    }

    /// Where nodes that have something to keep say that it goes, with `state = "FOLDER"`, by their names. [control]
    func stateFolders() throws(Fault) -> [(node: String, folder: String)] {
        var result: [(String, String)] = []
        for node in description.nodes {
            guard case .string(let given)? = node.entries["state"]?.value,
                let instance = nodes.first(where: { $0.name == node.name }), instance.has(VG_ACTION_SAVE)
            else { continue }
            let folder = join(description.baseFolder, given)
            if folder.hasSuffix(".ttl") {
                throw Fault(
                    "node '\(node.name)' cannot be saved: \(given) is a file",
                    hint: "name a folder to save to: state = \"FOLDER\"")
            }
            result.append((node.name, folder))
        }
        return result
    }

    /// Does an action of a node and tells what came of it, on any thread. [any]
    func perform(
        _ node: String, _ action: String, _ arguments: [String: SettingValue], patience: Double,
        done: @escaping @Sendable (Result<[String: SettingValue], Fault>) -> Void
    ) {
        let instance: NodeInstance
        do throws(Fault) { instance = try self.instance(node) } catch { return done(.failure(error)) }
        instance.perform(action, arguments, patience: patience) { result in
            done(result.mapError { Fault("node '\(node)': \($0.message)", hint: $0.hint, kind: $0.kind) })
        }
    }

    /// Sends a message to a message input of a node. [control]
    public func send(_ message: Message, to node: String, port: String) throws(Fault) {
        let instance = try instance(node)
        guard let index = instance.messageInput(port) else {
            let known = instance.ports.filter { $0.isMessageInput }.map(\.symbol).joined(separator: ", ")
            throw Fault(
                "node '\(node)' has no message input '\(port)'",
                hint: known.isEmpty ? "it takes no messages" : "it has: \(known)")
        }
        let input = instance.ports.filter(\.isMessageInput)[index]
        guard input.takes(message) else {
            throw Fault("'\(node).\(port)' takes \(input.messageKinds), not \(message.kindText)")
        }
        guard router.send(to: instance, port: index, message) else {
            throw Fault("too many messages wait for '\(node)'", hint: "try again later")
        }
    }

    func instance(_ name: String) throws(Fault) -> NodeInstance {
        guard let instance = nodes.first(where: { $0.name == name }) else {
            throw Fault("there is no node '\(name)'", hint: "nodes: \(nodes.map(\.name).joined(separator: ", "))")
        }
        return instance
    }

    /// What is measured now. [control]
    public var status: Status {
        let (info, measured, counters) = (driver.info, driver.status, engine.counters)
        let threads = engine.schedule?.threads ?? 1
        let (degraded, nodeCounters) = (reports.degraded, reports.counters)
        var status = Status()
        status.pid = getpid()
        status.driver = info.kind.rawValue
        status.notice = info.notice
        status.server = info.server
        status.ownServer = info.ownServer
        status.client = info.client
        status.rate = info.rate
        status.block = info.block
        status.threads = threads
        status.load = load.load(counters, rate: info.rate)
        status.xruns = losses.dropouts.xruns + Int(counters.oversizedBlocks)
        status.blocks = counters.cycles
        status.time = time.now
        status.degraded = degraded
        status.counters = nodeCounters
        status.lostNotes = counters.lostNotes
        status.lostMIDI = counters.lostMIDI
        status.unconnected = outputs.unconnected
        status.state = measured.state.rawValue
        status.scheduling = measured.scheduling
        status.dropouts = losses.dropouts.counts
        status.unrecorded = counters.lostRecords
        status.lastChange = state.withLock(\.lastChange)
        return status
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

extension Port {
    /// Whether it says that it takes such a message.
    fileprivate func takes(_ message: Message) -> Bool {
        let bit: Int =
            switch message.content {
            case .text: VG_TAKES_TEXT
            case .number: VG_TAKES_NUMBER
            case .bytes: VG_TAKES_BYTES
            }
        return takes == 0 || takes & UInt32(bit) != 0
    }

    /// What it takes, in words.
    fileprivate var messageKinds: String {
        [(VG_TAKES_TEXT, "a text"), (VG_TAKES_NUMBER, "a number"), (VG_TAKES_BYTES, "bytes")]
            .filter { takes & UInt32($0.0) != 0 }.map(\.1).joined(separator: " or ")
    }
}

extension Message {
    fileprivate var kindText: String {
        switch content {
        case .text: "a text"
        case .number: "a number"
        case .bytes: "bytes"
        }
    }
}

extension NodeInstance {
    /// Whether its type declares an action.
    func has(_ action: String) -> Bool { declarations.actions.contains { $0.name == action } }
}
