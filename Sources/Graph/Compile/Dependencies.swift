// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What steps make or change that others need. Audio is named by values here, not by buffers, which are assigned only
/// when the order of the steps is known.
enum Resource: Hashable {
    case value(Int), cell(Int), midi(Int)
    /// The parameters of a node, what its processor holds.
    case parameters(Int), node(Int)
    case fadeClock
    /// What sounds through the links into a MIDI input.
    case notes(Int)
}

extension Plan {
    /// The steps that each step must follow, in their order: those that make what it takes, and those that are to see
    /// what it changes as it was before.
    func dependencies(_ graph: ResolvedGraph) -> [[Int]] {
        var writers: [Resource: Int] = [:]
        var readers: [Resource: [Int]] = [:]
        var result: [[Int]] = []
        result.reserveCapacity(steps.count)
        for (time, step) in steps.enumerated() {
            var before: Set<Int> = []
            let (taken, made) = touched(by: step, graph)
            for resource in taken {
                if let writer = writers[resource] { before.insert(writer) }
                readers[resource, default: []].append(time)
            }
            for resource in made {
                if let writer = writers[resource] { before.insert(writer) }
                before.formUnion(readers[resource] ?? [])
                readers[resource] = nil
                writers[resource] = time
            }
            before.remove(time)
            result.append(before.sorted())
        }
        // The end of a block of a transition comes after everything.
        if steps.last == .tick {
            var isLast = [Bool](repeating: true, count: steps.count)
            for earlier in result.joined() { isLast[earlier] = false }
            result[steps.count - 1] =
                steps.indices.dropLast().filter { isLast[$0] }
                + result[steps.count - 1].filter { !isLast[$0] }
        }
        return result
    }

    /// What a step takes, and what it makes or changes.
    private func touched(by step: Step, _ graph: ResolvedGraph) -> (taken: [Resource], made: [Resource]) {
        func audio(_ values: [Int]) -> [Resource] { values.lazy.filter { $0 != 0 }.map { .value($0) } }
        switch step {
        case .process(let node), .guarded(let node):
            let made =
                audio(outputs[node]) + controlOutputs[node].map { .cell($0) } + midiOutputs[node].map { .midi($0) }
                + [.node(node)]
            return ((splits(node, graph) ? [] : audio(inputs[node])) + takenBesideAudio(node), made)
        case .absorb(let node): return (audio(inputs[node]) + takenBesideAudio(node), [.node(node)])
        case .mix(let into, let terms):
            let fades = terms.contains { $0.fade != .steady }
            return (audio(terms.map(\.value)) + (fades ? [.fadeClock] : []), [.value(into)])
        case .guard(let node): return ([], audio(outputs[node].isEmpty ? inputs[node] : outputs[node]))
        case .outputMode(let node):
            let moves = graph.nodes[node].outputMode != graph.nodes[node].previousMode
            return (audio(outputs[node] + dry[node]) + (moves ? [.fadeClock] : []), audio(heard[node]))
        case .tick: return ([], [.fadeClock])
        case .delay(let into, let from, _): return (audio([from]), [.value(into)])
        case .sum(let into, let cells): return (cells.map { .cell($0) }, [.cell(into)])
        case .drive(let node, _, let cell): return ([.cell(cell)], [.parameters(node)])
        case .merge(let into, let sources):
            // It also ends what sounds.
            let inlet = inlets.firstIndex { $0.buffer == into && !$0.ended.isEmpty }
            return (sources.map { .midi($0) }, [.midi(into)] + (inlet.map { [.notes($0)] } ?? []))
        case .follow(let inlet):
            return (
                (inlets[inlet].live.map(\.buffer) + [inlets[inlet].buffer]).map { .midi($0) }, [.notes(inlet)]
            )
        }
    }

    private func takenBesideAudio(_ node: Int) -> [Resource] {
        controlInputs[node].map { .cell($0) } + midiInputs[node].map { .midi($0) } + [.parameters(node)]
    }

    /// Whether a node takes its audio in a step of its own.
    func splits(_ node: Int, _ graph: ResolvedGraph) -> Bool {
        graph.nodes[node].instance.absorb != nil
    }
}
