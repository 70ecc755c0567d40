// SPDX-License-Identifier: Apache-2.0
import Config
import Glibc
import GraphFile
import Host
import NodeKit

/// One render of the command, and what is said of it.
struct RenderJob: Sendable {
    let render: Render
    let keepsGoing: Bool

    /// Renders, until it is over or `ended` is set. Throws also where audio was lost, unless that is well.
    func run(_ prepared: PreparedGraph, _ ended: EndFlag, _ report: FileReport) throws(Fault) {
        let losses = RenderLosses(prepared)
        let outcome = try render.run(prepared) { progress in
            report.show(progress.frames, of: progress.total)
            losses.read(until: progress.frames) { report.tell($0) }
            return !ended.isSet
        }
        report.show(outcome.frames, of: outcome.frames)
        losses.read(until: outcome.frames) { report.tell($0) }
        report.tell(losses.silences(until: Double(outcome.frames) / render.rate))
        if outcome.cutAt != nil { report.tell(cutText(outcome)) }
        let summary =
            "\(render.path): \(outcome.frames) frames, \(report.summary(outcome.frames))\(outcome.text)\(losses.summary)"
        if ended.isSet { throw Fault("interrupted; \(summary)") }
        report.tell(summary + "\n")
        if !keepsGoing, outcome.cutAt != nil || !losses.isEmpty {
            throw Fault("audio was lost, as said above", hint: "--keep-going takes the file as it is")
        }
    }
}

/// Renders of one graph, in each of which one of its inputs plays another file.
struct FileRenders: Sendable {
    let job: RenderJob
    let source: GraphSource
    let files: [String]
    /// What is written of each.
    let paths: [String]
    /// The input that plays them; nil: the only one that no other file feeds.
    let player: String?

    /// Renders all of them; whether all is well. Throws where the graph itself, or what is asked of it, is wrong.
    func run(atOnce: Int?, _ ended: EndFlag) throws -> Bool {
        let registry = NodeRegistry(search: try source.plugins.search())
        // What is wrong with the graph alone is said once.
        var player = ""
        let known = try loadGraph(source, registry) { graph throws(Fault) in
            player = try self.player(in: graph)
            try render(of: 0, nil).change(&graph)
        }.diagnostics.map(\.message)
        let batch = Batch(count: files.count, rate: job.render.rate)
        let failed = try batch.run(atOnce: atOnce) {
            !ended.isSet
        } _: { [player] index, report in
            do throws(Fault) {
                let render = render(of: index, player)
                guard access(files[index], R_OK) == 0 else {
                    throw Fault("\(files[index]): \(String(cString: strerror(errno)))")
                }
                let (prepared, diagnostics) = try PreparedGraph.load(
                    path: source.file, overrides: source.overrides, registry: registry
                ) { graph throws(Fault) in try render.change(&graph) }
                let news = diagnostics.filter { !known.contains($0.message) }
                guard let prepared else {
                    throw Fault("\(files[index]): " + news.map(\.fault.description).joined(separator: "; "))
                }
                if !news.isEmpty { report.tell(diagnosticFormat(for: STDERR_FILENO).text(news)) }
                try RenderJob(render: render, keepsGoing: job.keepsGoing).run(prepared, ended, report)
                return true
            } catch {
                report.fail(error)
                return false
            }
        }
        if files.count > 1 { writeOut("\(batch.summary)\n", to: STDERR_FILENO) }
        return failed == 0
    }

    private func render(of index: Int, _ player: String?) -> Render {
        var render = job.render
        render.path = paths[index]
        if let player { render.inputs[player] = files[index] }
        return render
    }

    private func player(in graph: GraphDescription) throws(Fault) -> String {
        let inputs = graph.nodes.filter { $0.type == StandardType.input && job.render.inputs[$0.name] == nil }
            .map(\.name)
        if let player {
            guard !inputs.contains(player) else { return player }
            throw Fault(
                "--input \(player): the graph has no input node '\(player)' that is free",
                hint: inputs.isEmpty ? "it has none at all" : "there are \(inputs.joined(separator: ", "))")
        }
        guard let only = inputs.first else {
            throw Fault(
                "the graph has no input node that could play \(files[0])", hint: "add a node of type \"input\"")
        }
        guard inputs.count == 1 else {
            throw Fault(
                "the graph has several input nodes: \(inputs.joined(separator: ", "))",
                hint: "say which one plays the files, as --input \(only)")
        }
        return only
    }
}

/// That sound which did not end was cut.
func cutText(_ outcome: Render.Outcome) -> String {
    "voicegraph: the sound did not end within \(Int(Render.longestTail)) s of its sources and was cut at "
        + "\(fixed(outcome.cutAt ?? 0, 1)) dBFS; give --duration to say how much is wanted\n"
}

extension Render.Outcome {
    /// What the last line of a render says of the file's level.
    fileprivate var text: String {
        var parts: [String] = []
        if let peak { parts.append("peak \(fixed(peak, 1)) dBFS") } else { parts.append("silence") }
        if let truePeak { parts.append("true peak \(fixed(truePeak, 1)) dBTP") }
        if let loudness { parts.append("\(fixed(loudness, 1)) LUFS") }
        if clipped > 0 { parts.append("\(clipped) samples clipped") }
        if latency > 0 { parts.append("latency of \(latency) frames taken off") }
        return ", " + parts.joined(separator: ", ")
    }
}
