// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport
import Testing

@testable import Graph
@testable import GraphFile

/// A fault that is planted into a plan.
struct PlantedFault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Changes the plan; false: this plan has no place for the fault.
    let plant: @Sendable (inout Plan, ResolvedGraph) -> Bool

    init(_ description: String, _ plant: @escaping @Sendable (inout Plan, ResolvedGraph) -> Bool) {
        testDescription = description
        self.plant = plant
    }

    /// A fault in the first step that `change` changes.
    init(step description: String, _ change: @escaping @Sendable (Plan.Step, Plan) -> Plan.Step?) {
        self.init(description) { plan, _ in
            for (index, step) in plan.steps.enumerated() {
                guard let changed = change(step, plan) else { continue }
                plan.steps[index] = changed
                return true
            }
            return false
        }
    }
}

private func isProcess(_ step: Plan.Step) -> Bool { if case .process = step { true } else { false } }

extension PlantedFault {
    static let all: [PlantedFault] = [
        PlantedFault("two nodes in the wrong order") { plan, _ in
            for (index, step) in plan.steps.enumerated() {
                guard case .process(let reader) = step,
                    let writer = plan.steps[..<index].firstIndex(where: {
                        isProcess($0) && !Set($0.writes(plan)).isDisjoint(with: plan.inputs[reader])
                    })
                else { continue }
                plan.steps.swapAt(index, writer)
                return true
            }
            return false
        },
        PlantedFault("a node that never runs") { plan, _ in
            guard let index = plan.steps.lastIndex(where: isProcess) else { return false }
            plan.steps.remove(at: index)
            return true
        },
        PlantedFault("a node that runs twice") { plan, _ in
            guard let step = plan.steps.first(where: isProcess) else { return false }
            plan.steps.append(step)
            return true
        },
        PlantedFault("a feedback delay that never takes its input") { plan, _ in
            let count = plan.steps.count
            plan.steps.removeAll { if case .absorb = $0 { true } else { false } }
            return plan.steps.count < count
        },
        PlantedFault("a driver's port that nobody clears") { plan, _ in
            let count = plan.steps.count
            plan.steps.removeAll { if case .mix(_, let terms) = $0 { terms.isEmpty } else { false } }
            return plan.steps.count < count
        },
        PlantedFault("an input that reads another buffer") { plan, _ in
            for node in plan.inputs.indices {
                for (input, value) in plan.inputs[node].enumerated() {
                    guard case .pool(let buffer) = plan.values[value], plan.poolCount > 1 else { continue }
                    plan.inputs[node][input] = plan.newValue(.pool((buffer + 1) % plan.poolCount))
                    return true
                }
            }
            return false
        },
        PlantedFault("an input that reads silence") { plan, _ in
            guard let node = plan.inputs.indices.first(where: { node in plan.inputs[node].contains { $0 != 0 } }) else {
                return false
            }
            plan.inputs[node][plan.inputs[node].firstIndex { $0 != 0 }!] = 0
            return true
        },
        PlantedFault("two outputs in one buffer") { plan, _ in
            guard
                let node = plan.steps.compactMap({ if case .process(let node) = $0 { node } else { nil } })
                    .first(where: { plan.outputs[$0].count > 1 })
            else { return false }
            plan.values[plan.outputs[node][1]] = plan.values[plan.outputs[node][0]]
            return true
        },
        PlantedFault("a node in place that does not work in place") { plan, graph in
            for case .process(let node) in plan.steps where !graph.nodes[node].instance.worksInPlace {
                guard graph.nodes[node].instance.absorb == nil, let input = plan.inputs[node].first,
                    let output = plan.outputs[node].first, case .pool = plan.values[input]
                else { continue }
                plan.values[output] = plan.values[input]
                return true
            }
            return false
        },
        PlantedFault("a buffer that is written while another still needs it") { plan, _ in
            for value in plan.values.indices { if case .pool = plan.values[value] { plan.values[value] = .pool(0) } }
            return plan.poolCount > 1
        },
        PlantedFault("a buffer that does not exist") { plan, _ in
            guard let value = plan.values.firstIndex(where: { if case .pool = $0 { true } else { false } }) else {
                return false
            }
            let old = plan.values[value]
            for index in plan.values.indices where plan.values[index] == old {
                plan.values[index] = .pool(plan.poolCount)
            }
            return true
        },
        PlantedFault("an output without a buffer") { plan, _ in
            guard
                let node = plan.outputs.indices.first(where: { node in
                    plan.steps.contains(.process(node: node)) && !plan.outputs[node].isEmpty
                })
            else { return false }
            plan.values[plan.outputs[node][0]] = .unassigned
            return true
        },
        PlantedFault("a wrong gain") { plan, _ in
            for (index, step) in plan.steps.enumerated() {
                guard case .mix(let into, var terms) = step, !terms.isEmpty else { continue }
                terms[0].gain *= 1.001
                plan.steps[index] = .mix(into: into, terms: terms)
                return true
            }
            return false
        },
        PlantedFault(step: "a link that is left out of a sum") { step, _ in
            guard case .mix(let into, let terms) = step, terms.count > 1 else { return nil }
            return .mix(into: into, terms: terms.dropLast())
        },
        PlantedFault(step: "a link that counts twice") { step, _ in
            guard case .mix(let into, let terms) = step, let first = terms.first else { return nil }
            return .mix(into: into, terms: terms + [first])
        },
        PlantedFault(step: "a sum that writes over what it reads") { step, _ in
            guard case .mix(_, let terms) = step, terms.count > 1 else { return nil }
            return .mix(into: terms[1].value, terms: terms)
        },
        PlantedFault(step: "a delay of the wrong length") { step, _ in
            guard case .delay(let into, let from, let frames) = step else { return nil }
            return .delay(into: into, from: from, frames: frames + 1)
        },
        PlantedFault("paths that are not aligned") { plan, graph in
            // What goes into a muted output may be as late as it likes.
            guard graph.fades == nil else { return false }
            for (index, step) in plan.steps.enumerated() {
                guard case .delay(let into, let from, _) = step else { continue }
                plan.steps[index] = .mix(into: into, terms: [Plan.Term(value: from, gain: 1)])
                return true
            }
            return false
        },
        PlantedFault("the driver's ports exchanged") { plan, _ in
            let audio = plan.externals.indices.filter { plan.externals[$0].isCapture && !plan.externals[$0].isMIDI }
            guard audio.count > 1 else { return false }
            plan.externals.swapAt(audio[0], audio[1])
            return true
        },
        PlantedFault("a node that writes what the driver brings") { plan, _ in
            guard let port = plan.externals.firstIndex(where: { $0.isCapture && !$0.isMIDI }),
                let node = plan.outputs.indices.first(where: { node in
                    plan.steps.contains(.process(node: node)) && !plan.outputs[node].isEmpty
                })
            else { return false }
            plan.values[plan.outputs[node][0]] = .external(port)
            return true
        },
        PlantedFault(step: "a control that is left out of a sum") { step, _ in
            guard case .sum(let into, let cells) = step else { return nil }
            return .sum(into: into, cells: cells.dropLast())
        },
        PlantedFault("controls that are read too early") { plan, _ in
            guard let index = plan.steps.firstIndex(where: { if case .sum = $0 { true } else { false } }) else {
                return false
            }
            plan.steps.insert(plan.steps.remove(at: index), at: 0)
            return true
        },
        PlantedFault("a control input that reads another cell") { plan, _ in
            guard let node = plan.controlInputs.indices.first(where: { !plan.controlInputs[$0].isEmpty }) else {
                return false
            }
            plan.controlInputs[node][0] = plan.newCell(0.75)
            return true
        },
        PlantedFault("two control outputs in one cell") { plan, _ in
            guard let node = plan.controlOutputs.indices.first(where: { plan.controlOutputs[$0].count > 1 }) else {
                return false
            }
            plan.controlOutputs[node][1] = plan.controlOutputs[node][0]
            return true
        },
        PlantedFault("a parameter that is not driven") { plan, _ in
            let count = plan.steps.count
            plan.steps.removeAll { if case .drive = $0 { true } else { false } }
            return plan.steps.count < count
        },
        PlantedFault("a parameter that is driven after its node ran") { plan, _ in
            guard let index = plan.steps.firstIndex(where: { if case .drive = $0 { true } else { false } }) else {
                return false
            }
            plan.steps.append(plan.steps.remove(at: index))
            return true
        },
        PlantedFault(step: "MIDI merged in the wrong order") { step, _ in
            guard case .merge(let into, let from) = step, from.reversed() != from else { return nil }
            return .merge(into: into, from: from.reversed())
        },
        PlantedFault("MIDI to the driver that nobody writes") { plan, _ in
            let count = plan.steps.count
            plan.steps.removeAll { [externals = plan.midiExternals] in
                if case .merge(let into, _) = $0 { externals[into] != nil } else { false }
            }
            return plan.steps.count < count
        },
        PlantedFault("a MIDI input that reads another buffer") { plan, _ in
            guard
                let node = plan.midiInputs.indices.first(where: { node in plan.midiInputs[node].contains { $0 != 0 } })
            else { return false }
            plan.midiInputs[node][plan.midiInputs[node].firstIndex { $0 != 0 }!] = 0
            return true
        },
        PlantedFault("a guard that is forgotten") { plan, graph in
            let guards = plan.steps.indices.filter { if case .guard = plan.steps[$0] { true } else { false } }
            // One that somebody listens to.
            guard
                let index = guards.first(where: { index in
                    guard case .guard(let node) = plan.steps[index] else { return false }
                    return graph.links.contains { link in
                        link.fromNode == node && link.portKind == VG_AUDIO_PORT && graph.fade(of: link) != nil
                            && graph.nodes[link.toNode].instance.runs
                    }
                })
            else { return false }
            plan.steps.remove(at: index)
            return true
        },
        PlantedFault("an output mode that is forgotten") { plan, _ in
            guard let index = plan.steps.firstIndex(where: { if case .outputMode = $0 { true } else { false } }) else {
                return false
            }
            plan.steps.remove(at: index)
            return true
        },
        PlantedFault("fades that never end") { plan, _ in
            guard plan.steps.last == .tick else { return false }
            plan.steps.removeLast()
            return true
        },
        PlantedFault(step: "a link that falls in place of rising") { step, _ in
            guard case .mix(let into, var terms) = step,
                let index = terms.firstIndex(where: { $0.fade == .rising })
            else { return nil }
            terms[index].fade = .falling
            return .mix(into: into, terms: terms)
        },
        PlantedFault("a delay line that is another's") { plan, _ in
            guard let value = plan.lines.keys.min() else { return false }
            plan.lines[value]?.frames += 1
            return true
        },
        PlantedFault("two nodes that write one MIDI buffer") { plan, graph in
            let writers = plan.midiOutputs.indices.filter {
                graph.nodes[$0].instance.runs && !plan.midiOutputs[$0].isEmpty
            }
            guard writers.count > 1 else { return false }
            plan.midiOutputs[writers[1]][0] = plan.midiOutputs[writers[0]][0]
            return true
        },
    ]
}

