// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What people call parameters and their values, in files and in calls alike.
extension Parameter {
    /// The number that a text means: the label of a point, on or off of a switch, or a number with the parameter's unit
    /// behind it ("-6 dB", "2kHz", "20 ms"); nil: it means none. A number alone is no text. [any]
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
        guard !unit.isEmpty, let number = Double(digits), number.isFinite else { return nil }
        let given = text.dropFirst(digits.count).drop { $0 == " " }
        if given.lowercased() == unit.lowercased() { return number }
        guard let scale = Self.scales[unit]?[String(given)] else { return nil }
        return number * scale
    }

    /// By what a number is multiplied that is given in another unit.
    private static let scales: [String: [String: Double]] = [
        "Hz": ["kHz": 1000, "khz": 1000, "k": 1000],
        "s": ["ms": 0.001, "us": 1e-6, "min": 60],
        "ms": ["s": 1000, "us": 0.001],
    ]

    /// The values that have names, as a hint; empty: none has.
    var pointsHint: String {
        points.isEmpty ? "" : "it may be " + points.prefix(12).map(\.label).joined(separator: ", ")
    }
}

extension NodeInstance {
    /// The parameter that is called so: by its key, also behind "params." as in a file, or else its label in any
    /// capitals. Throws where there is none, or where several have the label. [any]
    public func parameter(called word: String) throws(NodeError) -> Int {
        if let index = parameterIndex(word) { return index }
        if word.hasPrefix("params."), let index = parameterIndex(String(word.dropFirst("params.".count))) {
            return index
        }
        let lowered = word.lowercased()
        let labelled = parameters.indices.filter { !word.isEmpty && parameters[$0].label.lowercased() == lowered }
        if labelled.count == 1 { return labelled[0] }
        guard labelled.isEmpty else {
            let keys = labelled.map { parameters[$0].key }.joined(separator: ", ")
            throw NodeError(
                "node '\(name)' has \(labelled.count) parameters called '\(shortened(word))'",
                hint: "use a key: \(keys)")
        }
        throw noParameter(word)
    }

    /// Why a word is no parameter's name.
    private func noParameter(_ word: String) -> NodeError {
        let live = declarations.settings.filter(\.isLive).map(\.key)
        if ["bypass", "mute"].contains(word) {
            return NodeError("'\(word)' is no parameter of node '\(name)'", hint: "the call '\(word)' switches it")
        }
        if NodeDescription.commonKeys.contains(word) || declarations.settings.contains(where: { $0.key == word }) {
            let rest = live.isEmpty ? "" : "; live are \(live.joined(separator: ", "))"
            return NodeError(
                "'\(word)' of node '\(name)' is fixed while it plays",
                hint: "change it in the file and reload\(rest)")
        }
        var suggester = Suggester()
        let keys = parameters.map(\.key) + live
        let all = keys.isEmpty ? "it has none" : "it has: \(keys.joined(separator: ", "))"
        return NodeError(
            "node '\(name)' has no parameter '\(shortened(word))'",
            hint: suggester.hint(word, among: keys + parameters.map(\.label).filter { !$0.isEmpty }, otherwise: all))
    }
}
