// SPDX-License-Identifier: Apache-2.0
import Picture

/// Lays out and draws the whole screen. What does not fit is left out in this order: log, rules, orb, speech, footer;
/// meters go last.
struct Screen {
    var theme: Theme

    /// What changes seldom, and the room that it leaves for pictures, meters and nodes.
    struct Still: Sendable {
        fileprivate var canvas: Canvas
        fileprivate var rest: Area
        fileprivate var time: Double

        /// Seconds after which it is drawn anew, whether something has changed or not.
        fileprivate static let life = 0.25
    }

    /// Draws all; `still` is what was drawn before, nil once something of that has changed.
    func draw(_ state: inout FaceState, _ still: inout Still?, width: Int, height: Int, at time: Double) -> Canvas {
        guard width > 0, height > 0 else { return Canvas(width: width, height: height) }
        let ready = still.flatMap { time - $0.time < Still.life ? $0 : nil }
        let around = ready ?? self.still(&state, width: width, height: height, at: time)
        still = around
        var canvas = around.canvas
        if !state.keys.readsLog { body(&canvas, around.rest, &state, at: time) }
        let whole = Area(x: 0, y: 0, width: width, height: height)
        switch state.keys.overlay {
        case .help: HelpPanel(theme: theme).draw(&canvas, whole, TerminalView.keys)
        case .code: CodePanel(theme: theme).draw(&canvas, whole, state)
        case .recorders(let chosen):
            RecorderPanel(theme: theme).draw(&canvas, whole, state, chosen: chosen, at: time)
        case nil: break
        }
        return canvas
    }

    private func still(_ state: inout FaceState, width: Int, height: Int, at time: Double) -> Still {
        var canvas = Canvas(width: width, height: height)
        var rest = Area(x: 0, y: 0, width: width, height: height)
        let roomy = height >= 14 && width >= 40
        if height >= 3 { Header(theme: theme).draw(&canvas, rest.takeTop(1), state, at: time) }
        if height >= 10 {
            for part in linkLines(state.link, width: width - 2) {
                put(&canvas, rest.takeTop(1).inset(1), part, theme.accent)
            }
        }
        if roomy { rule(&canvas, rest.takeTop(1)) }
        if height >= 6 { Footer(theme: theme).draw(&canvas, rest.takeBottom(1), state) }
        if roomy { rule(&canvas, rest.takeBottom(1)) }
        if state.keys.readsLog {
            LogPanel(theme: theme).draw(&canvas, rest, &state)
        } else {
            texts(&canvas, &rest, state, height: height, roomy: roomy)
        }
        return Still(canvas: canvas, rest: rest.inset(width >= 40 ? 1 : 0), time: time)
    }

    /// What happens, and what is spoken.
    private func texts(_ canvas: inout Canvas, _ rest: inout Area, _ state: FaceState, height: Int, roomy: Bool) {
        notes(&canvas, &rest, state, height: height)
        guard let speech = state.speech, rest.height >= 4 else { return }
        let most = height >= 40 ? 6 : height >= 20 ? 3 : height >= 12 ? 2 : 1
        let lines = speech.lines(width: rest.width - 4)
        let area = rest.takeBottom(min(lines.count, most) + (roomy ? 2 : 0))
        SpeechPanel(theme: theme).draw(&canvas, area, speech, lines: lines, titled: roomy)
    }

    private func rule(_ canvas: inout Canvas, _ area: Area) {
        for row in 0..<area.height {
            for x in 0..<area.width {
                canvas.put(theme.sign("─", "-"), x: area.x + x, y: area.y + row, style: theme.line)
            }
        }
    }

    /// Failed nodes first, then what is to be known of the driver, then the newest lines of the log.
    private func notes(_ canvas: inout Canvas, _ rest: inout Area, _ state: FaceState, height: Int) {
        let failed = state.degraded
        let shownFailed = height >= 6 ? min(failed.count, height >= 40 ? 6 : height >= 20 ? 3 : 1) : 0
        var lines = height >= 40 ? 6 : height >= 24 ? 2 : height >= 16 ? 1 : 0
        if lines > 0, !state.nodes.contains(where: { $0.style != nil }) {
            // Without pictures most of the screen is free: a conversation can be read.
            let others =
                MeterPanel.rows(state, compact: false) + min(NodePanel.rows(state), 12) + shownFailed
                + (state.speech == nil ? 2 : 9)
            lines = max(lines, min(24, rest.height - others))
        }
        let log = LogPanel(theme: theme).draw(&canvas, rest, state.log.entries, lines: lines)
        _ = rest.takeBottom(log)
        if !state.status.notice.isEmpty, height >= 8 {
            let text = theme.words("▲", "!") + " " + printable(state.status.notice)
            put(&canvas, rest.takeBottom(1).inset(1), text, theme.warning)
        }
        for index in (0..<shownFailed).reversed() {
            let area = rest.takeBottom(1)
            let more =
                index == shownFailed - 1 && failed.count > shownFailed ? " (+\(failed.count - shownFailed) more)" : ""
            let text = "\(theme.words("▲", "!")) \(failed[index].name) is degraded: \(failed[index].reason)\(more)"
            put(&canvas, area.inset(1), text, theme.warning)
        }
    }

