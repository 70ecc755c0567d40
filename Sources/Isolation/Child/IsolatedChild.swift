// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import NodeKit
import Realtime
import System

/// The program that isolated nodes live in: reads what the host wants from descriptor 3 and does it, until the host is
/// gone. Only here does a plugin's code run; the host sees frames and shared memory.
public enum IsolatedChild {
    /// Serves and ends the process. `find` gives the node type of a name from a shared object, or from the program
    /// itself when the path is empty. [control]
    public static func serve(
        parent: Int32, find: (_ type: String, _ path: String) throws(NodeError) -> UnsafePointer<vg_node_type>
    ) -> Never {
        guard vg_isolate_is_kept(parent) else { _exit(1) }
        // A thread of a pool blocks signals, those by which a plugin gives up among them.
        unblockSignals()
        let channel = Channel(3)
        guard var hello = channel.receive(), hello.kind == .hello,
            let memory = SharedMemory(descriptor: channel.takeDescriptor(), size: StatusPage.size)
        else { _exit(1) }
        vg_isolate_limit(hello.number(), hello.number())
        let service = ChildService(channel, StatusPage(memory))
        // Without the exit handlers of whatever the plugins loaded.
        while service.step(find) {}
        _exit(0)
    }
}

/// The nodes of a child, and its control thread.
private final class ChildService {
    private let channel: Channel
    private let page: StatusPage
    private var nodes: [UInt32: ChildNode] = [:]
    private var scheduling: (policy: Int32, priority: Int32)?

    /// Between two rounds of `poll`: as often as the host's own.
    private static let pollTime: Int32 = 8
    /// Between two signs of life.
    private static let pulseTime: Int32 = 500

    init(_ channel: Channel, _ page: StatusPage) {
        self.channel = channel
        self.page = page
    }

    /// One frame, or one round of `poll`; false at the end.
    func step(
        _ find: (_ type: String, _ path: String) throws(NodeError) -> UnsafePointer<vg_node_type>
    ) -> Bool {
        page.beat()
        let polls = nodes.values.contains { $0.pollsItself }
        guard channel.wait(milliseconds: polls ? Self.pollTime : Self.pulseTime) else {
            for node in nodes.values where node.pollsItself { node.poll() }
            return true
        }
        guard var frame = channel.receive() else { return false }
        if frame.kind == .schedule {
            scheduling = (frame.number(), frame.number())
            for node in nodes.values { node.schedule(scheduling) }
            return true
        }
        do throws(NodeError) {
            var answer = FrameWriter(.answer, node: frame.node, call: frame.call)
            try handle(&frame, &answer, find)
            if frame.call != 0 { _ = channel.send(answer, milliseconds: 10_000) }
        } catch {
            var refusal = FrameWriter(.refusal, node: frame.node, call: frame.call)
            refusal.put(error)
            if frame.call != 0 { _ = channel.send(refusal, milliseconds: 10_000) }
        }
        return true
    }

    private func handle(
        _ frame: inout FrameReader, _ answer: inout FrameWriter,
        _ find: (_ type: String, _ path: String) throws(NodeError) -> UnsafePointer<vg_node_type>
    ) throws(NodeError) {
        let id = frame.node
        if frame.kind == .create {
            let (type, path, name, folder) = (frame.text(), frame.text(), frame.text(), frame.text())
            let settings: [String: SettingValue]
            if case .table(let table) = frame.value() { settings = table } else { settings = [:] }
            let node = try page.doing(.create, id) { () throws(NodeError) in
                try ChildNode(id, try find(type, path), name, Settings(settings), folder, channel, page)
            }
            nodes[id] = node
            answer.put(node.layout)
            answer.put(UInt8(node.canSave ? 1 : 0))
            return
        }
        guard let node = nodes[id] else { throw NodeError("there is no such node in this process") }
        switch frame.kind {
        case .prepare:
            let preparation = Preparation(
                rate: frame.number(), maxBlock: Int(frame.number(UInt32.self)), offline: frame.number(UInt8.self) != 0)
            answer.put(try node.prepare(preparation, memory: channel.takeDescriptor()))
        case .activate: try node.activate(scheduling)
        case .deactivate: node.deactivate()
        case .receive:
            let port = Int(frame.number(UInt32.self))
            node.receive(frame.message(), port: port)
        case .poll: node.poll()
        case .idle: answer.put(UInt8(node.isIdle ? 1 : 0))
        case .save: try node.save(to: frame.text())
        case .loadPreset:
            let preset = frame.text()
            try node.loadPreset(preset, again: frame.number(UInt8.self) != 0)
        case .setProperty:
            let key = frame.text()
            try node.setProperty(key, to: frame.value())
        case .askProperty: try node.askProperty(frame.text())
        case .destroy:
            node.deactivate()
            page.doing(.destroy, id) { _ = nodes.removeValue(forKey: id) }
        default: throw NodeError("unknown call")
        }
    }
}
