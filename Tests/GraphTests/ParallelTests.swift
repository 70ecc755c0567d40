// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport
import Testing

@testable import Graph

@Suite("Graphs on several threads", .timeLimit(.minutes(5)))
struct ParallelTests {
    @Test("Random graphs play what a simple interpreter of the same graph plays", arguments: [2, 3, 8])
    func sameAsReference(threads: Int) throws {
        var (divided, loud, events) = (0, 0, 0)
        for (number, plan) in [BlockPlan.fixed(16), .fixed(128), .random(max: 96, seed: 5)].enumerated() {
            for seed in 1...40 {
                let seed = UInt64(100_000 * threads + 1000 * number + seed)
                let spec = Specification.random(seed: seed, most: 24, maxBlock: plan.longest)
                let player = GraphPlayer(maxBlock: plan.longest, threads: threads)
                let schedule = try player.publish(try spec.graph(maxBlock: plan.longest))
                if schedule.threads > 1 { divided += 1 }
                let expected = try play(spec, on: player, plan.sizes(3 * plan.longest + 200), seed: seed)
                for (name, signal) in expected.audio {
                    let heard = player.heard(name)
                    let same = heard == signal
                    #expect(same, "seed \(seed), \(plan), \(name): \(firstDifference(heard, signal))")
                    if Signal.peak(signal) > 0 { loud += 1 }
                }
                for (name, all) in expected.midi {
                    let same = player.ports[name]?.events == all
                    #expect(same, "seed \(seed), \(plan), \(name)")
                    events += all.count
                }
            }
        }
        #expect(divided > 60 && loud > 30 && events > 120)
    }

    @Test("Guards, output modes and fades are the same as on one thread", arguments: [2, 3, 8])
    func adorned(threads: Int) throws {
        var divided = 0
        for seed in 1...60 {
            let seed = UInt64(1_000_000 * threads + seed)
            let spec = Specification.random(seed: seed, most: 20, maxBlock: 64)
            let players = [GraphPlayer(maxBlock: 64), GraphPlayer(maxBlock: 64, threads: threads)]
            for player in players {
                var graph = try spec.graph(maxBlock: 64)
                graph.adorn(seed: seed)
                if try player.publish(graph).threads > 1 { divided += 1 }
                _ = try play(spec, on: player, [64, 13, 1, 64, 40, 64, 64], seed: seed)
            }
            for (name, port) in players[0].ports {
                let (one, several) = (port.signal.map(\.bitPattern), players[1].heard(name).map(\.bitPattern))
                #expect(one == several, "seed \(seed), \(name)")
                let same = port.events == players[1].ports[name]?.events
                #expect(same, "seed \(seed), \(name)")
            }
        }
        #expect(divided > 30)
    }

    // MARK: Division

    /// in -> n branches of `length` nodes -> out
    private func branches(_ count: Int, length: Int = 1, type: String = "slow") throws -> ResolvedGraph {
        var nodes = [node("in", "capture"), node("out", "playback")]
        var links: [String] = []
        for branch in 0..<count {
            for place in 0..<length {
                nodes.append(node("b\(branch)_\(place)", type))
                links.append("\(place == 0 ? "in" : "b\(branch)_\(place - 1)") -> b\(branch)_\(place)")
            }
            links.append("b\(branch)_\(length - 1) -> out")
        }
        return try makeGraph(links, nodes)
    }

    private func plan(_ graph: ResolvedGraph, _ limit: Int, _ costs: [UInt32: Double] = [:]) throws -> Plan {
        try Compiler.plan(graph, sharers: Sharers(limit: limit, costs: costs), verifying: true)
    }

    @Test("A graph is divided only where that is of use, and a chain is what it was")
    func usefulness() throws {
        for graph in [try branches(1, length: 8), try branches(8, type: "light"), try branches(0)] {
            let (one, several) = (try Compiler.plan(graph, verifying: true), try plan(graph, 8))
            #expect(several.tasks == nil)
            #expect(one.steps == several.steps && one.values == several.values)
        }
        let wide = try branches(8)
        #expect(try plan(wide, 1).tasks == nil)
        #expect(try plan(wide, 2).tasks?.threads == 2)
        #expect(try plan(wide, 8).tasks?.threads == 8)
        // No more than there is use for.
        #expect(try plan(wide, 64).tasks?.threads == 8)
        #expect(try plan(try branches(2, length: 5), 8).tasks?.threads == 2)
    }

    @Test("What nodes were found to take decides")
    func measured() throws {
        let graph = try branches(4)
        func costs(_ of: (Int) -> Double) -> [UInt32: Double] {
            Dictionary(
                uniqueKeysWithValues: graph.nodes.enumerated().map { ($1.instance.number, of($0)) })
        }
        #expect(try plan(graph, 4, costs { _ in 1e-6 }).tasks == nil)
        #expect(try plan(graph, 4, costs { _ in 100e-6 }).tasks?.threads == 4)
        // The others fit beside the one that takes long.
        #expect(try plan(graph, 4, costs { $0 == 2 ? 300e-6 : 90e-6 }).tasks?.threads == 2)
        #expect(try plan(graph, 4, costs { $0 == 2 ? 1e-3 : 1e-6 }).tasks == nil)
    }

