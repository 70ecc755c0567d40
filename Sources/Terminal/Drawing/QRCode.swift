// SPDX-License-Identifier: Apache-2.0

/// A text as a QR code (ISO/IEC 18004): bytes, error correction level L, versions 1 to 10.
struct QRCode: Sendable {
    /// Modules across and down, without the quiet zone.
    private(set) var size: Int
    private var dark: [Bool]
    /// Modules that are no data: patterns, format and version.
    private var fixed: [Bool]

    /// Light modules that belong around it.
    static let quietZone = 4

    /// By version: codewords of error correction in a block, and blocks.
    private static let correction = [
        (7, 1), (10, 1), (15, 1), (20, 1), (26, 1), (18, 2), (20, 2), (24, 2), (30, 2), (18, 4),
    ]

    /// Nil: the text has more than 271 bytes.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let fitting = (1...10).first { version in
            let (check, blocks) = Self.correction[version - 1]
            return 12 + (version > 9 ? 8 : 0) + 8 * bytes.count <= 8 * (Self.codewords(version) - check * blocks)
        }
        guard let version = fitting else { return nil }
        size = 17 + 4 * version
        dark = Array(repeating: false, count: size * size)
        fixed = dark
        drawPatterns(version)
        draw(Self.interleaved(Self.data(bytes, version), version))
        let all = (0..<8).map { masked(by: $0) }.map { (code: $0, penalty: $0.penalty) }
        self = all.min { $0.penalty < $1.penalty }?.code ?? self
    }

    /// Whether a module is dark; those outside are light.
    subscript(x: Int, y: Int) -> Bool {
        x >= 0 && y >= 0 && x < size && y < size && dark[y * size + x]
    }

    /// Codewords of a version, data and error correction.
    private static func codewords(_ version: Int) -> Int {
        var modules = (16 * version + 128) * version + 64
        if version >= 2 {
            let aligned = version / 7 + 2
            modules -= (25 * aligned - 10) * aligned - 55
        }
        if version >= 7 { modules -= 36 }
        return modules / 8
    }

    /// Mode, length, bytes, end and padding.
    private static func data(_ bytes: [UInt8], _ version: Int) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) }
        }
        append(0b0100, 4)
        append(bytes.count, version > 9 ? 16 : 8)
        for byte in bytes { append(Int(byte), 8) }
        let (check, blocks) = correction[version - 1]
        let room = codewords(version) - check * blocks
        append(0, min(4, 8 * room - bits.count))
        append(0, (8 - bits.count % 8) % 8)
        for pad in 0..<(room - bits.count / 8) { append(pad % 2 == 0 ? 0xEC : 0x11, 8) }
        return stride(from: 0, to: bits.count, by: 8).map { first in
            bits[first..<first + 8].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
        }
    }

    /// Blocks with their error correction, a codeword of each after the other. The last blocks may be longer by one.
    private static func interleaved(_ data: [UInt8], _ version: Int) -> [UInt8] {
        let (check, count) = correction[version - 1]
        let short = data.count / count
        let long = data.count % count
        var rest = data[...]
        let blocks = (0..<count).map { block in
            let length = short + (block >= count - long ? 1 : 0)
            defer { rest = rest.dropFirst(length) }
            return Array(rest.prefix(length))
        }
        let checks = blocks.map { remainder($0, check) }
        let spread = (0...short).flatMap { place in blocks.compactMap { $0.count > place ? $0[place] : nil } }
        return spread + (0..<check).flatMap { place in checks.map { $0[place] } }
    }

    /// Reed-Solomon: what is left of the data over (x - 1)(x - 2)(x - 4)... in the field of x^8 + x^4 + x^3 + x^2 + 1.
    private static func remainder(_ data: [UInt8], _ count: Int) -> [UInt8] {
        func times(_ a: UInt8, _ b: UInt8) -> UInt8 {
            (0..<8).reversed().reduce(0) { product, bit in
                (product << 1) ^ (product >> 7 == 1 ? 0x1D : 0) ^ (b >> UInt8(bit) & 1 == 1 ? a : 0)
            }
        }
        var divisor = [UInt8](repeating: 0, count: count - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<count {
            for place in 0..<count {
                divisor[place] = times(divisor[place], root) ^ (place + 1 < count ? divisor[place + 1] : 0)
            }
            root = times(root, 2)
        }
        return data.reduce(into: [UInt8](repeating: 0, count: count)) { result, byte in
            let factor = byte ^ result.removeFirst()
            result.append(0)
            for place in 0..<count { result[place] ^= times(divisor[place], factor) }
        }
    }

    private mutating func set(_ x: Int, _ y: Int, _ isDark: Bool) {
        guard x >= 0, y >= 0, x < size, y < size else { return }
        dark[y * size + x] = isDark
        fixed[y * size + x] = true
    }

    private mutating func drawPatterns(_ version: Int) {
        for place in 0..<size {
            set(6, place, place % 2 == 0)
            set(place, 6, place % 2 == 0)
        }
        for (x, y) in [(3, 3), (size - 4, 3), (3, size - 4)] {
            for dy in -4...4 {
                for dx in -4...4 {
                    let ring = max(abs(dx), abs(dy))
                    set(x + dx, y + dy, ring != 2 && ring != 4)
                }
            }
        }
        let aligned = version < 2 ? [] : version < 7 ? [6, size - 7] : [6, size / 2, size - 7]
        for x in aligned {
            for y in aligned where (x, y) != (6, 6) && (x, y) != (6, size - 7) && (x, y) != (size - 7, 6) {
                for dy in -2...2 { for dx in -2...2 { set(x + dx, y + dy, max(abs(dx), abs(dy)) != 1) } }
            }
        }
        drawFormat(mask: 0)
        guard version >= 7 else { return }
        let bits = version << 12 | Self.checked(version, 12, 0x1F25)
        for bit in 0..<18 {
            let (x, y) = (size - 11 + bit % 3, bit / 3)
            set(x, y, bits >> bit & 1 == 1)
            set(y, x, bits >> bit & 1 == 1)
        }
    }

    /// What is left of a value with `count` zeros behind it, over a polynomial of that degree.
    private static func checked(_ value: Int, _ count: Int, _ polynomial: Int) -> Int {
        (0..<count).reduce(value) { rest, _ in rest << 1 ^ (rest >> (count - 1) & 1) * polynomial }
    }

    /// Level L and the mask, twice.
    private mutating func drawFormat(mask: Int) {
        let value = 0b01 << 3 | mask
        let bits = (value << 10 | Self.checked(value, 10, 0x537)) ^ 0x5412
        for bit in 0..<15 {
            let isDark = bits >> bit & 1 == 1
            // Down at the right of the upper corner, then leftwards below it, both without the line of timing.
            if bit < 8 { set(8, bit < 6 ? bit : bit + 1, isDark) } else { set(bit == 8 ? 7 : 14 - bit, 8, isDark) }
            if bit < 8 { set(size - 1 - bit, 8, isDark) } else { set(8, size - 15 + bit, isDark) }
        }
        set(8, size - 8, true)
    }

    /// Two columns at a time from the right, up and down by turns, around what is fixed.
    private mutating func draw(_ codewords: [UInt8]) {
        var bit = 0
        for right in [Int](stride(from: size - 1, to: 6, by: -2)) + [5, 3, 1] {
            let isUpward = (size - 1 - right - (right < 6 ? 1 : 0)) / 2 % 2 == 0
            for step in 0..<size {
                let y = isUpward ? size - 1 - step : step
                for x in [right, right - 1] where !fixed[y * size + x] && bit < codewords.count * 8 {
                    dark[y * size + x] = codewords[bit / 8] >> UInt8(7 - bit % 8) & 1 == 1
                    bit += 1
                }
            }
        }
    }

    private func masked(by mask: Int) -> QRCode {
        var code = self
        for y in 0..<size {
            for x in 0..<size where !fixed[y * size + x] {
                let isTurned =
                    switch mask {
                    case 0: (x + y) % 2 == 0
                    case 1: y % 2 == 0
                    case 2: x % 3 == 0
                    case 3: (x + y) % 3 == 0
                    case 4: (x / 3 + y / 2) % 2 == 0
                    case 5: x * y % 2 + x * y % 3 == 0
                    case 6: (x * y % 2 + x * y % 3) % 2 == 0
                    default: ((x + y) % 2 + x * y % 3) % 2 == 0
                    }
                if isTurned { code.dark[y * size + x].toggle() }
            }
        }
        code.drawFormat(mask: mask)
        return code
    }

    /// How hard it is to read: long runs, squares, what looks like a corner, and more of the one colour than of the other.
    private var penalty: Int {
        var sum = 0
        let corner: [[Bool]] = [
            [true, false, true, true, true, false, true, false, false, false, false],
            [false, false, false, false, true, false, true, true, true, false, true],
        ]
        for line in 0..<size {
            for modules in [(0..<size).map { self[$0, line] }, (0..<size).map { self[line, $0] }] {
                var run = 1
                for place in 1...size {
                    if place < size, modules[place] == modules[place - 1] {
                        run += 1
                    } else {
                        if run >= 5 { sum += run - 2 }
                        run = 1
                    }
                }
                for first in 0...(size - 11) where corner.contains(Array(modules[first..<first + 11])) { sum += 40 }
            }
        }
        for y in 1..<size {
            for x in 1..<size {
                let square = [self[x, y], self[x - 1, y], self[x, y - 1], self[x - 1, y - 1]]
                if Set(square).count == 1 { sum += 3 }
            }
        }
        let share = 100 * dark.count { $0 } / dark.count
        return sum + abs(share - 50) / 5 * 10
    }
}
