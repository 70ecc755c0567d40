// SPDX-License-Identifier: Apache-2.0

/// What is being spoken, and how far.
struct SpeechFace: Sendable {
    var node: String
    /// What the text belongs to.
    let item: Int?
    var glyphs: [Glyph]
    /// The word that is heard now, as places in `glyphs`.
    var word: Range<Int>?
    var active = true
    private let scalars: [Unicode.Scalar]
    private let unicode: Bool

    init(node: String, item: Int? = nil, text: String, unicode: Bool) {
        self.node = node
        self.item = item
        self.unicode = unicode
        let text = String(text.prefix(20_000))
        scalars = Array(text.unicodeScalars)
        glyphs = Terminal.glyphs(text, unicode: unicode)
    }

    /// The word at a place of the text, both in Unicode scalars from 0; what lies outside is ignored.
    mutating func say(offset: Int, length: Int) {
        guard offset >= 0, length > 0, offset < scalars.count else { return }
        let end = offset + min(length, scalars.count - offset)
        let lower = place(offset)
        word = lower..<max(lower, place(end))
    }

    private func place(_ scalar: Int) -> Int {
        var prefix = String.UnicodeScalarView()
        prefix.append(contentsOf: scalars[..<scalar])
        return min(Terminal.glyphs(String(prefix), unicode: unicode).count, glyphs.count)
    }

    /// Lines of at most `width` columns, broken at spaces where there are any, as places in `glyphs`.
    func lines(width: Int) -> [Range<Int>] {
        guard width > 1 else { return [] }
        var lines: [Range<Int>] = []
        var start = 0
        var column = 0
        var lastSpace: Int?
        var index = 0
        while index < glyphs.count {
            let glyph = glyphs[index]
            if column + Int(glyph.width) > width {
                let end = glyph == .space ? index : lastSpace.flatMap { $0 > start ? $0 : nil } ?? index
                lines.append(start..<end)
                start = end
                while start < glyphs.count, glyphs[start] == .space { start += 1 }
                index = start
                column = 0
                lastSpace = nil
                continue
            }
            if glyph == .space { lastSpace = index }
            column += Int(glyph.width)
            index += 1
        }
        if start < glyphs.count { lines.append(start..<glyphs.count) }
        return lines
    }
}
