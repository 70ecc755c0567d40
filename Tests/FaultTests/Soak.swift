// SPDX-License-Identifier: Apache-2.0
import Control
import Foundation
import Glibc
import GraphFile
import JSON
import TestSupport

/// What was counted and measured while everything happened.
struct SoakFigures {
    var edits = 0
    var refused: [String] = []
    var faults: [String: Int] = [:]
    var editTimes: [Duration] = []
    var reconnectTimes: [Duration] = []
    var pluginTimes: [Duration] = []
    var frames = 0
    var stepsAboveRamp = 0
    var largestShare = 0.0
    /// Recordings in which the server stood still by itself: it is no fault then that no fade was waited for.
    var standstills = 0
    /// Of each listener's recording, the first step that is too large.
    var firstSteps: [SoakSteps.Step] = []
    /// Kilobytes after each round.
    var memory: [Int] = []
    /// What it had from malloc after each round; the first one once as much is kept as ever will be, and at the end.
    var heap: [HeapUse] = []
    var settledHeap: HeapUse?
    var lastHeap: HeapUse?
    /// Kilobytes of the process when its heap had settled.
    var settledKilobytes: Int?
    /// Bytes of all that it had told when that was measured first, and at the end: it keeps them for clients that come back.
    var toldSettled = 0
    var told = 0
    var settled: Resources?
    var last: Resources?
    var status: RunStatus?
    /// Nodes that were blamed for a late cycle. Where others have the processors this may be one that waits for its
    /// process, or any, if what the kernel counts does not tell that it was held up.
    var blamed: [String: Int] = [:]
    /// What the plugin in a process of its own was said to have died of.
    var downfalls: [String: Int] = [:]

    /// Fastest, median and slowest, in milliseconds.
    static func spread(_ times: [Duration]) -> String {
        guard !times.isEmpty else { return "none" }
        let sorted = times.sorted().map { Int(1000 * ($0 / .seconds(1))) }
        return "\(sorted.count) times, \(sorted[0]) / \(sorted[sorted.count / 2]) / \(sorted[sorted.count - 1]) ms"
    }

    static func list(_ counts: [String: Int]) -> String {
        counts.isEmpty
            ? "none" : counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }

    /// Where steps are too large, and what was changed before.
    var steps: String { firstSteps.isEmpty ? "" : "\n" + firstSteps.map { "  \($0)" }.joined(separator: "\n") }

    var table: String {
        let share = String(format: "%.2f", largestShare)
        return """
            cycles                    \(status?.blocks ?? 0)
            late cycles, by cause     \(Self.list(status?.dropouts ?? [:]))
            nodes that were blamed    \(blamed.isEmpty ? "none" : "\(blamed)")
            edits                     \(edits), refused \(refused.count)
            an edit, min/median/max   \(Self.spread(editTimes))
            faults                    \(faults.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
            reconnected               \(Self.spread(reconnectTimes))
            plugin ended, by cause    \(Self.list(downfalls))
            plugin back               \(Self.spread(pluginTimes))
            frames looked at          \(frames), of \(standstills) recordings none: the server stood still
            steps above the ramp      \(stepsAboveRamp); the largest was \(share) of what is allowed\(steps)
            memory after each round   \(memory.map(String.init).joined(separator: " ")) kB
            malloc after each round   \(heap.map(\.description).joined(separator: ", "))
            malloc, settled           \(settledHeap?.description ?? "not yet")
            malloc, at the end        \(lastHeap?.description ?? "none")
            told meanwhile            \((told - toldSettled) / 1024) kB
            settled                   \(settled?.description ?? "not yet")
            at the end                \(last?.description ?? "none")
            """
    }
}

/// A run of the command that is edited at random, and to which everything happens, with all processors busy. A sine goes
/// to a listener, who looks at each step of it; a plugin in a process of its own plays beside it.
final class Soak {
    private enum Fault: String, CaseIterable { case kill, terminate, hang, crash, brokenReload, reload, stalledClients }

