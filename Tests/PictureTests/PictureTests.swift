// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import NodeKit
import Picture
import TestSupport

private let states: [(String, PictureState)] = [
    ("idle", PictureState()), ("quiet", state(level: 0.3, seed: 1)), ("loud", state(level: 0.9, seed: 2)),
]

private func state(level: Float, seed: UInt64) -> PictureState {
    var state = PictureState(
        level: level, view: level, speaking: 1, bands: BarValues.guess(level: level, seed: seed), time: Double(seed))
    state.sound = sound(level: level, seconds: Double(seed) * 4)
    return state
}

@Suite struct PictureTests {
    @Test("The same state gives the same pixels and another state others", arguments: PictureStyle.allCases)
    func samePixels(style: PictureStyle) throws {
        var seen: [[UInt8]] = []
        for (name, state) in states {
            let image = Picture.draw(style, state, width: 160, height: 160)
            #expect(image == Picture.draw(style, state, width: 160, height: 160))
            #expect(!seen.contains(image.rgba8))
            seen.append(image.rgba8)
            try look(Picture.draw(style, state, width: 480, height: 480), "\(style)-\(name)")
            try look(image, "\(style)-\(name)-160")
        }
    }

    @Test("Every preset can be looked at") func presets() throws {
        for preset in Preset.allCases {
            for style in PictureStyle.allCases {
                let image = Picture.draw(style, states[2].1, preset: preset, width: 160, height: 160)
                #expect(image.pixels.contains { $0.w > 0.5 })
                try look(image, "preset-\(preset.name)-\(style)")
            }
        }
    }

    @Test(
        "Any size can be drawn and every pixel is a colour", arguments: PictureStyle.allCases,
        [(0, 0), (1, 1), (3, 200), (200, 3), (17, 9)])
    func anySize(style: PictureStyle, size: (Int, Int)) {
        for (_, state) in states {
            let image = Picture.draw(style, state, width: size.0, height: size.1)
            #expect(image.rgba8.count == size.0 * size.1 * 4)
            for pixel in image.pixels {
                #expect(pixel.w >= 0 && pixel.w <= 1.0001)
                #expect(pixel.x <= pixel.w + 1e-4 && pixel.y <= pixel.w + 1e-4 && pixel.z <= pixel.w + 1e-4)
            }
        }
    }

    @Test("O4: The orb has the measures it should have") func orb() {
        let idle = OrbShape(PictureState())
        #expect(idle.coreScale == 0.85)
        #expect(idle.glowOpacity == 0)
        #expect(idle.ringOpacity == 0)
        #expect(idle.ringScale == 0.9)
        let loud = OrbShape(PictureState(view: 1, speaking: 1))
        #expect(loud.coreScale == 1.35)
        #expect(abs(loud.glowScale - 1.35 * 1.3) < 1e-6)
        #expect(loud.glowOpacity == 1)
        #expect(abs(loud.ringScale - 1.7) < 1e-6)
        #expect(loud.ringOpacity == 0.8)
        #expect(OrbShape(PictureState(view: 0, speaking: 1)).glowOpacity == 0.3)
    }

    @Test("O4: An idle orb is as wide as its scale says and cyan, blue, purple from the centre") func idleOrb() {
        // At an extent of 272 in 272 pixels the orb's pixels are the image's.
        let image = OrbPicture(extent: 272).draw(PictureState(), width: 272, height: 272)
        let row = (0..<272).filter { image[$0, 136].rgba.w > 0.5 }
        #expect(abs(Float(row.count) - 160 * 0.85) <= 2)
        #expect(near(image[136, 136], Color(hex: 0x64D2FF)))
        #expect(near(image[136 + 38, 136], Color(hex: 0x0A84FF)), "45 is halfway between 10 and 80")
        #expect(image[136 + 65, 136].rgba.x > 0.6, "purple at the edge")
        #expect(image[136 + 75, 136].rgba.w == 0, "no light around a silent orb")
    }

