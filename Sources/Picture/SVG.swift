// SPDX-License-Identifier: Apache-2.0

/// An SVG drawing as text: plain attributes for light ground, which every renderer knows, and classes by which browsers,
/// and `VectorImage.style`, make it dark.
struct SVG {
    /// Of the drawing, in its own pixels.
    let width, height: Double
    private var body = ""

    init(width: Double, height: Double) { (self.width, self.height) = (width, height) }

    /// The whole file.
    func file(title: String) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(px(width)) \(px(height))" width="\(px(width))" \
        height="\(px(height))" role="img" font-family="Inter, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif">
        <title>\(xml(title))</title>
        <style>
        \(Palette.style)
        </style>
        <rect class="ground"\(fill(.ground)) width="100%" height="100%"/>
        \(body)</svg>

        """
    }

    /// Adds what is written out already.
    mutating func add(_ text: String) { body += text + "\n" }

    /// Adds a line of text; `x` is where it begins, or its middle or end.
    mutating func text(
        _ words: String, _ role: Palette.Role, _ x: Double, _ y: Double, size: Double, isBold: Bool = false,
        anchor: Anchor = .start
    ) {
        if !words.isEmpty { add(Self.text(words, role, x, y, size: size, isBold: isBold, anchor: anchor)) }
    }

    enum Anchor: String { case start, middle, end }

    static func text(
        _ words: String, _ role: Palette.Role, _ x: Double, _ y: Double, size: Double, isBold: Bool = false,
        anchor: Anchor = .start
    ) -> String {
        guard !words.isEmpty else { return "" }
        return "<text class=\"\(role)\"\(fill(role)) x=\"\(px(x))\" y=\"\(px(y))\" font-size=\"\(px(size))\""
            + (isBold ? " font-weight=\"600\"" : "") + (anchor == .start ? "" : " text-anchor=\"\(anchor)\"")
            + ">\(xml(words))</text>"
    }

    func fill(_ role: Palette.Role) -> String { Self.fill(role) }
    static func fill(_ role: Palette.Role) -> String { " fill=\"\(Palette.light(role))\"" }
}

/// A number with one decimal.
func tenths(_ value: Double) -> String {
    let whole = Int((value * 10).rounded())
    return "\(whole < 0 ? "-" : "")\(abs(whole) / 10).\(abs(whole) % 10)"
}

/// A coordinate with one decimal at most.
func px(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? String(tenths / 10) : String(Double(tenths) / 10)
}

/// Text for XML; what XML does not allow at all is left out.
func xml(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        default:
            let value = scalar.value
            if value == 9 || value == 10 || value == 13 {
                result += " "
            } else if value >= 32, !(0x7F...0x9F).contains(value), value != 0xFFFE, value != 0xFFFF {
                result.unicodeScalars.append(scalar)
            }
        }
    }
    return result
}

/// Bytes as RFC 4648 writes them.
package func base64(_ bytes: [UInt8]) -> [UInt8] {
    let signs = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    let whole = bytes.count / 3
    return [UInt8](unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { out, used in
        func write(_ word: UInt32, _ place: Int, _ count: Int) {
            for sign in 0..<count { out[4 * place + sign] = signs[Int(word >> (18 - 6 * UInt32(sign)) & 63)] }
            for sign in count..<4 { out[4 * place + sign] = UInt8(ascii: "=") }
        }
        for place in 0..<whole {
            let word = UInt32(bytes[3 * place]) << 16 | UInt32(bytes[3 * place + 1]) << 8 | UInt32(bytes[3 * place + 2])
            write(word, place, 4)
        }
        let rest = bytes[(3 * whole)...]
        if let first = rest.first {
            write(UInt32(first) << 16 | UInt32(rest.dropFirst().first ?? 0) << 8, whole, rest.count + 1)
        }
        used = (bytes.count + 2) / 3 * 4
    }
}
