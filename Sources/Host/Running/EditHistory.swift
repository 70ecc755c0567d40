// SPDX-License-Identifier: Apache-2.0
import Graph

/// Live edits that can be taken back, and those that were.
struct EditHistory: Sendable {
    /// One change, and what there was before it.
    struct Step: Sendable {
        /// What was done, for people.
        var title: String
        /// The graph before it; nodes that it ended have the values of their parameters in it. Nil: only parameters were
        /// turned.
        var before: GraphDescription?
        /// What parameters were set to before it.
        var values: [Place: Float] = [:]
        /// When it was done, or went on.
        var time = ContinuousClock.now
    }

    /// A parameter of a node.
    struct Place: Hashable, Sendable {
        var node: String
        var key: String
    }

    private(set) var undoable: [Step] = []
    private(set) var redoable: [Step] = []

    /// So many steps are kept; the oldest are forgotten.
    static let limit = 100
    /// What turns the same parameter again within this time is one step with what did so before: a knob that is moved.
    private static let pause = Duration.seconds(1)

    /// A new change: what was taken back before cannot be done again.
    mutating func add(_ step: Step) {
        redoable = []
        if step.before == nil, let last = undoable.last, last.before == nil, last.values.keys == step.values.keys,
            step.time - last.time < Self.pause
        {
            undoable[undoable.count - 1].time = step.time
            undoable[undoable.count - 1].title = step.title
            return
        }
        undoable.append(step)
        if undoable.count > Self.limit { undoable.removeFirst() }
    }

    /// The last change, which is about to be taken back: no other call takes it meanwhile.
    mutating func takeUndoable() -> Step? { undoable.popLast() }

    /// What was taken back last, which is about to be done again.
    mutating func takeRedoable() -> Step? { redoable.popLast() }

    /// Puts a step where `undo` finds it: one that could not be taken back, or that leads back.
    mutating func putUndoable(_ step: Step) { undoable.append(step) }

    /// Puts a step where `redo` finds it.
    mutating func putRedoable(_ step: Step) { redoable.append(step) }
}