    @Test("T8: Presets are found by name, ignoring case, and unknown names are verdant") func presetNames() {
        #expect(Preset(named: "GLACIER") == .glacier)
        #expect(Preset(named: "Mystic") == .mystic)
        #expect(Preset(named: "no such thing") == .verdant)
        #expect(Preset("no such thing") == nil && Preset("") == nil)
        #expect(Preset.twilight.gradient.color(at: 0) == Color(hex: 0x81B9FF))
        #expect(near(Preset.twilight.gradient.color(at: 0.5), Color(hex: 0x371A5E)))
        #expect(Preset.twilight.gradient.color(at: 1) == Color(hex: 0x81B9FF))
        #expect(PictureStyle(named: "Wave") == .wave)
        #expect(PictureStyle(named: "") == .orb)
    }

    @Test("Two colours of one's own are a preset; what is none is none") func ownColors() throws {
        let own = try #require(Preset("FF8000-#000080"))
        #expect(own.outer == Color(hex: 0xFF8000) && own.inner == Color(hex: 0x000080) && own.name == "FF8000-#000080")
        for wrong in ["FF8000", "FF800-000080", "FF8000-00008G", "FF8000-000080-FFFFFF", "+F8000-000080", "-"] {
            #expect(Preset(wrong) == nil, "\(wrong)")
        }
        #expect(Preset(named: "FF8000-00008G") == .verdant)
        let state = PictureState(bands: Array(repeating: 1, count: 10))
        let image = BarsPicture(preset: own).draw(state, width: 160, height: 160)
        #expect(near(image[6, 80], own.inner) && image[6, 20].rgba.x > 0.8)
    }

    @Test("A visualizer can be told all styles, and no others") func declared() throws {
        let settings = NodeRegistry().catalog(for: ["visualizer"]).descriptor("visualizer")?.settings
        #expect(settings?.first { $0.key == "style" }?.choices == PictureStyle.allCases.map(\.rawValue))
    }

    @Test("T6: Guessed bars fall from left to right within a fifth", arguments: [UInt64(0), 1, 99])
    func guessedBars(seed: UInt64) {
        let bars = BarValues.guess(level: 0.7, seed: seed)
        #expect(bars.count == 10)
        for (index, bar) in bars.enumerated() {
            let middle = 0.7 * (1 - 0.6 * Float(index) / 9)
            #expect(bar >= middle * 0.8 - 1e-6 && bar <= middle * 1.2 + 1e-6)
        }
        #expect(bars == BarValues.guess(level: 0.7, seed: seed))
        #expect(bars != BarValues.guess(level: 0.7, seed: seed + 1))
        #expect(BarValues.guess(level: 0.04, seed: seed).allSatisfy { $0 == 0 })
        #expect(BarValues.shown(0.05) == 0)
        #expect(BarValues.shown(0.06) == 0.06)
    }

    @Test("T6: Bars are 20 to 80 percent high, and 30 when nothing is known") func barHeights() {
        #expect(BarsPicture.height(of: 0) == 0.2)
        #expect(abs(BarsPicture.height(of: 1) - 0.8) < 1e-6)
        #expect(BarsPicture.height(of: nil) == 0.3)
        for (bands, share) in [([Float](), 0.3), ([Float](repeating: 1, count: 10), 0.8)] {
            let image = BarsPicture().draw(PictureState(bands: bands), width: 160, height: 160)
            let rows = (0..<160).filter { y in (0..<160).contains { image[$0, y].rgba.w > 0.5 } }
            #expect(abs(Double(rows.count) - 160 * share) <= 2)
            var runs = 0
            for x in 1..<160 where image[x, 80].rgba.w > 0.5 && image[x - 1, 80].rgba.w <= 0.5 { runs += 1 }
            #expect(runs + (image[0, 80].rgba.w > 0.5 ? 1 : 0) == 10)
        }
    }

    @Test("T6: Bars ease in and out over 150 ms") func barEase() {
        var ease = BarsEase()
        #expect(ease.values(at: 0).isEmpty)
        ease.set([1, 0.5], at: 0)
        #expect(abs(ease.values(at: 0.075)[0] - 0.5) < 1e-6)
        #expect(ease.values(at: 0.15) == [1, 0.5])
        #expect(ease.isSettled(at: 0.15))
    }

