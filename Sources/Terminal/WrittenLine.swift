// SPDX-License-Identifier: Apache-2.0

/// A line that is being written on the screen.
struct WrittenLine: Sendable {
    enum Purpose: Sendable, Equatable {
        /// To be spoken.
        case say
        /// For who answers, by its name.
        case ask(String)
        /// To list only nodes that have it.
        case filter
    }

    let purpose: Purpose
    var text: String

    init(_ purpose: Purpose, _ text: String = "") {
        self.purpose = purpose
        self.text = text
    }

    /// What stands before it.
    var prompt: String {
        switch purpose {
        case .say: "say: "
        case .ask(let node): "to \(node): "
        case .filter: "nodes with: "
        }
    }

    /// What is asked of the host when it is whole.
    fileprivate var command: FaceCommand? {
        guard text.contains(where: { $0 != " " }) else { return nil }
        return switch purpose {
        case .say: .say(text)
        case .ask(let node): .ask(node, text)
        case .filter: nil
        }
    }
}

extension FaceState {
    /// A key while a line is written: Enter ends it, Escape leaves it. The list is filtered as it is written.
    mutating func write(_ key: KeyPress) -> FaceCommand? {
        guard var line = keys.line else { return nil }
        defer { if line.purpose == .filter { keys.filter = line.text } }
        switch key {
        case .text(let letter): line.text.append(letter)
        case .erase: if !line.text.isEmpty { line.text.removeLast() }
        case .control("u"): line.text = ""
        case .control("c"), .control("d"): return .quit
        case .enter:
            keys.line = nil
            return line.command
        case .escape:
            line.text = ""
            keys.line = nil
            return nil
        default: break
        }
        keys.line = line
        return nil
    }
}
