// SPDX-License-Identifier: Apache-2.0
import GraphFile

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
        /// Names it for who learns later that it was refused.
        var number = 0
    }

    /// A parameter of a node.
    struct Place: Hashable, Sendable {
        var node: String
        var key: String
    }

    /// Whether a step is taken back, or done again after that.
    enum Way: Sendable {
        case back, again
        var opposite: Way { self == .back ? .again : .back }
    }

    private var undoable: [Step] = []
    private var redoable: [Step] = []
    private var added = 0

    /// So many steps are kept; the oldest are forgotten.
    static let limit = 100
    /// What turns the same parameter again within this time is one step with what did so before: a knob that is moved.
    private static let pause = Duration.seconds(1)

    /// A new change: what was taken back before cannot be done again. Returns its number.
    @discardableResult
    mutating func add(_ step: Step) -> Int {
        redoable = []
        if step.before == nil, let last = undoable.last, last.before == nil, last.values.keys == step.values.keys,
            step.time - last.time < Self.pause
        {
            undoable[undoable.count - 1].time = step.time
            undoable[undoable.count - 1].title = step.title
            return last.number
        }
        added += 1
        undoable.append(step)
        undoable[undoable.count - 1].number = added
        if undoable.count > Self.limit { undoable.removeFirst() }
        return added
    }

    /// The step that goes this way next. No other call takes it meanwhile.
    mutating func take(_ way: Way) -> Step? {
        switch way {
        case .back: undoable.popLast()
        case .again: redoable.popLast()
        }
    }

    /// A step that goes this way next: one that was not gone, or that leads back from one that was.
    mutating func put(_ step: Step, _ way: Way) {
        switch way {
        case .back: undoable.append(step)
        case .again: redoable.append(step)
        }
    }

    /// Forgets a change that came to nothing.
    mutating func forget(_ number: Int) {
        undoable.removeAll { $0.number == number }
        redoable.removeAll { $0.number == number }
    }
}