    private(set) var figures = SoakFigures()
    private let server: Jackd
    private let session: Session
    private let heap: CountedHeap
    private let client: ControlClient
    private let start: String
    private let broken: String
    private let seed: UInt64
    private var random: TestRandom
    private var edits: RandomEdits
    private var steps = SoakSteps(Soak.firstModel)
    private var ear: JackPeer?
    /// How often it had told that the server stands still when the listener came.
    private var stalls = 0
    private var rate = 48000

    /// The graph of the file, as far as it is edited.
    static let firstModel = GraphDescription(
        name: "faulted",
        nodes: [
            NodeDescription(name: "sine", type: "tone", entries: ["level_db": Entry(.number(-12))], keys: ["level_db"]),
            NodeDescription(name: "n5", type: "gain"), NodeDescription(name: "out", type: "output"),
        ],
        links: [
            LinkDescription(from: Endpoint("sine"), to: Endpoint("n5")),
            LinkDescription(from: Endpoint("n5"), to: Endpoint("out")),
        ])

    /// Starts server and run.
    init(seed: UInt64) async throws {
        self.seed = seed
        random = TestRandom(seed: seed)
        edits = RandomEdits(seed: seed, late: false)
        start =
            RandomEdits.start.replacing("\"edits\"", with: "\"faulted\"")
            .replacing("links = [", with: "links = [\"other -> wild -> away\", ") + """

                [node.other]
                type = "tone"
                [node.wild]
                type = "unruly"
                isolate = true
                [node.away]
                type = "meter"

                """
        let scratch = try Scratch()
        _ = try await compile("plugins/unruly", in: scratch, as: "libvg-unruly.so")
        broken = try scratch.write("broken.conf", start.replacing("type = \"gain\"", with: "type = \"gian\""))
        server = try await Jackd.start(rate: rate, block: 128)
        heap = try await CountedHeap(in: scratch)
        session = try Session(
            start, ["--plugin-path", scratch.path], server: server.name, environment: heap.environment, in: scratch)
        try await session.plays()
        client = try ControlClient("faulted", folder: ControlFolder(path: scratch.file("voicegraph")))
    }

