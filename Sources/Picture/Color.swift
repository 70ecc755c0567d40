// SPDX-License-Identifier: Apache-2.0

/// A colour in sRGB with straight alpha; every component is 0...1.
public struct Color: Sendable, Hashable {
    /// Red, green, blue, alpha.
    public var rgba: SIMD4<Float>

    /// Describes a colour by its components.
    public init(_ red: Float, _ green: Float, _ blue: Float, _ alpha: Float = 1) {
        rgba = SIMD4(red, green, blue, alpha)
    }

    /// Wraps components.
    @inlinable
    public init(rgba: SIMD4<Float>) { self.rgba = rgba }

    /// An opaque colour as it is written in a style sheet: `0xD3FFA6`.
    public init(hex: UInt32) {
        self.init(
            Float((hex >> 16) & 255) / 255, Float((hex >> 8) & 255) / 255, Float(hex & 255) / 255)
    }

    /// As a style sheet has it, without alpha: "#d3ffa6".
    var hex: String {
        "#"
            + (0..<3).map { place in
                let digits = String(Int((rgba[place] * 255).rounded()), radix: 16)
                return digits.count < 2 ? "0" + digits : digits
            }.joined()
    }

    /// The same colour with its alpha multiplied.
    public func opacity(_ factor: Float) -> Color {
        var result = self
        result.rgba.w *= factor
        return result
    }

    /// On the way from this colour (0) to another (1).
    public func mixed(with other: Color, _ t: Float) -> Color { Color(rgba: rgba + (other.rgba - rgba) * t) }

    /// Colour times alpha, as images keep it.
    @inlinable
    public var premultiplied: SIMD4<Float> {
        SIMD4(rgba.x * rgba.w, rgba.y * rgba.w, rgba.z * rgba.w, rgba.w)
    }

    /// How bright it looks, 0...1 (Rec. 709 weights on the encoded components), alpha included.
    public var luminance: Float { (0.2126 * rgba.x + 0.7152 * rgba.y + 0.0722 * rgba.z) * rgba.w }

    /// White.
    public static let white = Color(1, 1, 1)
    /// Black.
    public static let black = Color(0, 0, 0)
}

/// Colours along 0...1, linear between the stops, constant outside.
public struct Gradient: Sendable, Hashable {
    /// One colour at one place.
    public struct Stop: Sendable, Hashable {
        /// 0...1.
        public var place: Float
        /// The colour there.
        public var color: Color

        /// Places a colour.
        public init(_ place: Float, _ color: Color) {
            self.place = place
            self.color = color
        }
    }

    /// In ascending order; never empty.
    public let stops: [Stop]

    /// Wraps stops; without any the gradient is clear.
    public init(_ stops: [Stop]) { self.stops = stops.isEmpty ? [Stop(0, Color(0, 0, 0, 0))] : stops }

    /// Spreads colours evenly.
    public init(even colors: [Color]) {
        let last = Float(max(colors.count - 1, 1))
        self.init(colors.enumerated().map { Stop(Float($0.offset) / last, $0.element) })
    }

    /// The colour at a place; NaN counts as 0.
    public func color(at place: Float) -> Color {
        var previous = stops[0]
        guard place > previous.place else { return previous.color }
        for stop in stops.dropFirst() {
            if place <= stop.place {
                let span = stop.place - previous.place
                return span > 0 ? previous.color.mixed(with: stop.color, (place - previous.place) / span) : stop.color
            }
            previous = stop
        }
        return previous.color
    }
}

/// The colours of a picture: vertical, from one colour to another and back.
public struct Preset: Sendable, Hashable, CaseIterable {
    /// What it is called; of colours of one's own, as they are written.
    public let name: String
    /// The colour at top and bottom.
    public let outer: Color
    /// The colour in the middle.
    public let inner: Color

    private init(_ name: String, _ outer: UInt32, _ inner: UInt32) {
        (self.name, self.outer, self.inner) = (name, Color(hex: outer), Color(hex: inner))
    }

    /// All that have names.
    public static let allCases: [Preset] = [.verdant, .twilight, .bloom, .mystic, .flare, .glacier]
    /// Light green and dark green.
    public static let verdant = Preset("verdant", 0xD3FFA6, 0x036B5B)
    /// Light blue and violet.
    public static let twilight = Preset("twilight", 0x81B9FF, 0x371A5E)
    /// Pink and magenta.
    public static let bloom = Preset("bloom", 0xFFD4FE, 0xFD05F9)
    /// Dark violet and lilac.
    public static let mystic = Preset("mystic", 0x1F023A, 0xCA76FF)
    /// White and orange.
    public static let flare = Preset("flare", 0xFFFFFF, 0xFC5F00)
    /// Cyan and dark blue.
    public static let glacier = Preset("glacier", 0x4CE5F2, 0x005A98)

    /// Finds a preset by name, ignoring case, or takes two colours of one's own, outer and inner, as "D3FFA6-036B5B"; nil
    /// for anything else.
    public init?(_ text: String) {
        let name = text.lowercased()
        if let known = Self.allCases.first(where: { $0.name == name }) {
            self = known
            return
        }
        let colors = name.split(separator: "-", omittingEmptySubsequences: false).map { part -> UInt32? in
            let digits = part.hasPrefix("#") ? part.dropFirst() : part
            return digits.utf8.count == 6 && digits.first != "+" ? UInt32(digits, radix: 16) : nil
        }
        guard colors.count == 2, let outer = colors[0], let inner = colors[1] else { return nil }
        self.init(text, outer, inner)
    }

    /// The same, but what is unknown gives verdant.
    public init(named name: String) { self = Preset(name) ?? .verdant }

    /// From top to bottom.
    public var gradient: Gradient { Gradient(even: [outer, inner, outer]) }

    /// From what is quiet to what is loud: what is loud stands out from the ground.
    func rising(onLight: Bool) -> Gradient {
        let colors = [outer, inner].sorted { $0.luminance < $1.luminance }
        return Gradient(even: onLight ? colors.reversed() : colors)
    }
}
