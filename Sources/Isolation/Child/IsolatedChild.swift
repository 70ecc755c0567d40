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

/// The nodes of a child, and its control thread: the nodes of a group share it.
private final class ChildService {
    private let channel: Channel
    private let page: StatusPage
    private var nodes: [UInt32: ChildNode] = [:]
    private var scheduling: (policy: Int32, priority: Int32)?
    /// Frames that were read and wait for their turn.
    private var waiting: [Task] = []
    private var nextRound = monotonicSeconds()

    private struct Task {
        var frame: FrameReader
        var isUrgent: Bool
        /// The descriptor that came with it.
        var descriptor: Int32
    }

    /// Between two rounds of `poll`: as often as the host's own.
    private static let pollTime = 0.008
    /// Between two signs of life.
    private static let pulseTime = 0.5
    /// So many frames are read before they are done; the others wait in the channel.
    private static let mostWaiting = 1024

    init(_ channel: Channel, _ page: StatusPage) {
        self.channel = channel
        self.page = page
    }

    /// One frame, or one round of `poll`; false at the end.
    func step(
        _ find: (_ type: String, _ path: String) throws(NodeError) -> UnsafePointer<vg_node_type>
    ) -> Bool {
        page.beat()
        channel.flush()
        if monotonicSeconds() >= nextRound { makeRound() }
        guard read() else { return false }
        guard !waiting.isEmpty else { return true }
        var task = waiting.removeFirst()
        let (id, call) = (task.frame.node, task.frame.call)
        do throws(NodeError) {
            if let answer = try handle(&task, find) {
                nodes[id]?.tellState()
                self.answer(call, answer)
            } else {
                nodes[id]?.tellState()
            }
        } catch {
            nodes[id]?.tellState()
            refuse(call, id, error)
        }
        return true
    }

    private func makeRound() {
        for node in nodes.values {
            if node.pollsItself { node.poll() }
            node.tellState()
        }
        let polls = nodes.values.contains { $0.pollsItself }
        if !polls {
            for node in nodes.values { node.look() }
        }
        nextRound = monotonicSeconds() + (polls ? Self.pollTime : Self.pulseTime)
    }

    /// Reads what there is, and waits for it if there is nothing to do: what is urgent overtakes messages, actions and
    /// settings that are not. False: there will be nothing more.
    private func read() -> Bool {
        while waiting.count < Self.mostWaiting {
            let rest = waiting.isEmpty ? max(0, nextRound - monotonicSeconds()) : 0
            guard channel.wait(milliseconds: Int32((rest * 1000).rounded(.up))) else { return true }
            guard var frame = channel.receive() else { return false }
            let mayBeUrgent = frame.kind?.mayBeUrgent == true
            let isUrgent = mayBeUrgent && frame.number(UInt8.self) != 0
            let task = Task(
                frame: frame, isUrgent: isUrgent,
                descriptor: frame.kind == .prepare ? channel.takeDescriptor() : -1)
            let ahead =
                isUrgent
                ? waiting.reversed().prefix { !$0.isUrgent && $0.frame.kind?.mayBeUrgent == true }.count : 0
            waiting.insert(task, at: waiting.count - ahead)
        }
        return true
    }

    private func answer(_ call: UInt32, _ answer: FrameWriter) {
        if call != 0 { _ = channel.send(answer, milliseconds: 10_000) }
    }

    private func refuse(_ call: UInt32, _ node: UInt32, _ error: NodeError) {
        var refusal = FrameWriter(.refusal, node: node, call: call)
        refusal.put(error)
        answer(call, refusal)
    }

    /// Does what a frame says; returns the answer, or nil when that comes later.
    private func handle(
        _ task: inout Task,
        _ find: (_ type: String, _ path: String) throws(NodeError) -> UnsafePointer<vg_node_type>
    ) throws(NodeError) -> FrameWriter? {
        let id = task.frame.node
        var answer = FrameWriter(.answer, node: id, call: task.frame.call)
        switch task.frame.kind {
        case .create:
            let node = try create(&task.frame, find)
            nodes[id] = node
            answer.put(node.layout)
        case .schedule:
            scheduling = (task.frame.number(), task.frame.number())
            for node in nodes.values { node.schedule(scheduling) }
        // Everything before it was done.
        case .settle: break
        default:
            guard let node = nodes[id] else { throw NodeError("there is no such node in this process") }
            guard try handle(&task, node) else { return nil }
        }
        return answer
    }

    private func create(
        _ frame: inout FrameReader,
        _ find: (_ type: String, _ path: String) throws(NodeError) -> UnsafePointer<vg_node_type>
    ) throws(NodeError) -> ChildNode {
        let id = frame.node
        let (type, path, name, baseFolder) = (frame.text(), frame.text(), frame.text(), frame.text())
        var birth = ChildNode.Birth(
            name: name, baseFolder: baseFolder, graphName: frame.text(), folders: UserFolders(),
            hostFacts: HostFacts(), taken: 0, settings: Settings())
        (birth.folders.data, birth.folders.cache, birth.folders.models) = (frame.text(), frame.text(), frame.text())
        (birth.hostFacts, birth.taken) = (frame.hostFacts(), frame.number())
        birth.settings = Settings(frame.table())
        takeKeys(frame.table())
        return try page.doing(.create, id, type) { () throws(NodeError) in
            try ChildNode(try find(type, path), birth, ChildLine(id, channel), page)
        }
    }

    /// Variables that only this node needs: they are for this process, and for no child of it.
    private func takeKeys(_ keys: [String: SettingValue]) {
        SecretVariables.add(keys.keys)
        for (name, value) in keys { if case .string(let text) = value { setenv(name, text, 1) } }
    }

    /// A call of a node; false: its answer comes later.
    private func handle(_ task: inout Task, _ node: ChildNode) throws(NodeError) -> Bool {
        let (id, call) = (task.frame.node, task.frame.call)
        switch task.frame.kind {
        case .prepare:
            let preparation = Preparation(
                rate: task.frame.number(), maxBlock: Int(task.frame.number(UInt32.self)),
                offline: task.frame.number(UInt8.self) != 0)
            node.set(task.frame.hostFacts())
            try node.prepare(preparation, memory: task.descriptor)
        case .activate: try node.activate(scheduling)
        case .finish: node.finish()
        case .deactivate: node.deactivate()
        case .hostFacts: node.set(task.frame.hostFacts())
        case .receive:
            let port = Int(task.frame.number(UInt32.self))
            node.receive(task.frame.message(), port: port)
        case .poll: node.poll()
        case .setting:
            let setting = task.frame.text()
            try node.set(setting, to: task.frame.value())
        case .perform:
            let replayed: Double = task.frame.number()
            let action = task.frame.text()
            node.perform(
                action, task.frame.table(), replayed: replayed < 0 ? nil : replayed, done: answering(call, id))
            return false
        case .save:
            node.save(to: task.frame.text(), done: answering(call, id))
            return false
        case .destroy:
            node.deactivate()
            page.doing(.destroy, id) { _ = nodes.removeValue(forKey: id) }
        default: throw NodeError("unknown call")
        }
        return true
    }

    /// What sends what came of an action. It is called on any thread.
    private func answering(_ call: UInt32, _ node: UInt32) -> @Sendable (ActionResult) -> Void {
        { [channel] result in
            var frame: FrameWriter
            switch result {
            case .success(let results):
                frame = FrameWriter(.answer, node: node, call: call)
                frame.put(.table(results))
            case .failure(let error):
                frame = FrameWriter(.refusal, node: node, call: call)
                frame.put(error)
            }
            _ = channel.send(frame, milliseconds: 10_000)
        }
    }
}
