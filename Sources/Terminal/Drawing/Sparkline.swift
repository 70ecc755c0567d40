// SPDX-License-Identifier: Apache-2.0

/// What something was lately, a column a sample, the newest at the right; the largest of them is nearly as tall as the row, so
/// that rows stay apart.
struct Sparkline {
    var theme: Theme
    /// The least that fills a column: what is smaller is noise.
    var least: Double

    private static let blocks: [Unicode.Scalar] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇"]
    private static let signs: [Unicode.Scalar] = [" ", ".", "-", "=", "+", "*", "#", "%"]

    /// Draws shares of a whole, 0...1, each in the colour of its own heat.
    func draw(_ canvas: inout Canvas, _ area: Area, _ samples: [Double]) {
        guard !area.isEmpty else { return }
        let shown = samples.suffix(area.width)
        let full = max(least, shown.max() ?? 0)
        let signs = theme.capabilities.unicode ? Self.blocks : Self.signs
        for (place, sample) in shown.enumerated() {
            let part = min(7, max(sample > 0 ? 1 : 0, Int((sample / full * 7).rounded())))
            canvas.put(
                signs[part], x: area.x + area.width - shown.count + place, y: area.y, style: theme.heat(sample))
        }
    }
}
