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

    @Test("A spectrogram has a tone at its frequency, in equal ratios, and bright as it is loud")
    func spectrogram() throws {
        let chart = SpectrogramChart(columns: 100, rows: 200, rate: Self.rate)
        for frame in 0..<200 { chart.take("spectrum", spectrum(frame < 100 ? 1000 : 8000, frame < 100 ? 0 : -60), 1) }
        let image = chart.image()
        func brightest(_ x: Int) -> Int? { (0..<200).max { image[x, $0].luminance < image[x, $1].luminance } }
        for (x, frequency) in [(25, 1000.0), (75, 8000)] {
            let place = 199 - log(frequency / 20) / log(1200) * 200
            let row = try #require(brightest(x))
            #expect(abs(Double(row) - place) <= 2, "\(frequency): \(row), not \(place)")
        }
        let (loud, quiet) = (image[25, brightest(25) ?? 0].luminance, image[75, brightest(75) ?? 0].luminance)
        #expect(loud > 0.9 && quiet > 0.2 && quiet < 0.7 && image[25, 5].luminance < 0.1)
        // Brighter all the way.
        let steps = (0...20).map { SpectrogramChart.colors.color(at: Float($0) / 20).luminance }
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0 < $1 })
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
                "lufs_m": [-Float(state % 7) - 20], "lufs_s": [-Float(state % 5) - 30],
                "waveform": (0..<32).map { Float($0 % 2 == 0 ? -1 : 1) * Float(state) / 50 },
            ]
            if frame > due { due = frame + 60 / part.seriesRate - 1 }
            for name in style.series {
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
                chart.take("spectrum", spectrum(20 * pow(1000, Double(frame) / 600), -6))
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