    @Test("W1: A wave is an arch times a sine") func wave() {
        // At a quarter of the width the arch is 0.75 and the sine's phase 0.75 pi.
        let expected = 0.75 * 50 * 0.5 * sinf(0.75 * .pi) + 50
        #expect(abs(WaveShape.y(x: 50, width: 200, height: 100, amplitude: 0.5, phase: 0) - expected) < 1e-4)
        #expect(WaveShape.y(x: 0, width: 200, height: 100, amplitude: 1, phase: 1) == 50)
        #expect(abs(WaveShape.y(x: 200, width: 200, height: 100, amplitude: 1, phase: 1) - 50) < 1e-4)
        let points = WaveShape.points(width: 20, height: 10, amplitude: 1, phase: 0, density: 5)
        #expect(points.map(\.x) == [0, 5, 10, 15, 20, 25])
    }

    @Test("W3: The phase falls by 1.5 in each 100 ms, linear between") func phase() {
        #expect(WaveShape.phase(at: 0) == 0)
        #expect(abs(WaveShape.phase(at: 0.1) + 1.5) < 1e-6)
        #expect(abs(WaveShape.phase(at: 0.15) + 2.25) < 1e-6)
    }

    @Test(
        "W1: There are one and a half waves; the lower a sound lies, the longer they are, but only where that is asked for"
    )
    func waveLength() throws {
        #expect([0, 0.5, 1].map { WaveForm().frequency(brightness: $0) } == [1.5, 1.5, 1.5])
        #expect(WaveForm(follows: true).frequency(brightness: 0.5) == 1.5)
        #expect(WaveForm(frequency: 3).frequency(brightness: 1) == 3)
        #expect(PictureState.brightness(of: [0, 0, 0]) == nil && PictureState.brightness(of: [1]) == nil)
        #expect(PictureState.brightness(of: [1, 1, 1, 1, 1]) == 0.5)
        /// How often the waves cross the middle of the picture, all together.
        func crossings(_ brightness: Float) -> Int {
            let image = WavePicture(form: WaveForm(follows: true)).draw(
                PictureState(level: 0.9, brightness: brightness), width: 320, height: 160)
            return (1..<320).count { x in
                func height(_ x: Int) -> Int? { (0..<160).max { image[x, $0].rgba.w < image[x, $1].rgba.w } }
                return height(x - 1).map { $0 < 80 } != height(x).map { $0 < 80 }
            }
        }
        let low = try #require(PictureState.brightness(of: [1] + [Float](repeating: 0, count: 9)))
        let high = try #require(PictureState.brightness(of: [Float](repeating: 0, count: 9) + [0.7]))
        #expect(low == 0 && high == 1)
        #expect(crossings(low) < crossings(0.5) && crossings(0.5) < crossings(high))
        for (brightness, name) in [(low, "low"), (high, "high")] {
            try look(
                WavePicture(form: WaveForm(follows: true)).draw(
                    PictureState(level: 0.9, brightness: brightness), width: 320, height: 160),
                "wave-\(name)")
        }
    }

