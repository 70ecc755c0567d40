// SPDX-License-Identifier: Apache-2.0
import Foundation
import FoundationXML
import Glibc
import NodeKit
import TestSupport

@testable import Picture

@Suite struct ChartTests {
    private static let rate = 48_000.0

    /// A spectrum of -120 dBFS with a tone.
    private func spectrum(_ frequency: Double, _ level: Float) -> [Float] {
        var values = [Float](repeating: -120, count: 2049)
        values[Int((frequency / (Self.rate / 2) * 2048).rounded())] = level
        return values
    }

    private func save(_ chart: SoundChart, _ name: String, seconds: Double) throws {
        guard let folder = ProcessInfo.processInfo.environment["VOICEGRAPH_LOOK"] else { return }
        let png = try chart.png(title: name, facts: "0:10", seconds: seconds, isDark: false)
        try Data(png).write(to: URL(fileURLWithPath: "\(folder)/chart-\(name).png"))
    }

    @Test(
        "Whatever the time, the columns are few, and nothing is lost or counted twice", arguments: [1, 7, 99, 12_345])
    func columns(frames: Int) {
        var columns = TimeColumns<Int>(limit: 20) { $0 += $1 }
        for _ in 0..<frames { columns.add(1) }
        #expect(columns.columns.count <= 20 && columns.columns.reduce(0, +) == frames)
        if frames >= 20 { #expect(columns.columns.count >= 10) }
        let spread = columns.spread(over: 10)
        #expect(spread.count == 10)
        // Fewer columns than pixels stand in several of them.
        if frames >= 20 { #expect(spread.reduce(0, +) == frames) }
        #expect(TimeColumns<Int>(limit: 4) { $0 += $1 }.spread(over: 3).isEmpty)
    }

    @Test("A waveform has its samples at their height and their time") func waveform() throws {
        let chart = SoundChart(.waveform, width: 300, height: 100, rate: Self.rate)
        // A second at half scale, a second of silence.
        for frame in 0..<120 {
            let level: Float = frame < 60 ? 0.5 : 0
            chart.take("waveform", (0..<32).map { $0 % 2 == 0 ? -level : level })
            chart.take("rms", [level / 2, 0])
        }
        let (width, height, pixels) = try readPNG(chart.png(title: "", facts: "", seconds: 2, isDark: false))
        #expect(width == 300 && height == 100)
        func isDrawn(_ x: Int, _ y: Int) -> Bool { pixels[y * 300 + x][0] < 200 }
        #expect(isDrawn(75, 30) && isDrawn(75, 70) && !isDrawn(75, 20) && !isDrawn(75, 80))
        #expect(!isDrawn(225, 45) && !isDrawn(225, 55))
        // Louder inside: what is drawn twice is darker.
        #expect(pixels[45 * 300 + 75][0] < pixels[30 * 300 + 75][0])
    }

    @Test(
        "A waveform in dB shows what is quiet, and each channel has a lane if that is asked for", arguments: [1, 2, 3])
    func lanes(channels: Int) throws {
        let look = WaveformLook(hasLanes: true, scale: .db)
        let chart = SoundChart(.waveform, waveform: look, width: 300, height: 240, rate: Self.rate)
        #expect(chart.series == ["waveforms"])
        // -20, -40 and -60 dBFS, the last one only below zero.
        let levels = [0.1, 0.01, 0.001].prefix(channels).map { Float($0) }
        for _ in 0..<60 {
            chart.take(
                "waveforms",
                levels.enumerated().flatMap { lane, level in
                    (0..<32).map { $0 % 2 == 0 ? -level : lane == 2 ? 0 : level }
                })
            chart.take("rms", levels.map { $0 / 10 })
        }
        let pixels = try readPNG(chart.png(title: "", facts: "", seconds: 1, isDark: false)).pixels
        let tall = 240 / channels
        for lane in levels.indices {
            let column = (lane * tall..<(lane + 1) * tall).filter { pixels[$0 * 300 + 150][0] < 200 }
            let (first, last) = (try #require(column.first), try #require(column.last))
            let middle = lane * tall + tall / 2
            let reach = Double(tall) / 2 * (1 - Double(lane + 1) / 4)
            #expect(abs(Double(last - middle) - reach) <= 3, "lane \(lane): \(column)")
            #expect(abs(Double(middle - first) - (lane == 2 ? 0 : reach)) <= 3, "lane \(lane): \(column)")
        }
    }

    /// What a meter measures of a tone: it is in every window.
    private func take(_ chart: SpectrogramChart, _ frequency: Double, _ level: Float, frames: Int = 1) {
        func spectrum(_ size: Int) -> [Float] {
            var values = [Float](repeating: -120, count: size / 2 + 1)
            values[Int((frequency / Self.rate * Double(size)).rounded())] = level
            return values
        }
        for _ in 0..<frames {
            chart.take("fine_spectrum", spectrum(8192), 1)
            chart.take("fast_spectra", (0..<4).flatMap { _ in spectrum(1024) }, 1)
        }
    }

    @Test("A spectrogram has a tone at its frequency, on the mel scale, and bright as it is loud")
    func spectrogram() throws {
        let chart = SpectrogramChart(columns: 100, rows: 200, rate: Self.rate)
        take(chart, 1000, 0, frames: 100)
        take(chart, 8000, -45, frames: 100)
        let levels = chart.levels(3.3)
        func luminance(_ x: Int, _ y: Int) -> Float { SpectrogramChart.color(of: levels[y * 100 + x]).luminance }
        func brightest(_ x: Int) -> Int? { (0..<200).max { luminance(x, $0) < luminance(x, $1) } }
        for (x, frequency) in [(25, 1000.0), (75, 8000)] {
            let place = 199 - log10(1 + frequency / 700) / log10(1 + 24_000 / 700.0) * 200
            let row = try #require(brightest(x))
            #expect(abs(Double(row) - place) <= 2, "\(frequency): \(row), not \(place)")
        }
        let (loud, quiet) = (luminance(25, brightest(25) ?? 0), luminance(75, brightest(75) ?? 0))
        #expect(loud > 0.9 && quiet > 0.2 && quiet < 0.7 && luminance(25, 5) < 0.1)
        // Brighter all the way.
        let steps = (0...20).map { SpectrogramChart.colors.color(at: Float($0) / 20).luminance }
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("A spectrogram is dark where one of its windows hears nothing, and begins where the sound does")
    func windows() throws {
        let chart = SpectrogramChart(columns: 120, rows: 200, rate: Self.rate)
        func silence(_ count: Int) -> [Float] { Array(repeating: -120, count: count) }
        func loud(_ count: Int) -> [Float] { Array(repeating: -20, count: count) }
        // A click at 0.25 s: for a 60th in the short windows, for eleven of them in the long one, both 4096 samples late.
        for frame in 0..<65 {
            chart.take("fine_spectrum", (15...25).contains(frame) ? loud(4097) : silence(4097), 1)
            chart.take("fast_spectra", frame == 20 ? loud(4 * 513) : silence(4 * 513), 1)
        }
        let levels = chart.levels(1)
        let bright = (0..<120).filter { SpectrogramChart.color(of: levels[20 * 120 + $0]).luminance > 0.3 }
        #expect(!bright.isEmpty && bright.allSatisfy { abs($0 - 30) <= 2 }, "\(bright)")
    }

    @Test("The colours of a spectrogram have a scale beside it") func scale() throws {
        let chart = SoundChart(.spectrogram, width: 1200, height: 480, rate: Self.rate)
        let svg = try chart.svg(title: "", facts: "", seconds: 1)
        for label in ["dBFS", "0", "-10", "-90", "mel scale", "500", "20k"] {
            #expect(svg.contains(">\(label)</text>"), "\(label)")
        }
        #expect(svg.contains("fill=\"url(#levels)\"") && svg.contains("stop-color=\"#fff4b8\""))
        let low = try chart.png(title: "", facts: "", seconds: 1, isDark: false)
        let pixels = try readPNG(low).pixels
        func luminance(_ y: Int) -> Int { pixels[y * 1200 + 1134].prefix(3).reduce(0) { $0 + Int($1) } }
        #expect(luminance(70) > 650 && luminance(250) < 550 && luminance(430) < 100)
    }

    @Test(
        "Of a long sound fewer frames are needed, and give the same picture", arguments: ChartStyle.allCases)
    func longSound(style: ChartStyle) throws {
        func chart() -> SoundChart { SoundChart(style, width: 100, height: 60, rate: Self.rate) }
        let (whole, part) = (chart(), chart())
        #expect(part.seriesRate == 60)
        let frames = 60 * 300
        var (taken, due) = (0, 0)
        for frame in 1...frames {
            // Something else every six seconds.
            let state = (frame - 1) / 360
            let values = [
                "spectrum": spectrum(100 * pow(1.1, Double(state)), -Float(state)),
                "fine_spectrum": spectrum(100 * pow(1.1, Double(state)), -Float(state)),
                "fast_spectra": (0..<4).flatMap { _ in spectrum(100 * pow(1.1, Double(state)), -Float(state)) },
                "lufs_m": [-Float(state % 7) - 20], "lufs_s": [-Float(state % 5) - 30],
                "waveform": (0..<32).map { Float($0 % 2 == 0 ? -1 : 1) * Float(state) / 50 },
            ]
            if frame > due { due = frame + 60 / part.seriesRate - 1 }
            for name in whole.series.sorted().reversed() {
                whole.take(name, values[name]!)
                if frame == due { part.take(name, values[name]!, at: Double(frame) / 60) }
            }
            if frame == due { taken += 1 }
        }
        #expect(style == .waveform ? taken == frames : taken < frames * 2 / 3)
        let pictures = try [part, whole].map {
            try readPNG($0.png(title: "", facts: "", seconds: 300, isDark: false)).pixels
        }
        // But for columns where a frame reaches into what comes next.
        let others = zip(pictures[0], pictures[1]).count { $0 != $1 }
        #expect(others <= pictures[0].count / 20, "\(others) pixels")
    }

    @Test(
        "Every style is a drawing with axes, title and facts, and without them where there is no room",
        arguments: ChartStyle.allCases)
    func styles(style: ChartStyle) throws {
        for (width, height) in [(1200, 480), (400, 200), (100, 60), (1, 1)] {
            let chart = SoundChart(style, width: width, height: height, rate: Self.rate)
            for frame in 0..<600 {
                chart.take("waveform", (0..<32).map { Float($0 % 2 == 0 ? -1 : 1) * Float(frame) / 600 })
                chart.take("rms", [Float(frame) / 1000])
                let tone = spectrum(20 * pow(1000, Double(frame) / 600), -6)
                chart.take("spectrum", tone)
                chart.take("fine_spectrum", tone)
                chart.take("fast_spectra", tone + tone + tone + tone)
                chart.take("lufs_m", [-60 + Float(frame) / 12])
                chart.take("lufs_s", [-60 + Float(frame) / 15])
            }
            let svg = try chart.svg(title: "a <b> & c.wav", facts: "0:10", seconds: 10)
            _ = try XMLDocument(xmlString: svg)
            #expect(svg.contains("viewBox=\"0 0 \(width) \(height)\""))
            let hasRoom = width >= 320
            #expect(svg.contains(">a &lt;b&gt; &amp; c.wav</text>") == hasRoom)
            #expect(svg.contains(">0:10</text>") == hasRoom)
            let (wide, tall, pixels) = try readPNG(chart.png(title: "x", facts: "", seconds: 10, isDark: true))
            #expect(wide == width && tall == height)
            if hasRoom {
                #expect(Array(pixels[0].prefix(3)) == [0x14, 0x17, 0x1C])
                try save(chart, "\(style)-\(width)", seconds: 10)
            }
        }
        // Nothing came.
        let empty = SoundChart(style, width: 400, height: 200, rate: Self.rate)
        _ = try XMLDocument(xmlString: empty.svg(title: "", facts: "", seconds: 0))
        #expect(throws: NodeError.self) {
            try SoundChart(style, width: 40_000, height: 10, rate: Self.rate)
                .png(title: "", facts: "", seconds: 0, isDark: false)
        }
    }

    @Test(
        "Times are marked in steps that people count in",
        arguments: [
            (2, ["0.0 s", "0.2 s", "2.0 s"]), (59, ["0:00", "0:05", "0:55"]), (3600, ["0:00", "5:00", "1:00:00"]),
            (86_400, ["0:00", "2:00:00", "24:00:00"]),
        ] as [(Double, [String])])
    func times(seconds: Double, labels: [String]) {
        let marks = Axis.time(seconds, width: 1112).marks
        #expect(marks.first?.label == labels[0] && marks.dropFirst().first?.label == labels[1])
        #expect(marks.last?.label == labels[2] && marks.count <= 14)
        #expect(marks.allSatisfy { $0.place >= 0 && $0.place <= 1 })
    }

    @Test(
        "Bytes become base64",
        arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
            as [(String, String)])
    func encoded(text: String, code: String) {
        #expect(String(decoding: base64(Array(text.utf8)), as: UTF8.self) == code)
    }
}
