// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Plans for several threads: what one step changes and another touches must be ordered, whichever threads run them.
/// That the order in the plan is right is checked as for one thread; here, that every other order that can come about
/// is as good.
extension Verifier {
    /// A place in memory that steps touch.
    private enum Place: Hashable {
        case buffer(BufferID), silent(Int), cell(Int), midi(Int), parameters(Int), processor(Int), line(Plan.Line)
        case fadeClock, notes(NoteLink)
    }

    func checkTasks() throws(PlanFault) {
        guard let tasks = plan.tasks else { return }
        guard tasks.threads > 1, tasks.targets.count == tasks.ends.count, tasks.ends.count <= TaskQueue.capacity,
            tasks.ends.last == plan.steps.count, zip([0] + tasks.ends, tasks.ends).allSatisfy({ $0 < $1 })
        else { throw PlanFault("the tasks do not fit the steps") }
        for (task, targets) in tasks.targets.enumerated() {
            let isForward = targets.allSatisfy { $0 > task && $0 < tasks.ends.count }
            if !isForward || Set(targets).count != targets.count { throw PlanFault("task \(task) wakes a wrong one") }
        }
        let order = TaskOrder(tasks)
        var writer: [Place: Int] = [:]
        var readers: [Place: [Int]] = [:]
        for (time, step) in plan.steps.enumerated() {
            let touched = touched(by: step)
            for place in touched.read {
                if let before = writer[place], before != time { try check(order, before, time, place) }
                readers[place, default: []].append(time)
            }
            for place in touched.written {
                if let before = writer[place], before != time { try check(order, before, time, place) }
                for reader in readers[place] ?? [] where reader != time { try check(order, reader, time, place) }
                readers[place] = nil
                writer[place] = time
            }
        }
    }

    private func check(_ order: TaskOrder, _ first: Int, _ second: Int, _ place: Place) throws(PlanFault) {
        if order.isBefore(first, second) { return }
        throw PlanFault("steps \(first) and \(second) may touch \(place) at once")
    }

    private func touched(by step: Plan.Step) -> (read: [Place], written: [Place]) {
        func audio(_ values: [Int]) -> [Place] {
            values.filter { $0 != 0 }.flatMap { [.buffer(plan.values[$0]), .silent($0)] }
        }
        func node(_ node: Int) -> [Place] {
            plan.controlInputs[node].map { .cell($0) } + plan.midiInputs[node].map { .midi($0) } + [.parameters(node)]
        }
        switch step {
        case .process(let index), .guarded(let index):
            let written: [Place] =
                audio(plan.outputs[index]) + plan.controlOutputs[index].map { .cell($0) }
                + plan.midiOutputs[index].map { .midi($0) } + [.processor(index)]
            return (node(index) + (splits(index) ? [] : audio(plan.inputs[index])), written)
        case .absorb(let index): return (node(index) + audio(plan.inputs[index]), [.processor(index)])
        case .mix(let into, let terms):
            let clock: [Place] = terms.contains { $0.fade != .steady } ? [.fadeClock] : []
            return (audio(terms.map(\.value)) + clock, audio([into]))
        case .delay(let into, let from, _):
            return (audio([from]), audio([into]) + (plan.lines[into].map { [.line($0)] } ?? []))
        case .guard(let index):
            return ([], audio(plan.outputs[index].isEmpty ? plan.inputs[index] : plan.outputs[index]))
        case .outputMode(let index):
            let moves = graph.nodes[index].outputMode != graph.nodes[index].previousMode
            return (
                audio(plan.outputs[index] + plan.dry[index]) + (moves ? [.fadeClock] : []), audio(plan.heard[index])
            )
        case .tick: return ([], [.fadeClock])
        case .sum(let into, let cells): return (cells.map { .cell($0) }, [.cell(into)])
        case .drive(let index, _, let cell): return ([.cell(cell)], [.parameters(index)])
        case .merge(let into, let sources):
            let ending = plan.inlets.filter { $0.buffer == into && !$0.ended.isEmpty }
            return (
                sources.map { .midi($0) } + ending.flatMap(\.live).map { .notes($0.link) },
                [.midi(into)] + ending.flatMap(\.ended).map { .notes($0) }
            )
        case .follow(let inlet):
            let live = plan.inlets[inlet].live
            return (live.map { .midi($0.buffer) }, live.map { .notes($0.link) })
        }
    }
}
