// SPDX-License-Identifier: Apache-2.0

/// Gives every value a buffer. Buffers are reused as soon as their value has been read for the last time; a node that
/// says so writes over its own input when nobody else needs it. Linear in steps.
func assignBuffers(_ plan: inout Plan, worksInPlace: (Int) -> Bool) {
    var lastUse = [Int](repeating: -1, count: plan.values.count)
    for (time, step) in plan.steps.enumerated() {
        for value in step.reads(plan) + step.writes(plan) { lastUse[value] = time }
    }
    var free: [Int] = []
    var released = [Bool](repeating: false, count: plan.values.count)

    for (time, step) in plan.steps.enumerated() {
        let reads = step.reads(plan)
        if case .process(let node) = step, worksInPlace(node) {
            for (output, input) in zip(plan.outputs[node], plan.inputs[node]) {
                guard plan.values[output] == .unassigned, case .pool = plan.values[input], lastUse[input] == time,
                    !released[input], reads.count(where: { $0 == input }) == 1
                else { continue }
                plan.values[output] = plan.values[input]
                released[input] = true  // its buffer now belongs to the output
            }
        }
        for value in step.writes(plan) where plan.values[value] == .unassigned {
            if let reused = free.popLast() {
                plan.values[value] = .pool(reused)
            } else {
                plan.values[value] = .pool(plan.poolCount)
                plan.poolCount += 1
            }
        }
        for value in reads + step.writes(plan) where lastUse[value] == time && !released[value] {
            released[value] = true
            if case .pool(let buffer) = plan.values[value] { free.append(buffer) }
        }
    }
}