@Suite("Verifier", .timeLimit(.minutes(5)), .serialized)
struct VerifierTests {
    /// Without failing nodes, for which a fault may do no harm.
    private static let plans: [(graph: ResolvedGraph, plan: Plan)] = (1...300).compactMap { seed in
        let spec = Specification.random(seed: UInt64(seed), most: 10, maxBlock: 64, failing: false)
        guard var graph = try? spec.graph(maxBlock: 64) else { return nil }
        if seed > 150 { graph.adorn(seed: UInt64(seed)) }
        guard let plan = try? Compiler.plan(graph, verifying: true) else { return nil }
        return (graph, plan)
    }

    @Test("Plans as the compiler makes them pass")
    func passes() { #expect(Self.plans.count == 300) }

    @Test("A planted fault is found in every plan that has a place for it", arguments: PlantedFault.all)
    func finds(fault: PlantedFault) throws {
        var planted = 0
        for (index, (graph, plan)) in Self.plans.enumerated() where planted < 30 {
            var plan = plan
            guard fault.plant(&plan, graph) else { continue }
            planted += 1
            #expect(verify(plan, graph) != nil, "plan \(index)")
        }
        #expect(planted >= 5)
    }

    @Test("A plan that the verifier lets pass plays the right signal, whatever was changed in it")
    func passesTheRight() throws {
        let blocks = [64, 13, 64, 40]
        var (refused, passed) = (0, 0)
        for seed in 1...250 {
            var random = TestRandom(seed: UInt64(seed) &* 77)
            let spec = Specification.random(seed: UInt64(seed % 80), most: 8, maxBlock: 64)
            let graph = try spec.graph(maxBlock: 64)
            var plan = try Compiler.plan(graph, verifying: true)
            plan.spoil(&random)
            if verify(plan, graph) != nil {
                refused += 1
                continue
            }
            passed += 1
            let player = GraphPlayer(maxBlock: 64)
            player.publish(Schedule(plan, graph, rate: 48000, maxBlock: 64, handles: []))
            let expected = try play(spec, on: player, blocks, seed: UInt64(seed))
            for (name, signal) in expected.audio {
                let heard = player.heard(name)
                let same = heard == signal
                #expect(same, "seed \(seed), \(name): \(firstDifference(heard, signal))")
            }
            for (name, all) in expected.midi {
                let same = player.ports[name]?.events == all
                #expect(same, "seed \(seed), \(name)")
            }
        }
        #expect(refused > 60)
        #expect(passed > 20)
    }
}

extension ResolvedGraph {
    /// Adds guards, output modes and fades, at random.
    mutating func adorn(seed: UInt64) {
        var random = TestRandom(seed: seed)
        func mode() -> OutputMode { [.open, .open, .bypassed, .muted].randomElement(using: &random)! }
        fades = Fades()
        for index in nodes.indices {
            nodes[index].description.isGuarded = true
            nodes[index].outputMode = mode()
            nodes[index].previousMode = mode()
        }
        for index in links.indices where links[index].portKind == VG_AUDIO_PORT {
            links[index].fade = [.steady, .steady, .entering, .rising, .falling].randomElement(using: &random)!
        }
    }
}

extension Plan {
    /// Changes one thing, at random; some changes do no harm.
    fileprivate mutating func spoil(_ random: inout TestRandom) {
        func any(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &random) }
        switch any(9) {
        case 0 where steps.count > 1: steps.swapAt(any(steps.count), any(steps.count))
        case 1 where !steps.isEmpty: steps.remove(at: any(steps.count))
        case 2 where poolCount > 0: values[1 + any(values.count - 1)] = .pool(any(poolCount))
        case 3 where !steps.isEmpty: steps.insert(steps[any(steps.count)], at: any(steps.count))
        case 4:
            let node = any(inputs.count)
            if !inputs[node].isEmpty { inputs[node][any(inputs[node].count)] = any(values.count) }
        case 5:
            let node = any(controlInputs.count)
            if !controlInputs[node].isEmpty { controlInputs[node][any(controlInputs[node].count)] = any(cells.count) }
        case 6:
            let node = any(midiInputs.count)
            if !midiInputs[node].isEmpty { midiInputs[node][any(midiInputs[node].count)] = any(midiCount) }
        case 7:
            let node = any(outputs.count)
            if !outputs[node].isEmpty { outputs[node][any(outputs[node].count)] = any(values.count) }
        default:
            let index = any(steps.count)
            if case .mix(let into, var terms) = steps[index], !terms.isEmpty {
                terms[any(terms.count)].value = any(values.count)
                steps[index] = .mix(into: into, terms: terms)
            } else {
                steps.shuffle(using: &random)
            }
        }
    }
}
