// SPDX-License-Identifier: Apache-2.0
import Picture

/// What a terminal can show, as far as its environment tells.
public struct TerminalCapabilities: Sendable, Equatable {
    /// How many colours there are; each step can do what the ones before it can.
    public enum Colors: Int, Sendable, CaseIterable, Comparable {
        /// None: bold and dim at most.
        case none
        /// The sixteen of old.
        case sixteen
        /// 256.
        case palette
        /// 24 bits.
        case truecolor

        /// Fewer colours first.
        public static func < (a: Colors, b: Colors) -> Bool { a.rawValue < b.rawValue }
    }

    /// The colours.
    public var colors: Colors
    /// Whether text may go beyond ASCII.
    public var unicode: Bool
    /// Whether the background is light.
    public var light: Bool
    /// Whether the cursor can be moved; a terminal without that gets lines of text.
    public var addressable: Bool
    /// How it shows pixels; nil: it does not, or is not known to.
    public var graphics: Graphics?
    /// The colour of the background, where it was told.
    var told: Color?

    /// The colour of the background, as far as it is known.
    var ground: Color { told ?? (light ? .white : .black) }

    /// Describes a terminal.
    public init(
        colors: Colors = .truecolor, unicode: Bool = true, light: Bool = false, addressable: Bool = true,
        graphics: Graphics? = nil
    ) {
        self.graphics = graphics
        self.colors = colors
        self.unicode = unicode
        self.light = light
        self.addressable = addressable
    }

    /// Reads TERM, COLORTERM, NO_COLOR, COLORFGBG and the locale variables.
    public init(environment: [String: String]) {
        func given(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let term = (given("TERM") ?? "dumb").lowercased()
        let colorTerm = (given("COLORTERM") ?? "").lowercased()
        addressable = term != "dumb" && term != "unknown"
        if !addressable || given("NO_COLOR") != nil || term.hasPrefix("vt") {
            colors = .none
        } else if colorTerm == "truecolor" || colorTerm == "24bit" || term.hasSuffix("-direct") {
            colors = .truecolor
        } else if term.hasSuffix("256color") {
            colors = .palette
        } else {
            colors = .sixteen
        }
        let locale = (given("LC_ALL") ?? given("LC_CTYPE") ?? given("LANG") ?? "").lowercased()
        unicode = locale.hasSuffix("utf-8") || locale.hasSuffix("utf8") || locale.contains("utf-8@")
        // "15;0": light text on dark ground; 7 and 15 as ground are light.
        let ground = given("COLORFGBG")?.split(separator: ";").last.flatMap { Int($0) }
        light = ground == 7 || ground == 15
    }

    /// What a colour becomes here.
    func ink(_ color: Color) -> Ink {
        switch colors {
        case .none: .standard
        case .sixteen: .palette(nearestOfSixteen(color))
        case .palette: .palette(nearestOf256(color))
        case .truecolor: .rgb(color)
        }
    }

    /// What a coarse picture's pixel becomes here: in steps that the eye does not tell apart, so that slow changes
    /// cost little.
    func pictureInk(_ color: Color) -> Ink {
        guard colors == .truecolor else { return ink(color) }
        return .rgb(Color(rgba: (color.rgba * 63 + 0.5).rounded(.down) / 63))
    }
}

/// A colour as a terminal is told it, in four bytes: comparing cells must be cheap.
struct Ink: Sendable, Hashable {
    /// 0: the terminal's own; 0x01_00_00_nn: of its palette; 0x02_RR_GG_BB.
    let code: UInt32

    static let standard = Ink(code: 0)
    static func palette(_ index: UInt8) -> Ink { Ink(code: 0x0100_0000 | UInt32(index)) }
    static func rgb(_ color: Color) -> Ink {
        let scaled = (color.rgba * 255 + 0.5).clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 255))
        return Ink(code: 0x0200_0000 | UInt32(scaled.x) << 16 | UInt32(scaled.y) << 8 | UInt32(scaled.z))
    }
}

private let sixteen: [(Float, Float, Float)] = [
    (0, 0, 0), (0.8, 0, 0), (0, 0.8, 0), (0.8, 0.8, 0), (0.1, 0.1, 0.93), (0.8, 0, 0.8), (0, 0.8, 0.8),
    (0.9, 0.9, 0.9), (0.5, 0.5, 0.5), (1, 0.3, 0.3), (0.3, 1, 0.3), (1, 1, 0.3), (0.36, 0.36, 1), (1, 0.3, 1),
    (0.3, 1, 1), (1, 1, 1),
]

private func nearestOfSixteen(_ color: Color) -> UInt8 {
    var best = (distance: Float.infinity, index: 0)
    for (index, candidate) in sixteen.enumerated() {
        let (r, g, b) = (color.rgba.x - candidate.0, color.rgba.y - candidate.1, color.rgba.z - candidate.2)
        let distance = 2 * r * r + 4 * g * g + 3 * b * b
        if distance < best.distance { best = (distance, index) }
    }
    return UInt8(best.index)
}

/// The cube of 6 x 6 x 6 colours or the 24 greys, whichever is nearer.
private func nearestOf256(_ color: Color) -> UInt8 {
    let steps: [Float] = [0, 95, 135, 175, 215, 255]
    func nearest(_ value: Float) -> Int {
        let scaled = min(max(value, 0), 1) * 255
        return steps.indices.min { abs(steps[$0] - scaled) < abs(steps[$1] - scaled) } ?? 0
    }
    let (r, g, b) = (nearest(color.rgba.x), nearest(color.rgba.y), nearest(color.rgba.z))
    let mean = (color.rgba.x + color.rgba.y + color.rgba.z) / 3 * 255
    let grey = min(max(Int(((mean - 8) / 10).rounded()), 0), 23)
    let target = SIMD3(color.rgba.x, color.rgba.y, color.rgba.z) * 255
    let cube = SIMD3(steps[r], steps[g], steps[b]) - target
    let level = SIMD3(repeating: Float(8 + 10 * grey)) - target
    return (level * level).sum() < (cube * cube).sum() ? UInt8(232 + grey) : UInt8(16 + 36 * r + 6 * g + b)
}
