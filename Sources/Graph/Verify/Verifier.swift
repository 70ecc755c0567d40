// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Checks a plan against the graph without trusting how it was made: plays the steps through with symbols instead of
/// samples, values and events, and looks at what each node input and each driver port would hold. Finds wrong order,
/// shared or early reused buffers, missing links, wrong gains, misaligned paths and wrong ports. Returns what is
/// wrong, or nil.
func verify(_ plan: Plan, _ graph: ResolvedGraph) -> String? {
    var verifier = Verifier(plan, graph)
    do throws(PlanFault) {
        try verifier.play()
        return nil
    } catch {
        return error.text
    }
}

/// What is wrong with a plan.
struct PlanFault: Error {
    let text: String
    init(_ text: String) { self.text = text }
}

/// An output of a node, by rank among those of its kind.
struct PlanSource: Hashable, Comparable {
    var node: Int
    var output: Int
    static func < (a: Self, b: Self) -> Bool { (a.node, a.output) < (b.node, b.output) }
}

struct Verifier {
    /// A source as it arrives somewhere.
    struct Part: Hashable, Comparable {
        var source: PlanSource
        var delay: Int
        var gain: Float
        /// Of every link that it came through, in order of size.
        var fades: [UInt8] = []
        static func < (a: Self, b: Self) -> Bool {
            (a.source, a.delay, a.gain, a.fades.count, a.fades.first ?? 0, a.fades.last ?? 0)
                < (b.source, b.delay, b.gain, b.fades.count, b.fades.first ?? 0, b.fades.last ?? 0)
        }

        func fading(_ fade: ResolvedGraph.Fade) -> Part {
            guard fade != .steady else { return self }
            var result = self
            result.fades = (fades + [fade.rawValue]).sorted()
            return result
        }
    }
    /// What a buffer holds: every part as often as it was added.
    typealias Content = [Part: Int]

    let plan: Plan
    let graph: ResolvedGraph
    /// Per node: the links that end there.
    let incoming: [[ResolvedGraph.Link]]
    let looping: [Bool]
    var buffers: [BufferID: Content] = [.silence: [:]]
    /// What each control cell and each MIDI buffer holds; nil: not written in this cycle.
    var cells: [[PlanSource]?]
    var midi: [[PlanSource]?]
    /// Parameters that follow cells, by node and parameter.
    var driven: [Int: [Int: [PlanSource]]] = [:]
    private var processed: Set<Int> = []
    private var absorbed: Set<Int> = []
    var gated: Set<Int> = []
    var guarded: Set<Int> = []

    init(_ plan: Plan, _ graph: ResolvedGraph) {
        self.plan = plan
        self.graph = graph
        incoming = graph.links.reduce(into: Array(repeating: [], count: graph.nodes.count)) { $0[$1.toNode].append($1) }
        looping = loopMembers(sourcesOfNodes(graph))
        cells = Array(repeating: nil, count: plan.cells.count)
        midi = Array(repeating: nil, count: plan.midiCount)
    }

    mutating func play() throws(PlanFault) {
        let count = graph.nodes.count
        for table in [plan.inputs, plan.outputs, plan.controlInputs, plan.controlOutputs, plan.midiInputs] {
            if table.count != count { throw PlanFault("a table has \(table.count) nodes, the graph \(count)") }
        }
        if plan.values.first != .silence { throw PlanFault("value 0 is not silence") }
        try checkArrivals()
        try openCaptures()
        try openEvents()
        if graph.fades != nil, plan.steps.last != .tick { throw PlanFault("fades never go on") }
        for step in plan.steps { try play(step) }
        try checkTasks()
        for (node, entry) in graph.nodes.enumerated() {
            if entry.instance.isExternal {
                try checkPlayback(node)
            } else if entry.instance.runs {
                if !processed.contains(node) { throw PlanFault("\(name(node)) never runs") }
                if splits(node), !absorbed.contains(node) { throw PlanFault("\(name(node)) never takes its inputs") }
            }
            let isMissing = entry.hasOutputMode && !plan.outputs[node].isEmpty && !gated.contains(node)
            if isMissing, entry.instance.isExternal || entry.instance.runs || passes(node) {
                throw PlanFault("\(name(node)) has no step for its output mode")
            }
        }
    }

