// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import Graph
import NodeKit
import Synchronization

/// A graph played as fast as it goes, into a file.
///
/// What reads and writes the files are ordinary nodes: an `input` that is fed from a file becomes a `file` node, and what
/// the chosen `output` receives also goes to a `record` node.
public struct Render: Sendable {
    /// When it is over.
    public enum End: Sendable, Equatable {
        /// After exactly this many frames.
        case frames(Int)
        /// When every node has played what it has and the output has gone silent.
        case idle
    }

    /// How far a render is.
    public struct Progress: Sendable {
        /// Frames done.
        public var frames: Int
        /// Frames in all, if known.
        public var total: Int?
    }

    /// The file to write; its suffix chooses the format.
    public var path: String
    /// Hz.
    public var rate: Double
    /// Frames of a block; the last may be shorter.
    public var block: Int
    /// When it is over.
    public var end: End
    /// Files by the name of the `input` node they feed.
    public var inputs: [String: String]
    /// The `output` node whose signal is written; nil: the first in the file.
    public var output: String?
    /// Channels of the file; nil: those of the output node.
    public var channels: Int?
    /// Beats per minute of the transport; 0: none.
    public var tempo: Double

    /// The node that writes; a name that no file can use.
    static let recorder = "render output"
    /// After the nodes are idle, the output must stay this quiet (linear) for so long, at most for so long (seconds).
    static let quiet: Float = 1e-5
    static let quietTime = 0.25
    static let longestTail = 30.0
    /// Blocks that are shorter than this, in frames, are played several at a time between two turns of the control side.
    static let together = 256

    /// Describes a render.
    public init(
        path: String, rate: Double = 48_000, block: Int = 1024, end: End = .idle, inputs: [String: String] = [:],
        output: String? = nil, channels: Int? = nil, tempo: Double = 0
    ) {
        self.path = path
        self.rate = rate
        self.block = block
        self.end = end
        self.inputs = inputs
        self.output = output
        self.channels = channels
        self.tempo = tempo
    }

    /// Puts the file nodes into a graph, before it is built.
    public func change(_ graph: inout GraphDescription) throws(HostError) {
        for (name, file) in inputs.sorted(by: { $0.key < $1.key }) {
            guard let index = graph.nodes.firstIndex(where: { $0.name == name && $0.type == "input" }) else {
                let known = graph.nodes.filter { $0.type == "input" }.map(\.name).joined(separator: ", ")
                throw HostError(
                    "--input \(name)=\(file): there is no input node '\(name)'",
                    hint: known.isEmpty ? "the graph has no input nodes" : "input nodes: \(known)")
            }
            graph.nodes[index].type = "file"
            graph.nodes[index].entries = ["path": Entry(.string(absolute(file)))]
            graph.nodes[index].keys = ["path"]
            graph.nodes[index].required = true
        }
        let outputs = graph.nodes.filter { $0.type == "output" }
        guard let source = output.map({ name in outputs.first { $0.name == name } }) ?? outputs.first else {
            let known = outputs.map(\.name).joined(separator: ", ")
            throw HostError(
                output.map { "there is no output node '\($0)'" } ?? "the graph has no output node to render",
                hint: known.isEmpty ? "add a node of type \"output\"" : "output nodes: \(known)")
        }
        let file = absolute(path)
        let folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? ""
        guard access(folder.isEmpty ? "/" : folder, W_OK) == 0 else {
            throw HostError(
                "cannot write \(path): \(String(cString: strerror(errno)))",
                hint: "make the folder with mkdir -p, or choose another")
        }
        var channels = self.channels ?? 2
        if self.channels == nil, case .integer(let given) = source.entries["channels"]?.value {
            channels = Int(clamping: given)
        }
        graph.nodes.append(
            NodeDescription(
                name: Self.recorder, type: "record",
                entries: [
                    "path": Entry(.string(file)), "channels": Entry(.integer(Int64(channels))),
                    "overwrite": Entry(.bool(true)),
                ], keys: ["path", "channels", "overwrite"], required: true))
        for var link in graph.links where link.to.node == source.name {
            link.to.node = Self.recorder
            graph.links.append(link)
        }
    }

    /// Renders; returns the frames written. `progress` is told now and then and stops the render by returning false; what
    /// was rendered until then stays in the file. [control]
    public func run(_ prepared: PreparedGraph, progress: (Progress) -> Bool = { _ in true }) throws(HostError) -> Int {
        // Before anything is prepared: a file of that name stays as it is.
        if end == .idle, prepared.graph.nodes.allSatisfy({ $0.instance.askIdle() }) {
            throw HostError("nothing in this graph ends by itself", hint: "give --duration SECONDS")
        }
        let driver = OfflineDriver(rate: rate, maxBlock: block, tempo: tempo)
        let failure = prepared.bus.subscribe(.bounded(1)) {
            if case .event(let event) = $0 {
                event.node == Self.recorder && event.name == "record.failed"
            } else {
                false
            }
        }
        let running = try RunningGraph.start(prepared, on: driver)
        defer { running.bus.finish() }
        let heard = playback(running, driver)
        var frames = 0
        var quietFrames = 0
        var tailFrames = 0
        var failed: String?
        while true {
            var next = block * max(1, Self.together / block)
            if case .frames(let total) = end { next = min(next, total - frames) }
            if next <= 0 { break }
            var loud = false
            for first in stride(from: 0, to: next, by: block) {
                let length = min(block, next - first)
                running.wait(frames: length)
                driver.process(frames: length)
                if end == .idle, !loud {
                    loud = heard.contains { $0.prefix(length).contains { !(abs($0) < Self.quiet) } }
                }
            }
            frames += next
            running.pump()
            if case .event(let event) = failure.poll() {
                failed = event.text("reason") ?? "the file could not be written"
                break
            }
            var total: Int?
            if case .frames(let all) = end { total = all }
            if !progress(Progress(frames: frames, total: total)) { break }
            guard end == .idle else { continue }
            let idle = running.isIdle
            quietFrames = idle && !loud ? quietFrames + next : 0
            tailFrames = idle ? tailFrames + next : 0
            if Double(quietFrames) >= Self.quietTime * rate || Double(tailFrames) >= Self.longestTail * rate { break }
        }
        running.stop()
        if case .event(let event) = failure.poll() { failed = event.text("reason") ?? "the file could not be written" }
        if let reason = failed ?? running.status.degraded[Self.recorder] {
            // The recorder names the file as well, by its whole path.
            let named = reason.firstRange(of: "\(absolute(path)): ")
            throw HostError("cannot write \(path): \(named.map { reason[$0.upperBound...] } ?? reason[...])")
        }
        return frames
    }

    /// The buffers of all output nodes.
    private func playback(_ running: RunningGraph, _ driver: OfflineDriver) -> [UnsafeMutableBufferPointer<Float>] {
        running.nodes.filter { $0.typeName == "output" }.flatMap { node in
            (1...max(1, node.ports.count)).compactMap { driver.buffer(of: "\(node.name)_\($0)") }
        }
    }
}
