// SPDX-License-Identifier: Apache-2.0
import CToml
import Graph
import NodeKit

extension DriverDescription {
    /// Why a value cannot be set, and what could.
    struct Fault: Error {
        var message: String
        var hint = ""
    }

    /// Sets what stands behind a key; nil: done.
    mutating func set(_ key: String, _ entry: Entry) -> Fault? {
        let value = entry.value
        do throws(Fault) {
            switch key {
            case "kind": kind = try Self.kind(value)
            case "server": server = try Self.text(key, value)
            case "device": device = try Self.text(key, value)
            case "capture": capture = try Self.text(key, value)
            case "playback": playback = try Self.text(key, value)
            case "rate": rate = try Self.number(key, entry, Self.rates, "Hz")
            case "block": block = try Self.number(key, entry, Self.blocks, "frames")
            case "periods": periods = try Self.number(key, entry, Self.periodCounts, "blocks")
            default:
                throw FileTable.driver.fault(of: key)
            }
            return nil
        } catch { return error }
    }

    private static func kind(_ value: SettingValue) throws(Fault) -> Kind {
        let kinds = Kind.allCases.map(\.rawValue)
        guard case .string(let text) = value else {
            throw Fault(message: "'kind' must be a string", hint: "one of \(kinds.joined(separator: ", "))")
        }
        guard let kind = Kind(rawValue: text) else {
            var suggester = Suggester()
            throw Fault(
                message: "there is no driver '\(shortened(text))'",
                hint: suggester.hint(text, among: kinds, otherwise: "one of \(kinds.joined(separator: ", "))"))
        }
        return kind
    }

    private static func text(_ key: String, _ value: SettingValue) throws(Fault) -> String {
        guard case .string(let text) = value, !text.isEmpty, text.utf8.count <= 200,
            !text.utf8.contains(where: { $0 < 32 || $0 == 127 }), !text.hasPrefix("-")
        else {
            throw Fault(
                message: "'\(key)' must be a name", hint: "a string of 1 to 200 bytes without control characters")
        }
        return text
    }

    private static func number(
        _ key: String, _ entry: Entry, _ range: ClosedRange<Int>, _ unit: String
    ) throws(Fault) -> Int {
        guard case .integer(let number) = entry.reading, range.contains(Int(clamping: number)) else {
            let isQuoted = if case .string = entry.value { entry.variable == nil } else { false }
            throw Fault(
                message: "'\(key)' cannot be \(shown(entry.reading))" + entry.origin,
                hint:
                    "write a whole number from \(range.lowerBound) to \(range.upperBound)\(isQuoted ? " without quotes" : ""), in \(unit)"
            )
        }
        return Int(number)
    }
}

/// A value that is refused, as it was written.
private func shown(_ value: SettingValue) -> String {
    switch value {
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    case .string(let text): "'\(shortened(text))'"
    case .bool(let value): "\(value)"
    case .list: "a list"
    case .table: "a table"
    }
}

extension FileTable {
    /// What is wrong with a key that the table does not take.
    func fault(of key: String) -> DriverDescription.Fault {
        var suggester = Suggester()
        let (message, hint) = FileTable.unknown(
            key, in: title, known: keys, otherNames: otherNames,
            otherwise: "here may stand \(keys.dropLast().joined(separator: ", ")) and \(keys.last!)", &suggester)
        return DriverDescription.Fault(message: message, hint: hint)
    }
}

extension Entry {
    /// After a value that is refused: the variable that it came from.
    var origin: String { variable.map { ", which ${\($0.name)} stands for" } ?? "" }
}

extension SettingValue {
    /// A number, whole or not.
    var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        default: nil
        }
    }
}

extension GraphReader {
    /// What an including file says goes before what it includes, key by key.
    mutating func readDriver(_ driver: TomlDocument.Node, _ document: TomlDocument) {
        guard driver.kind == VG_TOML_TABLE else {
            return report(
                "'driver' must be a table", at: document.keyLocation(driver),
                hint: "write [driver] on a line of its own")
        }
        for item in document.children(driver) {
            let key = document.key(item)
            guard let entry = under(key, { $0.value(item, document) }) else { continue }
            if let fault = description.driver.set(key, entry) {
                let isKnown = FileTable.driver.keys.contains(key)
                report(fault.message, at: isKnown ? entry.valueLocation : entry.keyLocation, hint: fault.hint)
            } else if ["device", "capture", "playback"].contains(key) {
                cardKey = (key, entry.keyLocation)
            }
        }
    }

    /// A sound card that nothing would look at is told.
    mutating func checkDriver() {
        guard let (key, place) = cardKey, description.driver.kind != .alsa else { return }
        let kind = description.driver.kind ?? .auto
        diagnostics.append(
            Diagnostic(
                .warning, "the driver '\(kind.rawValue)' does not look at '\(key)'", at: place,
                hint: "add kind = \"alsa\" to [driver], or run with --driver alsa"))
    }
}
