// SPDX-License-Identifier: Apache-2.0

/// Gives every value of a divided plan a buffer. A buffer is reused only if all steps that touch its old value are
/// always done before the step that makes the new one begins, whichever threads run them.
func assignBuffers(_ plan: inout Plan, _ tasks: Plan.Tasks, _ graph: ResolvedGraph) {
    let order = TaskOrder(tasks)
    // Per value: the steps that touch it.
    var users = [[Int]](repeating: [], count: plan.values.count)
    for (time, step) in plan.steps.enumerated() {
        for value in Set(plan.audioReads(step, graph) + step.writes(plan)) { users[value].append(time) }
    }
    /// Per pool buffer: its value.
    var holders: [Int] = []
    /// Whether all steps that touch a value are done before the step at `time` begins, so that its buffer is free.
    func isOver(_ value: Int, _ time: Int) -> Bool {
        guard let last = users[value].last, last < time else { return false }
        return users[value].allSatisfy { order.isBefore($0, time) }
    }

    for (time, step) in plan.steps.enumerated() {
        if case .process(let node) = step, graph.nodes[node].instance.worksInPlace, !plan.splits(node, graph) {
            for (output, input) in zip(plan.outputs[node], plan.inputs[node]) {
                guard plan.values[output] == .unassigned, case .pool(let buffer) = plan.values[input],
                    holders[buffer] == input, plan.inputs[node].count(where: { $0 == input }) == 1,
                    users[input].allSatisfy({ $0 == time || order.isBefore($0, time) })
                else { continue }
                plan.values[output] = .pool(buffer)
                holders[buffer] = output
            }
        }
        for value in step.writes(plan) where plan.values[value] == .unassigned {
            if let buffer = holders.lastIndex(where: { isOver($0, time) }) {
                plan.values[value] = .pool(buffer)
                holders[buffer] = value
            } else {
                plan.values[value] = .pool(holders.count)
                holders.append(value)
            }
        }
    }
    plan.poolCount = holders.count
}

extension Plan {
    /// The audio values that a step reads or changes while it runs.
    func audioReads(_ step: Step, _ graph: ResolvedGraph) -> [Int] {
        if case .process(let node) = step, splits(node, graph) { return [] }
        return step.reads(self)
    }
}

/// Which steps are done whenever another begins.
struct TaskOrder {
    /// Per step: its task.
    private let task: [Int]
    /// Per task: a bit for each task that is done before it begins.
    private let before: [[UInt64]]

    init(_ tasks: Plan.Tasks) {
        var task: [Int] = []
        for (index, end) in tasks.ends.enumerated() {
            task += Array(repeating: index, count: max(0, end - task.count))
        }
        self.task = task
        let words = (tasks.ends.count + 63) / 64
        var before = [[UInt64]](repeating: Array(repeating: 0, count: words), count: tasks.ends.count)
        for index in tasks.ends.indices {
            let own = before[index]
            for target in tasks.targets[index] where target > index && target < before.count {
                for word in 0..<words { before[target][word] |= own[word] }
                before[target][index / 64] |= 1 << UInt64(index % 64)
            }
        }
        self.before = before
    }

    /// Whether step `first` is done whenever step `second` begins.
    func isBefore(_ first: Int, _ second: Int) -> Bool {
        let (one, other) = (task[first], task[second])
        if one == other { return first < second }
        return before[other][one / 64] >> UInt64(one % 64) & 1 == 1
    }
}
