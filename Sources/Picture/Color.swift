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

/// The colour sets of bars and waves: vertical, from one colour to another and back.
public enum Preset: String, Sendable, CaseIterable {
    case verdant, twilight, bloom, mystic, flare, glacier

    /// Finds a preset by name, ignoring case; unknown names give verdant.
    public init(named name: String) { self = Preset(rawValue: name.lowercased()) ?? .verdant }

    /// The colour at top and bottom.
    public var outer: Color {
        switch self {
        case .verdant: Color(hex: 0xD3FFA6)
        case .twilight: Color(hex: 0x81B9FF)
        case .bloom: Color(hex: 0xFFD4FE)
        case .mystic: Color(hex: 0x1F023A)
        case .flare: Color(hex: 0xFFFFFF)
        case .glacier: Color(hex: 0x4CE5F2)
        }
    }

    /// The colour in the middle.
    public var inner: Color {
        switch self {
        case .verdant: Color(hex: 0x036B5B)
        case .twilight: Color(hex: 0x371A5E)
        case .bloom: Color(hex: 0xFD05F9)
        case .mystic: Color(hex: 0xCA76FF)
        case .flare: Color(hex: 0xFC5F00)
        case .glacier: Color(hex: 0x005A98)
        }
    }

    /// From top to bottom.
    public var gradient: Gradient { Gradient(even: [outer, inner, outer]) }
}
