// SPDX-License-Identifier: Apache-2.0

/// What is being spoken: what was said in full, the word that is heard marked, what comes fainter.
struct SpeechPanel {
    var theme: Theme

    func draw(_ canvas: inout Canvas, _ area: Area, _ speech: SpeechFace, lines: [Range<Int>], titled: Bool) {
        var rest = area
        if titled, rest.height >= 2 {
            let top = rest.takeTop(1).inset(1)
            let said = speech.active ? "speaking" : "spoken"
            let used = canvas.put(glyphs(said), x: top.x, y: top.y, style: speech.active ? theme.accent : theme.quiet)
            line(
                &canvas, Area(x: top.x + used + 1, y: top.y, width: top.width - used - 1, height: 1), speech.node,
                theme.quiet, theme)
            if rest.height > 1 { _ = rest.takeBottom(1) }
        }
        guard rest.height > 0, !lines.isEmpty else { return }
        // The line with the word stays in sight, with the next one where there is room.
        let current = speech.word.flatMap { word in lines.lastIndex { $0.lowerBound <= word.lowerBound } } ?? 0
        let first = max(0, min(current - (rest.height > 2 ? 1 : 0), lines.count - rest.height))
        for row in 0..<min(rest.height, lines.count - first) {
            var x = rest.x + 2
            let range = lines[first + row]
            for index in range {
                x += canvas.put(
                    CollectionOfOne(speech.glyphs[index]), x: x, y: rest.y + row, style: style(index, speech))
            }
        }
    }

    private func style(_ index: Int, _ speech: SpeechFace) -> Style {
        guard speech.active else { return theme.quiet }
        guard let word = speech.word else { return theme.spoken }
        if word.contains(index) { return theme.word }
        return index < word.lowerBound ? theme.spoken : theme.quiet
    }
}
