// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import Picture

/// One node that has levels to show.
struct NodeFace: Sendable {
    var name: String
    /// How it is drawn; nil: meters only.
    var style: PictureStyle?
    var preset: Preset?
    let wave: WaveForm
    let times: LevelTimes
    var motion: PictureMotion

    init(
        name: String, style: PictureStyle? = nil, preset: Preset? = nil, wave: WaveForm = WaveForm(),
        times: LevelTimes = LevelTimes()
    ) {
        self.name = name
        self.style = style
        self.preset = preset
        self.wave = wave
        self.times = times
        motion = PictureMotion(times: times)
    }

    var meters: [Ballistics] { motion.meters }

    /// Takes what was measured; false: it says what was known already.
    mutating func update(_ frame: SeriesFrame, at time: Double) -> Bool {
        let known = meters.count
        var isNews = false
        for row in frame.rows where motion.take(row.name, row.values, at: time) { isNews = true }
        return isNews || meters.count != known
    }

    mutating func forgetClips() { motion.forgetClips() }

    /// The series on request that its picture needs.
    var series: [String] { (style?.series ?? []).map { "\(name).\($0)" } }
}

extension WaveForm {
    /// What the settings of a visualizer say.
    init(_ settings: Settings) {
        self.init(
            frequency: Float(settings.number("frequency") ?? 1.5), follows: settings.bool("follow") ?? false,
            density: Float(settings.number("density") ?? 1))
    }
}

extension LevelTimes {
    /// What the settings of a visualizer say.
    init(_ settings: Settings) {
        self.init()
        level = settings.number("level_time") ?? level
        view = settings.number("view_time") ?? view
        speaking = settings.number("speaking_time") ?? speaking
        end = settings.number("end_time") ?? end
    }
}

/// What is being spoken, and how far.
struct SpeechFace: Sendable {
    var node: String
    var glyphs: [Glyph]
    /// The word that is heard now, as places in `glyphs`.
    var word: Range<Int>?
    var active = true
    private let scalars: [Unicode.Scalar]
    private let unicode: Bool
    private var searched = 0

    init(node: String, text: String, unicode: Bool) {
        self.node = node
        self.unicode = unicode
        let text = String(text.prefix(20_000))
        scalars = Array(text.unicodeScalars)
        glyphs = Terminal.glyphs(text, unicode: unicode)
    }

    /// The word at a place of the text, both in Unicode scalars from 0; what lies outside is ignored.
    mutating func say(offset: Int, length: Int) {
        guard offset >= 0, length > 0, offset < scalars.count else { return }
        let end = offset + min(length, scalars.count - offset)
        searched = end
        let lower = place(offset)
        word = lower..<max(lower, place(end))
    }

    /// The next word of this spelling; one that does not come any more is ignored.
    mutating func say(word text: String) {
        let wanted = Array(text.unicodeScalars)
        guard !wanted.isEmpty, scalars.count >= wanted.count else { return }
        for start in stride(from: searched, through: scalars.count - wanted.count, by: 1)
        where scalars[start] == wanted[0] && Array(scalars[start..<start + wanted.count]) == wanted {
            say(offset: start, length: wanted.count)
            return
        }
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

/// All that the screen shows.
struct FaceState: Sendable {
    var graph: String
    /// Those that have a picture or meters.
    var nodes: [NodeFace]
    /// All of them, in the order of the file.
    var graphNodes: [GraphNode] = []
    /// What keys have changed.
    var keys = FaceKeys()
    /// What recorders do: idle, recording or paused, by node.
    var recordings: [String: String] = [:]
    /// What is heard, by node.
    var dictations: [String: Dictation] = [:]
    /// Whether who speaks is held.
    var isSpeechPaused = false
    var status = Status()
    /// The size of a cell in pixels, where it is another than at the start.
    var cell: (width: Int, height: Int)?
    var speech: SpeechFace?
    var speaking: Set<String> = []
    var log = FaceLog()

    init(graph: String, nodes: [NodeFace]) {
        self.graph = graph
        self.nodes = nodes
    }

    var degraded: [(name: String, reason: String)] {
        status.degraded.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