    @Test(
        "W1: The first wave is drawn where its formula says, within half a pixel",
        arguments: [WaveForm(), WaveForm(frequency: 2.5, density: 4), WaveForm(follows: true)], [Float(0), 1])
    func drawnWave(form: WaveForm, brightness: Float) {
        let (width, height, time) = (800, 400, 1.23)
        let image = WavePicture(form: form).draw(
            PictureState(level: 1, brightness: brightness, time: time), width: width, height: height)
        let periods = Double(form.frequency(brightness: brightness))
        func wave(_ x: Double) -> Double {
            let arch = 1 - (2 * x / 800 - 1) * (2 * x / 800 - 1)
            return 200 * (1 + arch * 0.7 * sin(2 * .pi * periods * x / 800 - 15 * time))
        }
        var errors: [Double] = []
        // Where it is far out no other wave is further out; its line is 3.75 pixels thick across its slope.
        for x in stride(from: 5, to: 795, by: 5) where abs(wave(Double(x) + 0.5) - 200) > 60 {
            let (center, slope) = (wave(Double(x) + 0.5), wave(Double(x) + 1) - wave(Double(x)))
            let isAbove = center < 200
            let column = (0..<height).map { Double(image[x, isAbove ? $0 : height - 1 - $0].rgba.w) }
            guard let first = column.firstIndex(where: { $0 > 0 }) else {
                errors.append(.infinity)
                continue
            }
            // The first pixels are painted in part.
            let edge = Double(first + 3) - column[first..<first + 3].reduce(0, +)
            let half = 1.875 * (1 + slope * slope).squareRoot()
            errors.append(abs(edge - (isAbove ? center : 400 - center) + half))
        }
        #expect(errors.count > 20 && errors.allSatisfy { $0 < 0.5 }, "\(errors.max() ?? 0)")
    }

    @Test("W2: Five waves, of which two hang upside down, each fainter and thinner than the one before")
    func fiveWaves() {
        #expect(WaveShape.amplitudes == [0.7, 0.4, 0.1, -0.2, -0.5])
        #expect(WaveShape.alphas == [1, 0.867, 0.733, 0.6, 0.467])
        #expect(WaveShape.widths == [1.5, 0.75, 0.5, 0.375, 0.3])
        // A quarter of a period after the left edge, where all are far from the middle, from the top.
        let (width, height) = (600, 320)
        let state = PictureState(level: 1)
        let image = WavePicture().draw(state, width: width, height: height)
        let column = 100
        let lines = WaveShape.amplitudes.map { amplitude in
            Int(
                WaveShape.y(
                    x: Float(column) + 0.5, width: Float(width), height: Float(height), amplitude: amplitude, phase: 0))
        }
        let shown = lines.map { y in (y - 3...y + 3).reduce(Float(0)) { $0 + image[column, $1].rgba.w } }
        #expect(Set(lines).count == 5 && lines == lines.sorted(by: >))
        #expect(shown == shown.sorted(by: >) && shown[0] > 2 && shown[4] > 0.1)
        // Nothing in between.
        #expect(image[column, (lines[0] + lines[1]) / 2].rgba.w == 0)
    }

    @Test("W3: A silent wave is a flat line that does not move") func flatLine() {
        let still = WavePicture().draw(PictureState(level: 0, time: 1), width: 80, height: 41)
        #expect(still == WavePicture().draw(PictureState(level: 0, time: 1.234), width: 80, height: 41))
        #expect((0..<80).allSatisfy { still[$0, 20].rgba.w > 0.5 && still[$0, 10].rgba.w == 0 })
    }

    @Test("Colours of a film are those of ITU-R BT.709, and what is clear has the ground's") func film() {
        var image = PixelImage(width: 8, height: 2)
        let colors: [(Color, [UInt8])] = [
            (Color(1, 1, 1), [235, 128, 128]), (Color(1, 0, 0), [63, 102, 240]), (Color(0, 0, 1), [32, 240, 118]),
        ]
        for (column, color) in colors.enumerated() {
            for place in [0, 1, 8, 9] { image.pixels[2 * column + place] = color.0.premultiplied }
        }
        let bytes = image.yuv420(over: Color(0, 1, 0))
        #expect(bytes.count == 24)
        for (column, color) in (colors + [(Color.black, [173, 42, 26])]).enumerated() {
            #expect([bytes[2 * column], bytes[16 + column], bytes[20 + column]] == color.1, "\(color.0)")
            #expect(Set([0, 1, 8, 9].map { bytes[2 * column + $0] }).count == 1)
        }
        // A half of black over white is grey.
        image.pixels = Array(repeating: SIMD4(0, 0, 0, 0.5), count: 16)
        #expect(image.yuv420(over: .white)[0] == 126 && image.yuv420(over: .white)[16] == 128)
    }

    private func near(_ a: Color, _ b: Color) -> Bool {
        let difference = a.rgba - b.rgba
        return (difference * difference).sum() < 0.01
    }
}
