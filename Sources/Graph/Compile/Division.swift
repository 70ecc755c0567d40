// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Divides the steps of a plan into tasks, for several threads. A task is as long as it can be without making others
/// wait: a task that only one other waits for joins that one, and a task that takes no time joins its only neighbour.
struct Division {
    /// The plan's steps in the order of the tasks.
    private(set) var steps: [Plan.Step] = []
    private(set) var tasks: Plan.Tasks

    /// Per task: its steps in order, those it waits for and those that wait for it, what it takes in microseconds.
    /// A task that has joined another has no steps.
    private var members: [[Int]]
    private var sources: [Set<Int>]
    private var targets: [Set<Int>]
    private var work: [Double]

    /// Assumed times in microseconds: of a node that was not measured yet, and of work that takes next to none.
    private static let usual = 10.0
    private static let little = 0.5
    private static let least = 0.1
    /// How long it takes to hand over a task, and to wake a helper.
    private static let handover = 0.3
    private static let waking = 5.0

    /// Divides a plan; nil: one thread runs it as fast.
    init?(_ plan: Plan, _ graph: ResolvedGraph, _ sharers: Sharers) {
        guard sharers.limit > 1, plan.steps.count > 1 else { return nil }
        tasks = Plan.Tasks(threads: 1)
        members = plan.steps.indices.map { [$0] }
        sources = plan.dependencies(graph).map { Set($0) }
        targets = Array(repeating: [], count: plan.steps.count)
        work = plan.steps.map { Self.work($0, graph, sharers.costs) }
        for (step, before) in sources.enumerated() { for source in before { targets[source].insert(step) } }
        join()
        let order = self.order()
        guard order.count > 1, order.count <= TaskQueue.capacity else { return nil }
        renumber(order, plan)
        let total = work.reduce(0, +)
        let ranks = self.ranks()
        for task in targets.indices {
            tasks.targets.append(targets[task].sorted { (ranks[$0], $1) > (ranks[$1], $0) })
        }
        let alone = duration(threads: 1, ranks)
        let shortest = duration(threads: sharers.limit, ranks) + Self.handover * Double(order.count)
        if !sharers.isForced {
            guard shortest + Self.waking < 0.9 * total else { return nil }
        }
        let good = max(1.02 * duration(threads: sharers.limit, ranks), 0)
        tasks.threads = (2...sharers.limit).first { duration(threads: $0, ranks) <= good } ?? sharers.limit
        if !sharers.isForced, alone <= good { return nil }
    }

    private static func work(_ step: Plan.Step, _ graph: ResolvedGraph, _ costs: [UInt32: Double]) -> Double {
        guard let role = step.role else { return least }
        let instance = graph.nodes[role.node].instance
        if role.absorbs { return least }
        if let known = costs[instance.number] { return max(least, known * 1e6) }
        return instance.isLight ? least : usual
    }

    // MARK: Joining

    private mutating func join() {
        var queue = Array(members.indices.reversed())
        var isQueued = [Bool](repeating: true, count: members.count)
        while let task = queue.popLast() {
            isQueued[task] = false
            guard !members[task].isEmpty else { continue }
            let isLittle = work[task] < Self.little
            var into: Int?
            if targets[task].count == 1, let target = targets[task].first, isLittle || sources[target].count == 1 {
                into = target
            } else if sources[task].count == 1, let source = sources[task].first,
                isLittle || targets[source].count == 1
            {
                into = source
            }
            guard let into else { continue }
            merge(task, into)
            for changed in [into] + sources[into] + targets[into] where !isQueued[changed] {
                isQueued[changed] = true
                queue.append(changed)
            }
        }
        // All steps that take no time and depend on nothing else are one task.
        let free = members.indices.filter {
            !members[$0].isEmpty && sources[$0].isEmpty && targets[$0].isEmpty && work[$0] < Self.little
        }
        for task in free.dropFirst() { merge(task, free[0]) }
    }

    private mutating func merge(_ task: Int, _ into: Int) {
        members[into] = (members[into] + members[task]).sorted()
        members[task] = []
        work[into] += work[task]
        for source in sources[task] {
            targets[source].remove(task)
            if source != into { targets[source].insert(into) }
        }
        for target in targets[task] {
            sources[target].remove(task)
            if target != into { sources[target].insert(into) }
        }
        sources[into].formUnion(sources[task])
        targets[into].formUnion(targets[task])
        sources[into].remove(into)
        targets[into].remove(into)
        sources[task] = []
        targets[task] = []
    }

    // MARK: Order

    /// Tasks in an order in which each comes after what it waits for, otherwise as in the plan.
    private func order() -> [Int] {
        var waiting = sources.map(\.count)
        // The first step of each task that can come next, as a heap.
        var ready = Heap()
        for task in members.indices where !members[task].isEmpty && waiting[task] == 0 {
            ready.insert((members[task][0], task))
        }
        var result: [Int] = []
        while let (_, task) = ready.popFirst() {
            result.append(task)
            for target in targets[task] {
                waiting[target] -= 1
                if waiting[target] == 0 { ready.insert((members[target][0], target)) }
            }
        }
        return result
    }

    /// Leaves the tasks that were not joined to others, in order.
    private mutating func renumber(_ order: [Int], _ plan: Plan) {
        var place = [Int](repeating: -1, count: members.count)
        for (index, task) in order.enumerated() { place[task] = index }
        for task in order {
            steps += members[task].map { plan.steps[$0] }
            tasks.ends.append(steps.count)
        }
        sources = order.map { Set(sources[$0].map { place[$0] }) }
        targets = order.map { Set(targets[$0].map { place[$0] }) }
        work = order.map { work[$0] }
    }

    // MARK: What it would take

    /// Per task: the work from its start to the end of the block, at least.
    private func ranks() -> [Double] {
        var ranks = [Double](repeating: 0, count: work.count)
        for task in work.indices.reversed() {
            ranks[task] = work[task] + (targets[task].map { ranks[$0] }.max() ?? 0)
        }
        return ranks
    }

    /// How long so many threads would take, if each took the most urgent task that can be begun.
    private func duration(threads: Int, _ ranks: [Double]) -> Double {
        var waiting = sources.map(\.count)
        var ready = Heap()
        for task in work.indices where waiting[task] == 0 { ready.insert((-ranks[task], task)) }
        var running = Heap()
        var now = 0.0
        while true {
            while running.count < threads, let (_, task) = ready.popFirst() { running.insert((now + work[task], task)) }
            guard let (end, task) = running.popFirst() else { return now }
            now = end
            for target in targets[task] {
                waiting[target] -= 1
                if waiting[target] == 0 { ready.insert((-ranks[target], target)) }
            }
        }
    }
}

/// The least first; of equals, the one with the least number.
private struct Heap {
    private var items: [(key: Double, number: Int)] = []

    var count: Int { items.count }

    mutating func insert(_ item: (Int, Int)) { insert((Double(item.0), item.1)) }

    mutating func insert(_ item: (Double, Int)) {
        items.append((item.0, item.1))
        var child = items.count - 1
        while child > 0, items[child] < items[(child - 1) / 2] {
            items.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func popFirst() -> (Double, Int)? {
        guard let first = items.first else { return nil }
        let last = items.removeLast()
        if items.isEmpty { return first }
        items[0] = last
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < items.count else { return first }
            if child + 1 < items.count, items[child + 1] < items[child] { child += 1 }
            guard items[child] < items[parent] else { return first }
            items.swapAt(child, parent)
            parent = child
        }
    }
}
