// SPDX-License-Identifier: Apache-2.0
import NodeKit

extension Event {
    /// What it says to people, as its type declares it; empty: nothing; nil: its type does not say. [any]
    public var sentence: String? {
        guard let declared = type?.sentence else { return nil }
        if declared.isEmpty { return "" }
        return (try? Sentence(declared))?.text(fields)
    }
}

/// What an event says to people, as its type declares it; see `vg_event_type.sentence` for how that is written.
struct Sentence: Sendable, Equatable {
    /// Why a text is no sentence.
    struct Fault: Error, Equatable {
        let reason: String
    }

    private enum Form: Sendable, Equatable {
        case plain, presence, time
        case decimals(Int)
        case count(String)
    }

    private enum Part: Sendable, Equatable {
        case text(String)
        case field(String, Form)
        /// The first of several of which all fields say something; nothing where there is none.
        case choice([[Part]])
    }

    private var parts: [Part]

    /// Reads a declaration.
    init(_ declared: String) throws(Fault) {
        var rest = Substring(declared)
        parts = try Self.read(&rest, isInside: false)[0]
        guard rest.isEmpty else { throw Fault(reason: "has a ] without a [") }
    }

    /// Parts until the end, or until the bracket that ends them, by the alternatives between `|`.
    private static func read(_ rest: inout Substring, isInside: Bool) throws(Fault) -> [[Part]] {
        var all: [[Part]] = [[]]
        while let letter = rest.first {
            if letter == "]" { break }
            rest = rest.dropFirst()
            switch letter {
            case "{":
                guard let end = rest.firstIndex(of: "}") else { throw Fault(reason: "has a { without a }") }
                all[all.count - 1].append(field(rest[..<end]))
                rest = rest[rest.index(after: end)...]
            case "[":
                all[all.count - 1].append(.choice(try read(&rest, isInside: true)))
                guard rest.first == "]" else { throw Fault(reason: "has a [ without a ]") }
                rest = rest.dropFirst()
            case "|" where isInside: all.append([])
            default:
                if case .text(let text)? = all[all.count - 1].last {
                    all[all.count - 1][all[all.count - 1].count - 1] = .text(text + String(letter))
                } else {
                    all[all.count - 1].append(.text(String(letter)))
                }
            }
        }
        return all
    }

    private static func field(_ text: Substring) -> Part {
        if text.hasSuffix("?") { return .field(String(text.dropLast()), .presence) }
        guard let colon = text.firstIndex(of: ":") else { return .field(String(text), .plain) }
        let form = text[text.index(after: colon)...]
        return .field(
            String(text[..<colon]), form == "time" ? .time : Int(form).map { .decimals($0) } ?? .count(String(form)))
    }

    /// The fields that it names.
    var names: Set<String> { Self.names(parts) }

    private static func names(_ parts: [Part]) -> Set<String> {
        parts.reduce(into: []) { names, part in
            switch part {
            case .text: break
            case .field(let name, _): names.insert(name)
            case .choice(let all): for parts in all { names.formUnion(Self.names(parts)) }
            }
        }
    }

    /// What it says with these fields; empty: nothing.
    func text(_ fields: [String: SettingValue]) -> String { Self.text(parts, fields) }

    private static func text(_ parts: [Part], _ fields: [String: SettingValue]) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .field(let name, let form): fields[name].map { text($0, form) } ?? ""
            case .choice(let all):
                all.first { parts in parts.allSatisfy { says($0, fields) } }.map { text($0, fields) } ?? ""
            }
        }.joined()
    }

    private static func says(_ part: Part, _ fields: [String: SettingValue]) -> Bool {
        guard case .field(let name, _) = part else { return true }
        return switch fields[name] {
        case nil, .bool(false)?, .integer(0)?, .number(0)?, .string("")?: false
        default: true
        }
    }

    private static func text(_ value: SettingValue, _ form: Form) -> String {
        let number: Double? =
            switch value {
            case .integer(let integer): Double(integer)
            case .number(let number): number
            default: nil
            }
        switch (form, number) {
        case (.presence, _): return ""
        case (.time, let number?): return clock(number)
        case (.decimals(let count), let number?): return fixed(number, min(count, 9))
        case (.count(let noun), let number?):
            return EventJSON.value(value) + " " + noun + (number == 1 ? "" : "s")
        default: return EventJSON.value(value, quoted: false)
        }
    }
}