    func instance(_ node: Int) -> NodeInstance { graph.nodes[node].instance }
    func name(_ node: Int) -> String { instance(node).name }
    func splits(_ node: Int) -> Bool { instance(node).absorb != nil }

    private mutating func play(_ step: Plan.Step) throws(PlanFault) {
        switch step {
        case .absorb(let node):
            if !splits(node) || !instance(node).runs { throw PlanFault("\(name(node)) has nothing to absorb with") }
            if !absorbed.insert(node).inserted { throw PlanFault("\(name(node)) absorbs twice") }
            if looping[node] != processed.contains(node) { throw PlanFault("\(name(node)) absorbs at the wrong time") }
            try checkInputs(node)
        case .process(let node):
            if !instance(node).runs || instance(node).isExternal { throw PlanFault("\(name(node)) cannot run") }
            if !processed.insert(node).inserted { throw PlanFault("\(name(node)) runs twice") }
            if !splits(node) {
                try checkInputs(node)
            } else if looping[node] == absorbed.contains(node) {
                throw PlanFault("\(name(node)) runs at the wrong time")
            }
            try writeOutputs(node)
        case .mix(let into, let terms):
            var sum: Content = [:]
            for term in terms {
                for (part, times) in try content(term.value, "a mix") {
                    var scaled = part.fading(term.fade)
                    scaled.gain *= term.gain
                    sum[scaled, default: 0] += times
                }
            }
            try write(into, sum, reading: terms.map(\.value), "a mix")
        case .delay(let into, let from, let frames):
            if frames <= 0 { throw PlanFault("a delay lasts \(frames) frames") }
            let source = try content(from, "a delay")
            if plan.lines[into]?.frames != frames { throw PlanFault("a delay's line is not as long as the delay") }
            let late = source.map { part, times in
                var late = part
                late.delay += frames
                return (late, times)
            }
            try write(into, Dictionary(uniqueKeysWithValues: late), reading: [from], "a delay")
        case .guard(let node):
            if !guarded.insert(node).inserted || graph.nodes[node].guarded.isEmpty {
                throw PlanFault("\(name(node)) is guarded twice, or needs no guard")
            }
            for (index, value) in plan.outputs[node].enumerated() {
                let own: Content = [Part(source: PlanSource(node: node, output: index), delay: 0, gain: 1): 1]
                if try content(value, "the guard of \(name(node))") != own {
                    throw PlanFault("the guard of \(name(node)) comes too early or too late")
                }
            }
        case .guarded(let node):
            try play(.process(node: node))
            try play(.guard(node: node))
        case .outputMode(let node): try checkOutputMode(node)
        case .tick: if graph.fades == nil { throw PlanFault("nothing fades, but fades go on") }
        case .sum(let into, let sources): try sum(into, sources)
        case .drive(let node, let parameter, let cell):
            if (splits(node) ? absorbed : processed).contains(node) {
                throw PlanFault("\(name(node)) is driven after it ran")
            }
            try drive(node, parameter, cell)
        case .merge(let into, let sources): try merge(into, sources)
        case .follow(let inlet): try follow(inlet)
        }
    }

    func content(_ value: Int, _ reader: String) throws(PlanFault) -> Content {
        guard plan.values.indices.contains(value), let found = buffers[plan.values[value]] else {
            throw PlanFault("\(reader) reads value \(value) before it is written")
        }
        return found
    }

    private mutating func write(_ value: Int, _ content: Content, reading: [Int], _ writer: String) throws(PlanFault) {
        let target = try target(value, writer)
        if reading.contains(where: { plan.values[$0] == target }) {
            throw PlanFault("\(writer) writes over its source")
        }
        buffers[target] = content
    }

    /// The buffer of a value, if it may be written.
    private func target(_ value: Int, _ writer: String) throws(PlanFault) -> BufferID {
        let target = plan.values.indices.contains(value) ? plan.values[value] : .unassigned
        switch target {
        case .pool(let buffer) where (0..<plan.poolCount).contains(buffer): return target
        case .external(let port)
        where plan.externals.indices.contains(port) && !plan.externals[port].isCapture && !plan.externals[port].isMIDI:
            return target
        default: throw PlanFault("\(writer) writes value \(value), which has no buffer to write to")
        }
    }

