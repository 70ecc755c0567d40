// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import Graph
import NodeKit

/// What comes from an input, such as a microphone, and what to do if it is not what was meant.
public struct InputJudgement: Sendable, Equatable {
    /// What was found.
    public enum Verdict: String, Sendable, CaseIterable {
        /// The server has nothing that could be heard.
        case missing
        /// There are sources, but none is connected.
        case unconnected
        /// Digital zero: a source that is switched off or muted.
        case silent
        /// Below -60 dBFS: nobody speaks, or the gain is down.
        case quiet
        /// Full scale is reached.
        case clipping
        /// Sound of a usual level.
        case plausible
        /// The input has no guard, so that nobody listens to it.
        case unknown
    }

    /// What was found.
    public var verdict: Verdict
    /// The loudest sample, in dBFS; nil: there was none but zeros, or nobody listened.
    public var peak: Double?
    /// What `connect` names and is not there.
    public var unmatched: [String]

    /// Judges the loudest sample, linear, and what stands before the input.
    init(peak: Float?, sources: PortConnections) {
        if case .unconnected(let names) = sources { unmatched = names } else { unmatched = [] }
        let level = peak.flatMap { $0 > 0 ? 20 * log10(Double($0)) : nil }
        self.peak = level
        verdict =
            switch (sources, peak) {
            case (.missing, _): .missing
            case (.unconnected, _): .unconnected
            case (_, nil): .unknown
            case (_, let peak?) where peak >= 0.999: .clipping
            case _ where level == nil: .silent
            case _ where level.map { $0 < -60 } == true: .quiet
            default: .plausible
            }
    }

    /// In words, with what to do.
    public var text: String {
        let decibels = peak.map { "\(($0 * 10).rounded() / 10) dBFS" } ?? "-120 dBFS"
        return switch verdict {
        case .unconnected where !unmatched.isEmpty:
            "nothing is connected to it: \(noSuchPort(unmatched)) (voicegraph doctor lists what is there)"
        case .missing: "the server has no capture port: is a sound card or another program there?"
        case .unconnected: "nothing is connected to it: give `connect`, or connect a source"
        case .silent: "digital silence comes from it: is the source switched off or muted?"
        case .quiet: "it is very quiet (peak \(decibels)): speak, or turn the gain up"
        case .clipping: "it clips (peak \(decibels)): turn the gain down"
        case .plausible: "sound of a usual level comes from it (peak \(decibels))"
        case .unknown: "it has no guard, so nobody can tell what comes from it"
        }
    }

    static let fields = [
        Field("verdict", VG_STRING, Verdict.allCases.map(\.rawValue).joined(separator: ", ")),
        Field("text", VG_STRING, "in words, with what to do"),
        Field("peak", VG_NUMBER, "the loudest sample; of silence there is none", unit: "dBFS"),
    ]

    /// As an event and an answer carry it.
    public var values: [String: SettingValue] {
        var values: [String: SettingValue] = ["verdict": .string(verdict.rawValue), "text": .string(text)]
        if let peak { values["peak"] = .number(peak) }
        return values
    }
}

extension Host {
    /// Listens to an input for so many seconds of sound, and says what comes from it; told as an event, too. Throws if
    /// there is no such input, or the graph ends meanwhile.
    public func judge(_ node: String, seconds: Double = 2) async throws(Fault) -> InputJudgement {
        try await Self.judge(node, seconds: seconds, in: try graph())
    }

    /// The inputs of the graph that plays, by name.
    public var inputs: [String] { running?.inputs.map(\.name) ?? [] }

    /// Judges every input once sound has come for two seconds; what is not as it should be is logged.
    static func judgeInputs(_ graph: RunningGraph) {
        for input in graph.inputs {
            Task { [weak graph] in
                guard let graph else { return }
                guard let judgement = try? await judge(input.name, seconds: 2, in: graph) else { return }
                switch judgement.verdict {
                case .plausible, .unknown: break
                default:
                    graph.tell(
                        HostEvent.log, node: input.name,
                        ["text": .string(judgement.text), "level": .string("warning")])
                }
            }
        }
    }

    static func judge(
        _ node: String, seconds: Double, in graph: RunningGraph
    ) async throws(Fault) -> InputJudgement {
        let input = try graph.instance(node)
        guard input.typeName == StandardType.input else {
            throw Fault("'\(node)' is no input", hint: "inputs: \(graph.inputs.map(\.name).joined(separator: ", "))")
        }
        guard seconds >= 0.1, seconds <= 60 else { throw Fault("\(seconds) is not between 0.1 and 60 seconds") }
        var peak: Float?
        let listener = input.listen()
        let start = graph.engine.counters.position
        let ports = (1...max(1, input.ports.count { $0.kind == VG_AUDIO_PORT })).map { "\(node)_\($0)" }
        while true {
            guard (try? await Task.sleep(for: .milliseconds(50))) != nil else {
                throw Fault("nobody waits for what '\(node)' is judged any more")
            }
            if graph.isStopped { throw Fault("the graph has ended") }
            if let heard = listener.take() { peak = max(peak ?? 0, heard) }
            // What the driver cannot tell just now is not guessed: it listens on until that is known.
            guard Double(graph.engine.counters.position - start) >= seconds * graph.driver.info.rate,
                let sources = graph.driver.connections(of: ports)
            else { continue }
            let judgement = InputJudgement(peak: peak, sources: sources)
            graph.tell(HostEvent.judged, node: node, judgement.values)
            return judgement
        }
    }
}

extension RunningGraph {
    /// What the driver fills with audio.
    var inputs: [NodeInstance] { nodes.filter { $0.typeName == StandardType.input } }
}