    @Test("A branch is one task, and what is done for all of them is not part of one")
    func tasks() throws {
        let plan = try plan(try branches(3, length: 4), 3)
        let tasks = try #require(plan.tasks)
        let sizes = zip([0] + tasks.ends, tasks.ends).map { $1 - $0 }
        #expect(sizes.filter { $0 >= 4 }.count == 3)
        #expect(tasks.ends.count <= 5)
        #expect(tasks.sources.last == 3)
    }

    // MARK: Verifier

    private static let plans: [(graph: ResolvedGraph, plan: Plan)] = (1...200).compactMap { seed in
        let spec = Specification.random(seed: UInt64(seed), most: 20, maxBlock: 64, failing: false)
        guard var graph = try? spec.graph(maxBlock: 64) else { return nil }
        if seed > 100 { graph.adorn(seed: UInt64(seed)) }
        var sharers = Sharers(limit: 4)
        sharers.isForced = true
        guard let plan = try? Compiler.plan(graph, sharers: sharers, verifying: true), plan.tasks != nil else {
            return nil
        }
        return (graph, plan)
    }

    static let faults: [PlantedFault] = [
        PlantedFault("a task that another does not wait for") { plan, _ in
            // One that makes what the other takes, by that way alone.
            guard var tasks = plan.tasks, let task = tasks.targets.firstIndex(where: { !$0.isEmpty }) else {
                return false
            }
            let target = tasks.targets[task].removeLast()
            let order = TaskOrder(tasks)
            guard !order.isBefore(tasks.ends[task] - 1, tasks.ends[target] - 1) else { return false }
            plan.tasks = tasks
            return true
        },
        PlantedFault("tasks that wait for nobody") { plan, _ in
            guard let count = plan.tasks?.ends.count, plan.tasks?.targets.contains(where: { !$0.isEmpty }) == true
            else {
                return false
            }
            plan.tasks?.targets = Array(repeating: [], count: count)
            return true
        },
        PlantedFault("a task that waits twice") { plan, _ in
            guard let task = plan.tasks?.targets.firstIndex(where: { !$0.isEmpty }) else { return false }
            plan.tasks!.targets[task].append(plan.tasks!.targets[task][0])
            return true
        },
        PlantedFault("tasks that wait for each other") { plan, _ in
            guard let task = plan.tasks?.targets.firstIndex(where: { !$0.isEmpty }) else { return false }
            plan.tasks!.targets[plan.tasks!.targets[task][0]].append(task)
            return true
        },
        PlantedFault("steps that no task has") { plan, _ in
            guard plan.tasks!.ends.count > 1 else { return false }
            plan.tasks!.ends.removeLast()
            plan.tasks!.targets.removeLast()
            return true
        },
        PlantedFault("a buffer that is reused while another thread may read it") { plan, graph in
            // As if one thread ran all steps.
            let before = plan.values
            for value in plan.values.indices { if case .pool = plan.values[value] { plan.values[value] = .unassigned } }
            plan.poolCount = 0
            assignBuffers(&plan) { graph.nodes[$0].instance.worksInPlace }
            var alone = plan
            alone.tasks = nil
            guard verify(alone, graph) == nil, plan.values != before else { return false }
            // Where it happens to be right for all orders, nothing was planted.
            let order = TaskOrder(plan.tasks!)
            return plan.hasConflict(order, graph)
        },
    ]

    @Test("A planted fault of several threads is found in every plan that has a place for it", arguments: faults)
    func finds(fault: PlantedFault) throws {
        var planted = 0
        for (index, (graph, plan)) in Self.plans.enumerated() where planted < 40 {
            var plan = plan
            guard fault.plant(&plan, graph) else { continue }
            planted += 1
            #expect(verify(plan, graph) != nil, "plan \(index)")
        }
        #expect(Self.plans.count > 100)
        #expect(planted >= 5)
    }

    @Test("What one thread would get wrong is found in plans for several too", arguments: PlantedFault.all)
    func findsOthers(fault: PlantedFault) throws {
        var planted = 0
        for (index, (graph, plan)) in Self.plans.enumerated() where planted < 20 {
            var plan = plan
            guard fault.plant(&plan, graph) else { continue }
            planted += 1
            #expect(verify(plan, graph) != nil, "plan \(index)")
        }
        #expect(planted > 0)
    }
}

extension Plan {
    /// Whether two audio values in one buffer may be in use at the same time: every pair of steps, looked at one by one.
    fileprivate func hasConflict(_ order: TaskOrder, _ graph: ResolvedGraph) -> Bool {
        var users: [BufferID: [(step: Int, writes: Bool)]] = [:]
        for (index, step) in steps.enumerated() {
            for value in step.writes(self) where value != 0 { users[values[value], default: []].append((index, true)) }
            for value in audioReads(step, graph) where value != 0 {
                users[values[value], default: []].append((index, false))
            }
        }
        for case (.pool, let all) in users {
            for one in all {
                for other in all where one.step < other.step && (one.writes || other.writes) {
                    if !order.isBefore(one.step, other.step) { return true }
                }
            }
        }
        return false
    }
}
