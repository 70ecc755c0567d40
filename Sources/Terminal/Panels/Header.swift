// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Picture

/// The top line: the graph's name, what records and who answers, and what carries it.
struct Header {
    var theme: Theme

    func draw(_ canvas: inout Canvas, _ area: Area, _ state: FaceState, at time: Double) {
        let status = state.status
        let inner = area.inset(area.width >= 30 ? 1 : 0)
        var facts: [String] = []
        if !status.driver.isEmpty {
            facts.append(([status.driver] + [serverText(status)].compactMap { $0 }).joined(separator: " "))
        }
        if status.rate > 0 { facts.append(rateText(status.rate)) }
        if status.block > 0, status.rate > 0 {
            let milliseconds = fixed(Double(status.block) / status.rate * 1000, 1)
            facts.append("\(status.block) frames (\(milliseconds) ms)")
        }
        var marks = marks(state, at: time)
        let name = min(columns(state.graph, unicode: theme.capabilities.unicode), inner.width / 2)
        while !marks.isEmpty, name + width(marks) > inner.width - 2 { marks.removeLast() }
        let nameWidth = name + width(marks)
        let separator = theme.words(" · ", " | ")
        // The last facts go first when there is no room.
        while !facts.isEmpty, columns(facts.joined(separator: separator)) > inner.width - nameWidth - 4 {
            facts.removeLast()
        }
        let right = glyphs(facts.joined(separator: separator), unicode: theme.capabilities.unicode)
        let bullet = state.speaking.isEmpty ? theme.sign("○", "o") : theme.sign("●", "*")
        canvas.put(bullet, x: inner.x, y: inner.y, style: theme.title)
        let room = inner.width - 4 - right.count - width(marks)
        line(
            &canvas, Area(x: inner.x + 2, y: inner.y, width: room, height: area.height), state.graph, theme.title, theme
        )
        var x = inner.x + 2 + min(columns(state.graph, unicode: theme.capabilities.unicode), room)
        for (text, style) in marks {
            x += 2
            x += canvas.put(glyphs(text, unicode: theme.capabilities.unicode), x: x, y: inner.y, style: style)
        }
        canvas.put(right, x: inner.x + inner.width - right.count, y: inner.y, style: theme.quiet)
    }

    /// Recordings first, with their times, then who answers.
    private func marks(_ state: FaceState, at time: Double) -> [(String, Style)] {
        let recorders = state.parts.nodes(.records)
        let running = recorders.compactMap { node -> (String, Style)? in
            guard let recorder = state.recorders[node], let text = recorder.text(at: time) else { return nil }
            let sign = recorder.state == "recording" ? theme.words("●", "*") : theme.words("‖", "=")
            let name = recorders.count > 1 ? " " + printable(node) : ""
            return ("\(sign) \(text)\(name)", recorder.state == "recording" ? theme.error : theme.warning)
        }
        let answering = state.parts.nodes(.converses).compactMap { node -> (String, Style)? in
            guard let agent = state.agents[node], !agent.label.isEmpty else { return nil }
            return (printable("\(node): \(agent.label)"), agent.hasFailed ? theme.error : theme.accent)
        }
        return running + answering
    }

    private func width(_ marks: [(String, Style)]) -> Int {
        marks.reduce(0) { $0 + 2 + columns($1.0, unicode: theme.capabilities.unicode) }
    }
}
