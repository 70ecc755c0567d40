// SPDX-License-Identifier: Apache-2.0
import CNode
import Glibc

/// What people call the values of parameters, in files and in calls alike.
extension Parameter {
    /// The number that a text means: the label of a point, on or off of a switch, or a number with the parameter's unit
    /// behind it ("-6 dB", "2kHz", "20 ms"), in decibels where it is a factor; nil: it means none. A number alone is no text.
    /// [any]
    public func number(named text: String) -> Double? {
        let lowered = text.lowercased()
        if let point = points.first(where: { $0.label.lowercased() == lowered }) { return Double(point.value) }
        if flags & UInt32(VG_PARAM_TOGGLE) != 0 {
            if ["on", "true", "yes"].contains(lowered) { return 1 }
            if ["off", "false", "no"].contains(lowered) { return 0 }
        }
        return number(withUnit: text)
    }

    private func number(withUnit text: String) -> Double? {
        let digits = text.prefix { "+-.eE".contains($0) || $0.isASCII && $0.isNumber }
        // An "e" may belong to the unit.
        guard let number = Double(digits), number.isFinite else { return nil }
        let given = text.dropFirst(digits.count).drop { $0 == " " }
        if isFactor, given.lowercased() == "db" { return pow(10, number / 20) }
        guard !unit.isEmpty else { return nil }
        if given.lowercased() == unit.lowercased() { return number }
        guard let scale = Self.scales[unit]?[String(given)] else { return nil }
        return number * scale
    }

    /// Whether signals are multiplied by it: a plugin says so by the unit, or by what it calls a number without one.
    private var isFactor: Bool {
        let words = label.lowercased()
        return unit == "G"
            || unit.isEmpty && range.lowerBound >= 0 && flags & UInt32(VG_PARAM_STEPPED | VG_PARAM_TOGGLE) == 0
                && ["gain", "level", "volume"].contains { words.contains($0) }
    }

    /// By what a number is multiplied that is given in another unit.
    private static let scales: [String: [String: Double]] = [
        "Hz": ["kHz": 1000, "khz": 1000, "k": 1000],
        "s": ["ms": 0.001, "us": 1e-6, "min": 60],
        "ms": ["s": 1000, "us": 0.001],
    ]

    /// The values that have names, as a hint; empty: none has.
    package var pointsHint: String {
        points.isEmpty ? "" : "it may be " + points.prefix(12).map(\.label).joined(separator: ", ")
    }
}
