// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Where a value lives during a cycle.
enum BufferID: Hashable {
    /// Not decided yet.
    case unassigned
    /// A buffer of the schedule's own, reused when its value is no longer needed.
    case pool(Int)
    /// The driver's buffer of this external port.
    case external(Int)
    /// Always zeros, never written.
    case silence
}

/// What the audio thread will do, still in symbols: the compiler's product, the verifier's input, and what the schedule
/// is built from. An audio *value* is one block of samples made once per cycle; a *cell* is one control float.
struct Plan: Sendable {
    enum Step: Equatable, Sendable {
        /// Runs a node.
        case process(node: Int)
        /// Lets a node that closes a feedback loop take its inputs.
        case absorb(node: Int)
        /// value = sum of gain x value; nothing to add gives zeros.
        case mix(into: Int, terms: [Term])
        /// Silences a node that gives what is not fit to be heard.
        case `guard`(node: Int)
        /// Runs a node and its guard: see `joiningGuards`.
        case guarded(node: Int)
        /// What others hear of a node, where that is not simply its outputs: see `heard`.
        case outputMode(node: Int)
        /// The end of a block in which links fade.
        case tick
        /// value = an earlier value, `frames` ago.
        case delay(into: Int, from: Int, frames: Int)
        /// A control cell = sum of cells.
        case sum(into: Int, cells: [Int])
        /// A parameter follows a control cell.
        case drive(node: Int, parameter: Int, cell: Int)
        /// A MIDI buffer = events of several, in order of time.
        case merge(into: Int, from: [Int])
        /// Remembers the notes that sound through the links into a MIDI input: see `Inlet`.
        case follow(inlet: Int)
    }

    /// A MIDI input with its links.
    struct Inlet {
        /// Those that carry something, and the buffer that each reads.
        var live: [(link: NoteLink, buffer: Int)]
        /// Those of the graph before that end: what sounds through them ends.
        var ended: [NoteLink]
        /// The buffer that the input reads.
        var buffer: Int
    }

    struct Term: Equatable {
        var value: Int
        var gain: Float
        var fade = ResolvedGraph.Fade.steady
    }

    /// What a delay line holds: it is the same line in every schedule that delays the same by as much, so that nothing
    /// is lost when one schedule follows another.
    struct Line: Hashable {
        /// The node whose output is delayed, or whose input, for its bypass.
        var node: ObjectIdentifier
        var isInput: Bool
        var port: Int
        var frames: Int
    }

    /// How the steps are divided among threads.
    struct Tasks: Equatable, Sendable {
        /// Threads that are of use, with the audio thread.
        var threads: Int
        /// The end of each task: the index after its last step. Tasks wait for earlier ones only.
        var ends: [Int] = []
        /// Per task: those that wait for it, the most urgent first.
        var targets: [[Int]] = []

        /// Per task: how many it waits for.
        var sources: [Int] {
            var count = [Int](repeating: 0, count: ends.count)
            for target in targets.joined() where count.indices.contains(target) { count[target] += 1 }
            return count
        }
    }

    /// In the order of execution, if one thread runs all.
    var steps: [Step] = []
    /// nil: one thread runs all.
    var tasks: Tasks?
    /// The buffer of each audio value. Value 0 is silence.
    var values: [BufferID] = [.silence]
    /// Pool buffers needed.
    var poolCount = 0
    /// The driver's ports, in the order of the graph's external nodes.
    var externals: [ExternalPort] = []
    /// Per node: the audio value that each audio input reads and each audio output writes.
    var inputs: [[Int]] = []
    var outputs: [[Int]] = []
    /// Per node: the audio values that readers of its outputs read: the outputs themselves, or what its output mode makes.
    var heard: [[Int]] = []
    /// Per node that is not simply open: the value that stands in for each output while it is bypassed; 0: silence.
    var dry: [[Int]] = []
    /// The delay lines, by the value that they make.
    var lines: [Int: Line] = [:]
    /// Per link: frames that it waits.
    var waits: [Int] = []
    /// Per node: the cell that each control input reads and each control output writes.
    var controlInputs: [[Int]] = []
    var controlOutputs: [[Int]] = []
    /// What each cell holds before the first cycle.
    var cells: [Float] = []
    /// Per node: the MIDI buffer that each MIDI input reads and each MIDI output writes. Buffer 0 is always empty.
    var midiInputs: [[Int]] = []
    var midiOutputs: [[Int]] = []
    var midiCount = 1
    /// MIDI inputs that have links, or had some until now.
    var inlets: [Inlet] = []
    /// External port of a MIDI buffer, by buffer.
    var midiExternals: [Int: Int] = [:]
    /// Frames by which what each node takes lags behind the graph's inputs.
    var arrival: [Int] = []

    mutating func newValue(_ buffer: BufferID = .unassigned) -> Int {
        values.append(buffer)
        return values.count - 1
    }

    mutating func newCell(_ value: Float) -> Int {
        cells.append(value)
        return cells.count - 1
    }

    /// Nodes and the guards right behind them in one step, where the node's code can take that: half the work of a guard
    /// is to get there.
    func joiningGuards(_ graph: ResolvedGraph) -> Plan {
        var plan = self
        plan.steps = []
        // How many steps there are now before each that there was.
        var places: [Int] = []
        let ends = Set(tasks?.ends ?? [])
        for (index, step) in steps.enumerated() {
            places.append(plan.steps.count)
            if case .guard(let node) = step, plan.steps.last == .process(node: node), !ends.contains(index),
                graph.nodes[node].joinsGuard
            {
                plan.steps[plan.steps.count - 1] = .guarded(node: node)
            } else {
                plan.steps.append(step)
            }
        }
        places.append(plan.steps.count)
        plan.tasks?.ends = (tasks?.ends ?? []).map { places[$0] }
        return plan
    }

    mutating func newMIDI() -> Int {
        midiCount += 1
        return midiCount - 1
    }
}

extension Plan.Step {
    /// The audio values read. Node steps are answered by the plan's tables.
    func reads(_ plan: Plan) -> [Int] {
        switch self {
        case .process(let node), .absorb(let node), .guarded(let node): plan.inputs[node]
        case .mix(_, let terms): terms.map(\.value)
        case .guard(let node): plan.outputs[node].isEmpty ? plan.inputs[node] : plan.outputs[node]
        case .outputMode(let node): plan.outputs[node] + plan.dry[node]
        case .delay(_, let from, _): [from]
        default: []
        }
    }

    /// The audio values written.
    func writes(_ plan: Plan) -> [Int] {
        switch self {
        case .process(let node), .guarded(let node): plan.outputs[node]
        case .outputMode(let node): plan.heard[node]
        case .mix(let into, _), .delay(let into, _, _): [into]
        default: []
        }
    }
}