    /// An output mode takes what the node gives and what would stand in for it; what it makes counts as the node's output.
    private mutating func checkOutputMode(_ node: Int) throws(PlanFault) {
        let name = name(node)
        let outputs = plan.outputs[node]
        guard graph.nodes[node].hasOutputMode, !outputs.isEmpty else {
            throw PlanFault("\(name) has no step for its output mode")
        }
        guard plan.dry[node].count == outputs.count, plan.heard[node].count == outputs.count else {
            throw PlanFault("the output mode of \(name) has the wrong size")
        }
        if !gated.insert(node).inserted { throw PlanFault("\(name) is gated twice") }
        let inputs = instance(node).count(VG_AUDIO_PORT, VG_INPUT)
        for (index, value) in outputs.enumerated() {
            let wet = try content(value, "the output mode of \(name)")
            let own: Content = [Part(source: PlanSource(node: node, output: index), delay: 0, gain: 1): 1]
            if instance(node).isExternal || instance(node).runs, wet != own {
                throw PlanFault("the output mode of \(name) takes \(wet) for output \(index)")
            }
            let dry = try content(plan.dry[node][index], "the output mode of \(name)")
            let late = instance(node).runs ? instance(node).latency : 0
            let closed = splits(node) && looping[node]
            let want: [Part] =
                closed || inputs != outputs.count && inputs != 1
                ? [] : expected(node, inputs == outputs.count ? index : 0)
            let waited = want.map { part in
                var part = part
                part.delay += late
                return part
            }
            let have = dry.flatMap { part, times in Array(repeating: part, count: times) }.sorted()
            if !Self.same(have, waited.sorted()) {
                throw PlanFault("the output mode of \(name) lets \(have) through instead of \(waited)")
            }
        }
        for (index, value) in plan.heard[node].enumerated() {
            let content: Content = [Part(source: PlanSource(node: node, output: index), delay: 0, gain: 1): 1]
            try write(value, content, reading: outputs + plan.dry[node], "the output mode of \(name)")
        }
    }

    private mutating func writeOutputs(_ node: Int) throws(PlanFault) {
        let values = plan.outputs[node]
        if values.count != instance(node).count(VG_AUDIO_PORT, VG_OUTPUT) {
            throw PlanFault("\(name(node)) has \(values.count) audio outputs")
        }
        var written: Set<BufferID> = []
        for (index, value) in values.enumerated() {
            let target = try target(value, name(node))
            if !written.insert(target).inserted { throw PlanFault("\(name(node)) writes two outputs into one buffer") }
            // One that absorbs has read its inputs before, or will later.
            for (input, read) in plan.inputs[node].enumerated() where plan.values[read] == target && !splits(node) {
                if input != index || !instance(node).worksInPlace {
                    throw PlanFault("\(name(node)) writes output \(index) over input \(input)")
                }
            }
            buffers[target] = [Part(source: PlanSource(node: node, output: index), delay: 0, gain: 1): 1]
        }
        try writeEvents(node)
    }

    // MARK: The driver's ports

    private mutating func openCaptures() throws(PlanFault) {
        for node in graph.nodes.indices where instance(node).isExternal {
            for (index, value) in plan.outputs[node].enumerated() {
                try checkPort(plan.values[value], node, index, isCapture: true)
                buffers[plan.values[value]] = [
                    Part(source: PlanSource(node: node, output: index), delay: 0, gain: 1): 1
                ]
            }
        }
    }

    private func checkPlayback(_ node: Int) throws(PlanFault) {
        for (index, value) in plan.inputs[node].enumerated() {
            try checkPort(plan.values[value], node, index, isCapture: false)
        }
        try checkInputs(node)
        try checkMIDIPlayback(node)
    }

    private func checkPort(_ buffer: BufferID, _ node: Int, _ index: Int, isCapture: Bool) throws(PlanFault) {
        let port = graph.nodes[node].external(index + 1, isMIDI: false, isCapture: isCapture)
        guard case .external(let external) = buffer, plan.externals.indices.contains(external),
            plan.externals[external] == port
        else {
            throw PlanFault("\(name(node)) port \(index) is not the driver's")
        }
    }
}
