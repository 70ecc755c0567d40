// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit
import System

/// Looks whether a node type keeps its promises, by making nodes of it and driving them. It touches nothing but these nodes;
/// what they do, as opening files, they do. [control]
public struct NodeCheck {
    /// What is looked at, in this order.
    public enum Subject: String, Sendable, CaseIterable {
        /// It is made, prepared, activated and ended, and tells nothing that it does not declare.
        case life
        /// The sound is the same however it is cut into blocks.
        case blocks
        /// The sound is the same where an output shares its buffer with an input.
        case inPlace = "in-place"
        /// It works at every rate and with the shortest and longest blocks.
        case rates
        /// Every value of every parameter gives numbers.
        case parameters
        /// Every value of every live setting is taken.
        case settings
        /// What can be done to it comes to an end.
        case actions
        /// After samples that are no numbers it finds back.
        case input
        /// Its sound dies away to nothing, not to the smallest of numbers.
        case denormals
        /// Prepared again, it begins anew.
        case reset
        /// Its sound is as late as it says.
        case latency
        /// Its end gives back what its life took.
        case memory
        /// Nothing on the audio thread allocates, locks or calls the system.
        case realtime
    }

    let type: UnsafePointer<vg_node_type>
    let settings: [String: SettingValue]

    /// Looks at nodes of `type` with these settings.
    public init(_ type: UnsafePointer<vg_node_type>, _ settings: [String: SettingValue] = [:]) {
        self.type = type
        self.settings = settings
    }

    /// Looks at one thing; at least one finding. Takes seconds, and as long as the node does.
    public func findings(on subject: Subject) -> [CheckFinding] {
        let faults = Lock<[String]>([])
        var found: [CheckFinding]
        do throws(NodeError) {
            found = try look(at: subject, Maker(type: type, settings: settings, faults: faults))
        } catch {
            let hint = error.hint.isEmpty ? "" : "; \(error.hint)"
            // Once is enough.
            found = [
                subject == .life
                    ? CheckFinding(
                        .omitted, subject, "such a node cannot be made here: \(error.message)\(hint)",
                        hint: "give it what it needs with --set KEY=VALUE")
                    : CheckFinding(.omitted, subject, "no node can be made here")
            ]
        }
        var seen: Set<String> = []
        let broken = faults.withLock { $0 }.filter { seen.insert($0).inserted }
        if broken.isEmpty { return found }
        return broken.map { CheckFinding(.error, subject, $0, hint: Self.hint(for: $0)) }
            + found.filter { $0.severity != .fine }
    }

    private func look(at subject: Subject, _ maker: Maker) throws(NodeError) -> [CheckFinding] {
        switch subject {
        case .life: try life(maker)
        case .blocks: try blocks(maker)
        case .inPlace: try inPlace(maker)
        case .rates: try rates(maker)
        case .parameters: try parameters(maker)
        case .settings: try liveSettings(maker)
        case .actions: try actions(maker)
        case .input: try brokenInput(maker)
        case .denormals: try denormals(maker)
        case .reset: try reset(maker)
        case .latency: try latency(maker)
        case .memory: try memory(maker)
        case .realtime: try realtime(maker)
        }
    }

    private static func hint(for fault: String) -> String {
        if fault.contains("declare") { return "declare it in the type, or do not tell it" }
        if fault.contains("silent") { return "mark an output as silent only where all its frames are 0" }
        if fault.contains("unwritten") { return "write each frame of each output in every block" }
        return "write frames 0 up to the length of the block, and nothing else"
    }
}

/// Makes the nodes that are looked at.
struct Maker {
    let type: UnsafePointer<vg_node_type>
    let settings: [String: SettingValue]
    let faults: Lock<[String]>

    func callAsFunction(
        rate: Double = 48000, maxBlock: Int = 1024, offline: Bool = false
    ) throws(NodeError) -> NodeHarness {
        let node = try NodeHarness(type, settings, rate: rate, maxBlock: maxBlock, offline: offline) { [faults] fault in
            faults.withLock { $0.append(fault) }
        }
        node.waits = offline
        return node
    }

    /// One whose sound does not depend on how fast its threads are.
    func offline() throws(NodeError) -> NodeHarness { try self(offline: true) }
}

extension NodeHarness {
    /// Audio inputs.
    var inputCount: Int { instance.ports.count { $0.kind == VG_AUDIO_PORT && $0.direction == VG_INPUT } }
    /// Audio outputs.
    var outputCount: Int { instance.ports.count { $0.kind == VG_AUDIO_PORT && $0.direction == VG_OUTPUT } }

    /// Noise for every input, at -12 dBFS at most, another for each.
    func noise(_ frames: Int, seed: UInt64 = 1) -> [[Float]] {
        (0..<inputCount).map { Signal.noise(frames: frames, seed: seed + UInt64($0), amplitude: 0.25) }
    }

    /// A note for every MIDI input, every tenth of a second of the next `frames`.
    func playNotes(_ frames: Int) {
        guard !midiInputs.isEmpty else { return }
        let tenth = Int(preparation.rate / 10)
        let notes = stride(from: position, to: position + frames, by: tenth).flatMap { start in
            [TimedMIDI(start, [0x90, 60, 100]), TimedMIDI(start + tenth / 2, [0x80, 60, 0])]
        }
        midiInputs = midiInputs.map { _ in notes }
    }

    /// What it makes of noise and notes: one signal per audio output.
    func play(_ frames: Int, plan: BlockPlan = .fixed(64), seed: UInt64 = 1) -> [[Float]] {
        playNotes(frames)
        return run(frames, inputs: noise(frames, seed: seed), plan: plan)
    }
}

/// The largest difference of two sounds, and its first frame beyond `limit`; nil: there is none.
func difference(_ a: [[Float]], _ b: [[Float]], beyond limit: Float) -> (peak: Float, frame: Int)? {
    var first = Int.max
    var peak: Float = 0
    for (a, b) in zip(a, b) {
        for (frame, (x, y)) in zip(a, b).enumerated() where x.bitPattern != y.bitPattern {
            let step = abs(x - y)
            guard !(step <= limit) else { continue }
            first = min(first, frame)
            if !(step <= peak) { peak = step }
        }
    }
    return first == .max ? nil : (peak, first)
}

/// The first sample that is no finite number: which output, and its frame.
func firstBroken(_ outputs: [[Float]]) -> (output: Int, frame: Int)? {
    for (output, samples) in outputs.enumerated() {
        if let frame = samples.firstIndex(where: { !$0.isFinite }) { return (output, frame) }
    }
    return nil
}

/// As dBFS with one place after the point.
func decibelText(_ linear: Float) -> String { "\(fixed(Signal.decibels(Double(linear)), 1)) dBFS" }