    /// Lets it happen for so long.
    func run(seconds: Double) async throws {
        let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let load = try (0..<processors).map { _ in try Program(["sh", "-c", "while :; do :; done"]) }
        defer { for program in load { program.signal(SIGKILL) } }
        let end = ContinuousClock.now + .seconds(seconds)
        try await listen()
        var round = 0
        while ContinuousClock.now < end {
            for fault in Fault.allCases.shuffled(using: &random) where ContinuousClock.now < end {
                for _ in 0..<Int.random(in: 5...30, using: &random) { try edit() }
                try await happen(fault)
                figures.faults[fault.rawValue, default: 0] += 1
            }
            round += 1
            try await calm()
            figures.memory.append(session.resources.kilobytes)
            let use = try heap.use()
            figures.heap.append(use)
            // A hundred edits are kept to be undone.
            if figures.settledHeap == nil, figures.edits > 150 {
                figures.settledHeap = use
                figures.settledKilobytes = figures.memory.last
                figures.toldSettled = toldBytes
            }
            // The first round fills caches, and makes what is kept.
            if round == 1 { figures.settled = session.resources }
        }
        try judge()
        for program in load { program.signal(SIGKILL) }
        try await calm()
        if let settled = figures.settled {
            // Two more are those by which the thread of a plugin is watched, once that was late.
            try await eventually("descriptors, threads and shared memory are what they were: \(settled)") {
                [session] in
                let now = session.resources
                return now.descriptors <= settled.descriptors + 2 && now.threads <= settled.threads
                    && now.shared <= settled.shared
            }
        }
        figures.last = session.resources
        figures.lastHeap = try heap.use()
        figures.told = toldBytes
        figures.status = try await session.status()
        for line in session.run.lines where line.hasPrefix("{\"event\":\"plugin.failed\"") {
            if let cause = line.firstMatch(of: /"cause":"(\w+)"/) {
                figures.downfalls[String(cause.1), default: 0] += 1
            }
        }
        for line in session.run.lines where line.hasPrefix("{\"event\":\"dropout\"") {
            if let blamed = line.firstMatch(of: /"cause":"node".*"nodes":\["(\w+)"/) {
                figures.blamed[String(blamed.1), default: 0] += 1
            }
        }
        try await session.end()
        server.stop()
    }

    /// Bytes of what it has told.
    private var toldBytes: Int { session.run.lines.reduce(0) { $0 + $1.utf8.count } }

    /// Back to the graph of the file, so that what is occupied can be compared.
    private func calm() async throws {
        try judge()
        try reload()
        try await session.until("it plays") { $0.state == "running" }
        try await listen()
    }

    private func reload() throws {
        steps.change(to: Self.firstModel, "reload", at: ear?.recordedFrames)
        let answer = try call("reload", [:])
        #expect(isDone(answer), "\(answer.text)")
    }

    private func call(_ name: String, _ fields: [String: JSON]) throws -> JSON { try client.call(name, fields).answer }

    private func isDone(_ answer: JSON) -> Bool {
        guard case .object(let fields) = answer, case .bool(true)? = fields["ok"] else { return false }
        return true
    }

    // MARK: what is heard

    /// Has a listener connected, from the moment on at which the server has ordered its graph.
    private func listen() async throws {
        stalls = session.count("stalled")
        let peer = try JackPeer("ear", server: server, inputs: 1, recordingFrames: 60 * rate)
        ear = peer
        #expect(peer.connect("faulted:out_1", "ear:in_1"))
        let cycles = peer.cycles
        try await eventually("the server has ordered its graph") { peer.cycles > cycles + 20 }
        steps.listen(from: peer.recordedFrames)
    }

    /// Looks at all that was heard, and lets the listener go.
    private func judge() throws {
        guard let peer = ear else { return }
        ear = nil
        let heard = peer.recording(0)
        peer.close()
        let findings = steps.judge(heard, rate: rate)
        // Where others have the processors for so long that cycles are missed, a graph becomes what was asked for without them.
        if session.count("stalled") > stalls {
            figures.standstills += 1
            return
        }
        figures.frames += findings.frames
        figures.stepsAboveRamp += findings.above
        figures.largestShare = max(figures.largestShare, findings.largestShare)
        if let step = findings.first { figures.firstSteps.append(step) }
    }

    // MARK: what is changed

    private func edit() throws {
        let edit = edits.next(steps.graph)
        var next = steps.graph
        guard next.make(edit) else { return }
        let calls = calls(edit)
        steps.change(to: next, "\(calls.map { "\($0.0) \(JSON.object($0.1).text)" })", at: ear?.recordedFrames)
        let begin = ContinuousClock.now
        for (name, fields) in calls {
            let answer = try call(name, fields)
            if !isDone(answer) { figures.refused.append("\(name) \(JSON.object(fields).text): \(answer.text)") }
        }
        figures.editTimes.append(begin.duration(to: .now))
        figures.edits += 1
    }

    /// The calls that make an edit.
    private func calls(_ edit: RandomEdits.Edit) -> [(String, [String: JSON])] {
        let graph = steps.graph
        func text(_ link: LinkDescription) -> JSON { .string("\(link.from) -> \(link.to)") }
        func add(_ node: NodeDescription) -> (String, [String: JSON]) {
            let own = node.entries.mapValues { JSON($0.value) }
            return (
                "add", ["node": .object(own.merging(["name": .string(node.name), "type": .string(node.type)]) { $1 })]
            )
        }
        func link(_ link: LinkDescription) -> (String, [String: JSON]) {
            ("link", ["link": text(link), "gain_db": .number(link.gainDB)])
        }
        switch edit {
        case .add(let node): return [add(node)]
        case .remove(let name): return [("remove", ["node": .string(name)])]
        case .link(let new): return [link(new)]
        case .unlink(let index): return [("unlink", ["link": text(graph.links[index])])]
        case .gain(let index, let gain):
            var new = graph.links[index]
            new.gainDB = gain
            return [("unlink", ["link": text(new)]), link(new)]
        case .bypass(let name, let on): return [("bypass", ["node": .string(name), "on": .bool(on)])]
        case .mute(let name, let on): return [("mute", ["node": .string(name), "on": .bool(on)])]
        case .set(let name, let key, let value):
            return [("set", ["node": .string(name), "parameter": .string(key), "value": .number(value)])]
        case .replace(let name, let node):
            let links = graph.links.filter { $0.from.node == name || $0.to.node == name }
            return [("remove", ["node": .string(name)]), add(node)] + links.map(link)
        }
    }

    // MARK: what happens

    private func happen(_ fault: Fault) async throws {
        switch fault {
        case .kill, .terminate:
            try judge()
            try await replaceServer(fault == .kill ? SIGKILL : SIGTERM)
            try await listen()
        case .hang:
            try judge()
            server.hang()
            try await session.until("the hang is noticed") { $0.state == "stalled" }
            server.unhang()
            try await session.until("it goes on") { $0.state == "running" }
            try await listen()
        case .crash:
            let kind = ["segv", "abort", "exit", "stop", "nan"].randomElement(using: &random)!
            let (failed, started) = (session.count("plugin.failed"), session.count("plugin.started"))
            var begin = ContinuousClock.now
            // What it gives too late is not looked at, and so does no harm: then once more.
            for attempt in 0..<20 where session.count("plugin.failed") == failed {
                begin = .now
                let answer = try call("send", ["node": .string("wild"), "port": .string("do"), "text": .string(kind)])
                #expect(isDone(answer), "\(answer.text), attempt \(attempt)")
                for _ in 0..<100 where session.count("plugin.failed") == failed {
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
            try await session.run.wait("the plugin is back after \(kind)") { [session] _ in
                session.count("plugin.started") > started
            }
            figures.pluginTimes.append(begin.duration(to: .now))
        case .brokenReload:
            // How nodes are may change at any time, and is no part of the graph.
            func graph() throws -> String {
                try call("nodes", [:]).text.replacing(/"degraded":"(?:[^"\\]|\\.)*",/, with: "")
            }
            let before = try graph()
            let answer = try call("reload", ["path": .string(broken)])
            #expect(!isDone(answer) && answer.text.contains("gian"), "\(answer.text)")
            let after = try graph()
            #expect(before == after)
        case .reload: try reload()
        case .stalledClients:
            let clients = try [["top", "--json"], ["ctl", "events"]].map {
                try Program([Program.voicegraph] + $0 + ["--client", "faulted"], environment: session.environment)
            }
            for client in clients { try await client.wait("it hears something") { !$0.lines.isEmpty } }
            for client in clients { client.signal(SIGSTOP) }
            for _ in 0..<20 { try edit() }
            for client in clients { client.signal(SIGKILL) }
        }
    }

    private func replaceServer(_ signal: Int32) async throws {
        let losses = session.count("server.lost")
        let before = try await session.status().blocks
        server.end(signal)
        try await session.run.wait("the loss is told") { [session] _ in session.count("server.lost") > losses }
        rate = [44100, 48000].randomElement(using: &random)!
        let block = [64, 128, 256].randomElement(using: &random)!
        let begin = ContinuousClock.now
        try server.restart(rate: rate, block: block)
        try await session.until("audio flows") { $0.state == "running" && $0.blocks > before }
        figures.reconnectTimes.append(begin.duration(to: .now))
    }
}
