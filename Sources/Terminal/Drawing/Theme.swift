// SPDX-License-Identifier: Apache-2.0
import Glibc
import Picture

/// The styles of everything, for one terminal.
struct Theme: Sendable {
    var capabilities: TerminalCapabilities
    let title: Style
    let text = Style.plain
    let quiet: Style
    let line: Style
    let accent: Style
    let word: Style
    let spoken: Style
    let warning: Style
    let error: Style
    let clip: Style
    let rail: Ink
    /// Whether unlit parts of meters are a ground rather than a character.
    let grounds: Bool
    private let scale: [Ink]
    private let dimScale: [Ink]

    init(_ capabilities: TerminalCapabilities) {
        self.capabilities = capabilities
        let light = capabilities.light
        let rich = capabilities.colors >= .palette
        func ink(_ dark: UInt32, _ bright: UInt32) -> Ink { capabilities.ink(Color(hex: light ? bright : dark)) }
        func style(_ dark: UInt32, _ bright: UInt32, _ attributes: UInt8 = 0) -> Style {
            Style(foreground: ink(dark, bright), attributes: attributes)
        }
        let none = capabilities.colors == .none
        title = style(0x7FDBFF, 0x005F87, Style.bold)
        quiet = rich ? style(0x8B93A1, 0x6B7280) : Style(attributes: none ? Style.dim : 0)
        line = rich ? style(0x3B414D, 0xC8CCD4) : Style(attributes: Style.dim)
        accent = style(0x7FDBFF, 0x005F87)
        word =
            none
            ? Style(attributes: Style.bold | Style.reversed)
            : Style(
                foreground: rich ? ink(0x101014, 0xFFFFFF) : .palette(0), background: ink(0x7FDBFF, 0x0077B6),
                attributes: Style.bold)
        spoken = rich ? style(0xE6E9EF, 0x1F2430) : .plain
        warning = style(0xFFC15E, 0x9A5B00, Style.bold)
        error = style(0xFF6B6B, 0xC62828, Style.bold)
        clip =
            none
            ? Style(attributes: Style.bold | Style.reversed)
            : Style(foreground: capabilities.ink(.white), background: ink(0xE5383B, 0xC62828), attributes: Style.bold)
        rail = ink(0x23272F, 0xE3E6EB)
        grounds = rich
        let meter =
            light
            ? Gradient([
                .init(0, Color(hex: 0x0F9D8A)), .init(0.6, Color(hex: 0x2E9E4F)), .init(0.8, Color(hex: 0xC99700)),
                .init(0.92, Color(hex: 0xD9660A)), .init(1, Color(hex: 0xC62828)),
            ])
            : Gradient([
                .init(0, Color(hex: 0x1FB6A6)), .init(0.6, Color(hex: 0x46D17C)), .init(0.8, Color(hex: 0xF4D35E)),
                .init(0.92, Color(hex: 0xFF9F45)), .init(1, Color(hex: 0xFF4D4F)),
            ])
        let ground = light ? Color.white : Color(hex: 0x14161B)
        scale = (0...60).map { capabilities.ink(meter.color(at: Float($0) / 60)) }
        dimScale = (0...60).map { capabilities.ink(meter.color(at: Float($0) / 60).mixed(with: ground, 0.62)) }
    }

    /// The colour of a meter at a level in dBFS.
    func meter(_ level: Double) -> Ink { scale[index(level)] }
    /// The colour between body and peak.
    func meterPeak(_ level: Double) -> Ink { dimScale[index(level)] }

    /// How something looks that takes a share of a whole, 0...1: as a meter does that many dB below full scale.
    func heat(_ share: Double) -> Style {
        let loud = share >= 0.5
        guard capabilities.colors > .none else { return Style(attributes: loud ? Style.bold : 0) }
        return Style(foreground: meter(share > 0 ? 20 * log10(share) : -60), attributes: loud ? Style.bold : 0)
    }

    private func index(_ level: Double) -> Int { Int(min(max(level + 60, 0), 60)) }

    /// A character, or its stand-in where there is only ASCII.
    func sign(_ unicode: Unicode.Scalar, _ ascii: Unicode.Scalar) -> Unicode.Scalar {
        capabilities.unicode ? unicode : ascii
    }

    /// Text, or its stand-in where there is only ASCII.
    func words(_ unicode: String, _ ascii: String) -> String { capabilities.unicode ? unicode : ascii }
}
