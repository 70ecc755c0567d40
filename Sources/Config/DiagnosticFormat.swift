// SPDX-License-Identifier: Apache-2.0
import GraphFile
import JSON

/// Shows diagnostics to a person or to a program.
public struct DiagnosticFormat {
    /// Whether to use ANSI colours.
    public var color: Bool

    /// Describes a format.
    public init(color: Bool = false) { self.color = color }

    /// Diagnostics in the order of their places; files in the order in which they come up first.
    public static func sorted(_ diagnostics: [Diagnostic]) -> [Diagnostic] {
        var rank: [String: Int] = [:]
        for diagnostic in diagnostics where rank[diagnostic.location.file] == nil {
            rank[diagnostic.location.file] = rank.count
        }
        // The sort is stable: what has one place keeps its order.
        return diagnostics.sorted {
            (rank[$0.location.file]!, $0.location.line, $0.location.column)
                < (rank[$1.location.file]!, $1.location.line, $1.location.column)
        }
    }

    /// How many diagnostics are shown at the most.
    public static let most = 100

    /// What is shown of diagnostics, in the order of their places: all, or so many that they can be read, errors before
    /// warnings. Then the last one says how many more there are.
    public static func bounded(_ diagnostics: [Diagnostic]) -> [Diagnostic] {
        let sorted = sorted(diagnostics)
        guard sorted.count > most else { return sorted }
        let errors = sorted.indices.filter { sorted[$0].severity == .error }
        let warnings = sorted.indices.filter { sorted[$0].severity != .error }
        let shown = Set((errors + warnings).prefix(most))
        let more = Diagnostic(
            errors.count > most ? .error : .warning, "and \(sorted.count - most) more that are not shown",
            hint: "the first of many often cause the others")
        return shown.sorted().map { sorted[$0] } + [more]
    }

    /// "2 errors and 1 warning"; empty when there is nothing.
    public static func summary(_ diagnostics: [Diagnostic]) -> String {
        let errors = diagnostics.count { $0.severity == .error }
        func count(_ number: Int, _ word: String) -> String? {
            number == 0 ? nil : "\(number) \(word)\(number == 1 ? "" : "s")"
        }
        return [count(errors, "error"), count(diagnostics.count - errors, "warning")].compactMap(\.self)
            .joined(separator: " and ")
    }

    /// For people: each diagnostic with its line, a caret and its hint, `most` of them, and a count of all at the end.
    public func text(_ diagnostics: [Diagnostic]) -> String {
        guard !diagnostics.isEmpty else { return "" }
        var result = ""
        for diagnostic in Self.bounded(diagnostics) { write(diagnostic, &result) }
        return result + Self.summary(diagnostics) + "\n"
    }

    /// For programs: one JSON object a line, `most` of them and one that says how many more there are.
    public static func json(_ diagnostics: [Diagnostic]) -> String {
        bounded(diagnostics).map { diagnostic in
            JSONText.object(diagnostic.members.map { ($0, JSON($1).text) }) + "\n"
        }.joined()
    }

    private func write(_ diagnostic: Diagnostic, _ result: inout String) {
        let place = diagnostic.location
        let isError = diagnostic.severity == .error
        if !place.file.isEmpty {
            let position = place.line > 0 ? "\(place.file):\(place.line):\(place.column)" : place.file
            result += paint(harmless(position), "1") + ": "
        }
        result += paint(diagnostic.severity.rawValue + ":", isError ? "1;31" : "1;35") + " "
        result += paint(harmless(diagnostic.message), "1") + "\n"
        var indent = 2
        if let line = place.text?.line(place.line), !line.isEmpty {
            let view = LineView(line, column: place.column, length: place.length)
            let number = String(place.line)
            let margin = String(repeating: " ", count: max(1, 5 - number.count))
            result += "\(margin)\(paint(number + " |", "2")) \(view.line)\n"
            indent = margin.count + number.count + 1
            result +=
                String(repeating: " ", count: indent) + paint("|", "2") + " "
                + String(repeating: " ", count: view.column)
            result += paint(view.caret, isError ? "1;31" : "1;35") + "\n"
        }
        if !diagnostic.hint.isEmpty {
            result +=
                String(repeating: " ", count: indent) + paint("hint:", "1;36") + " " + harmless(diagnostic.hint) + "\n"
        }
    }

    private func paint(_ text: String, _ code: String) -> String { color ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
