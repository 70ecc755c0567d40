// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import Picture

/// What `voicegraph record` shows: a line that tells whether it records, how much, where to, and the keys; below it a meter
/// for each channel. It knows no clock: every call brings its time, in seconds of any steady clock.
public struct RecordingView: Sendable {
    private var state = "idle"
    private var seconds = 0.0
    private var file = ""
    private var meters: [Ballistics] = []
    /// How often it came to full scale.
    private var clips = 0
    private var wasClipped = false
    private let theme: Theme

    /// As many meters as there is room for beside what was written before; of more channels the loudest is shown.
    private static let mostMeters = 8

    /// Nothing seen yet.
    public init(capabilities: TerminalCapabilities) { theme = Theme(capabilities) }

    /// Takes levels.
    public mutating func update(_ frame: SeriesFrame, at time: Double) {
        guard !frame.peak.isEmpty else { return }
        let isClipped = frame.peak.contains { $0 >= 0.9999 || $0.isNaN }
        if isClipped, !wasClipped { clips += 1 }
        wasClipped = isClipped
        let isCrowded = frame.peak.count > Self.mostMeters
        let peaks = isCrowded ? [frame.peak.max() ?? 0] : frame.peak
        let rms = isCrowded ? [frame.rms.max() ?? 0] : frame.rms
        while meters.count < peaks.count { meters.append(Ballistics()) }
        for (place, peak) in peaks.enumerated() {
            meters[place].update(rms: rms.count > place ? rms[place] : peak, peak: peak, at: time)
        }
    }

    /// Takes an event with which the recorder tells how it stands.
    public mutating func update(_ event: Event) {
        state = event.text("state") ?? state
        if case .number(let number)? = event.fields["seconds"] { seconds = number }
        if let path = event.text("path"), !path.isEmpty {
            file = printable(path.split(separator: "/").last.map(String.init) ?? path)
        }
    }

    /// Takes how much is recorded, in seconds.
    public mutating func update(seconds: Double) { self.seconds = seconds }

    /// The rows of a terminal so many columns wide, with its colours.
    public func rows(width: Int, at time: Double) -> [String] {
        let readings = (meters.isEmpty ? [Ballistics()] : meters).map { $0.reading(at: time) }
        var canvas = Canvas(width: width, height: 1 + readings.count)
        head(&canvas, Area(x: 0, y: 0, width: width, height: 1))
        for (place, reading) in readings.enumerated() {
            let label = readings.count == 1 ? "" : readings.count == 2 ? ["L ", "R "][place] : "\(place + 1) "
            meter(&canvas, Area(x: 0, y: 1 + place, width: width, height: 1), reading, label, isLast: place == 0)
        }
        return canvas.rows()
    }

    /// The same in a line of text, for what is no terminal.
    public func sentence(at time: Double) -> String {
        let loudest = meters.map { $0.reading(at: time) }.max { $0.held < $1.held } ?? .init()
        let level = loudest.held > -.infinity ? "peak \(fixed(loudest.held, 1)) dBFS" : "silence"
        return "\(clock(seconds))  \(state)  \(level)" + (clips > 0 ? "  \(clipText)" : "")
    }

    private var clipText: String { "\(clips) clip\(clips == 1 ? "" : "s")" }

    private func head(_ canvas: inout Canvas, _ area: Area) {
        let isOn = state == "recording"
        let style = isOn ? theme.error : theme.warning
        let sign = isOn ? theme.words("●", "*") : theme.words("‖", "=")
        let words = "\(sign) \(isOn ? "REC" : state) \(clock(seconds))"
        var rest = area
        line(&canvas, rest.takeLeft(columns(words)), words, style, theme)
        // A name can be told by its beginning and its end; fewer keys are told where there is no room for that.
        let room = rest.width - min(16, columns(file)) - 4
        if let keys = RecordKeys.words(isPaused: state == "paused").map({ glyphs($0) }).first(where: {
            $0.count <= room
        }) {
            rest.width -= keys.count + 2
            canvas.put(keys, x: rest.x + rest.width + 2, y: rest.y, style: theme.quiet)
        }
        _ = rest.takeLeft(2)
        shortened(&canvas, rest, file)
    }

    /// A name that is too long is cut in its middle: its beginning and its suffix tell most.
    private func shortened(_ canvas: inout Canvas, _ area: Area, _ name: String) {
        let all = glyphs(name, unicode: theme.capabilities.unicode)
        guard columns(name) > area.width, area.width >= 12 else {
            return line(&canvas, area, name, theme.text, theme)
        }
        let mark = theme.words("…", "..")
        let room = area.width - columns(mark)
        let used = canvas.put(all, x: area.x, y: area.y, style: theme.text, limit: room / 2)
        let gap = canvas.put(glyphs(mark), x: area.x + used, y: area.y, style: theme.text)
        canvas.put(
            all.suffix(room - room / 2), x: area.x + used + gap, y: area.y, style: theme.text,
            limit: area.width - used - gap)
    }

    private func meter(
        _ canvas: inout Canvas, _ area: Area, _ reading: Ballistics.Reading, _ label: String, isLast: Bool
    ) {
        let numbers = area.width >= 30 ? 19 : 0
        let bar = Area(
            x: area.x + label.count, y: area.y, width: area.width - label.count - numbers, height: 1)
        line(&canvas, area, label, theme.quiet, theme)
        MeterBar(theme: theme, reading: reading, hasScale: true).draw(&canvas, bar)
        guard numbers > 0 else { return }
        let isSilent = reading.held == -.infinity
        let level = isSilent ? "silent" : decibelText(reading.held, unicode: theme.capabilities.unicode) + " dB"
        let x = bar.x + bar.width
        line(
            &canvas, Area(x: x + 10 - level.count, y: area.y, width: level.count, height: 1), level,
            isSilent ? theme.warning : theme.text, theme)
        guard isLast, clips > 0 else { return }
        let words = columns(clipText) <= 8 ? clipText : "\(clips) cl"
        line(&canvas, Area(x: x + 11, y: area.y, width: 8, height: 1), words, theme.clip, theme)
    }
}