    private func body(_ canvas: inout Canvas, _ area: Area, _ state: inout FaceState, at time: Double) {
        var rest = area
        let visual = state.nodes.indices.filter { state.nodes[$0].style != nil }
        if !visual.isEmpty, area.height >= 5 {
            let stacked = area.width < 56
            let pictures: Area
            if stacked {
                let meters = min(MeterPanel.rows(state, compact: true), area.height - 4)
                pictures = rest.takeTop(area.height >= 10 || meters <= 0 ? area.height - max(meters, 1) : 0)
            } else {
                let areBroad = visual.allSatisfy { state.nodes[$0].style?.isRound == false }
                let square = area.height * 2 * (areBroad ? 1 : min(visual.count, 2))
                let wide = min(square, area.width * 9 / 20)
                pictures = rest.takeLeft(wide)
                _ = rest.takeLeft(2)
            }
            draw(&canvas, pictures, visual, &state, at: time)
        }
        nodes(&canvas, &rest, state, at: time)
        MeterPanel(theme: theme).draw(&canvas, rest, state, at: time)
    }

    /// All nodes: everywhere if none of them has meters or a picture, else beside the meters where there is room, or below
    /// them. Where not all can be shown, those around the chosen one are, in half of the room at least.
    private func nodes(_ canvas: inout Canvas, _ rest: inout Area, _ state: FaceState, at time: Double) {
        let panel = NodePanel(theme: theme)
        if state.nodes.isEmpty {
            let all = NodePanel.rows(state)
            rest.y += max(0, min(1, rest.height - all))
            panel.draw(&canvas, rest, state, at: time)
            rest.height = 0
        } else if rest.width >= 2 * NodePanel.comfortable + 4 {
            var right = rest
            rest = right.takeLeft(right.width / 2 - 2)
            _ = right.takeLeft(4)
            right.y += max(0, (right.height - NodePanel.rows(state)) / 2)
            panel.draw(&canvas, right, state, at: time)
        } else {
            let room = max(rest.height - MeterPanel.rows(state, compact: true), rest.height / 2)
            guard room >= 2 else { return }
            panel.draw(&canvas, rest.takeBottom(min(room, NodePanel.rows(state))), state, at: time)
        }
    }

    /// The visualizers, as many as can be seen well: one above another if all of them are broad, else side by side.
    private func draw(_ canvas: inout Canvas, _ area: Area, _ visual: [Int], _ state: inout FaceState, at time: Double)
    {
        guard !area.isEmpty else { return }
        let areBroad = visual.allSatisfy { state.nodes[$0].style?.isRound == false }
        let count = min(visual.count, max(1, areBroad ? area.height / 6 : area.width / 16))
        for place in 0..<count {
            func part(_ length: Int) -> (from: Int, count: Int) {
                (length * place / count, length * (place + 1) / count - length * place / count)
            }
            let (across, down) = (part(area.width), part(area.height))
            let room =
                areBroad
                ? Area(x: area.x, y: area.y + down.from, width: area.width, height: down.count)
                : Area(x: area.x + across.from, y: area.y, width: across.count, height: area.height)
            draw(&canvas, room, visual[place], &state, at: time)
        }
    }

    /// One of them, with its numbers below it.
    private func draw(_ canvas: inout Canvas, _ room: Area, _ index: Int, _ state: inout FaceState, at time: Double) {
        let style = state.nodes[index].style ?? .orb
        var part = room
        if !style.isRound {
            let tall = min(part.height, max(4, part.width / 2))
            part = Area(x: part.x, y: part.y + (part.height - tall) / 2, width: part.width, height: tall)
        }
        let picture = state.nodes[index].motion.state(style, speaking: !state.speaking.isEmpty, at: time)
        if part.height >= 6, let words = caption(style, picture.sound), words.count <= part.width {
            var below = part.takeBottom(1)
            _ = below.takeLeft((below.width - words.count) / 2)
            put(&canvas, below, words, theme.quiet)
        }
        canvas.mark(room, .picture(state.nodes[index].name))
        // A list lies above all: pixels would hide it.
        var theme = theme
        if state.keys.overlay != nil { theme.capabilities.graphics = nil }
        if let cell = state.cell {
            theme.capabilities.graphics?.cellWidth = cell.width
            theme.capabilities.graphics?.cellHeight = cell.height
        }
        let node = state.nodes[index]
        PictureCells(theme: theme).draw(
            &canvas, part, style: style, preset: node.preset, wave: node.wave, state: picture)
    }

    private func put(_ canvas: inout Canvas, _ area: Area, _ text: String, _ style: Style) {
        line(&canvas, area, text, style, theme)
    }
}

/// Writes one line of text, shortened with an ellipsis if it is too long.
func line(_ canvas: inout Canvas, _ area: Area, _ text: String, _ style: Style, _ theme: Theme) {
    guard area.width > 0, area.height > 0 else { return }
    let all = glyphs(String(text.prefix(4 * area.width + 64)), unicode: theme.capabilities.unicode)
    let total = all.reduce(0) { $0 + Int($1.width) }
    if total <= area.width {
        canvas.put(all, x: area.x, y: area.y, style: style)
    } else {
        let mark = glyphs(theme.words("…", ".."))
        let used = canvas.put(all, x: area.x, y: area.y, style: style, limit: area.width - mark.count)
        canvas.put(mark, x: area.x + used, y: area.y, style: style, limit: area.width - used)
    }
}
