// SPDX-License-Identifier: Apache-2.0
import API
import Host
import JSON
import NodeKit

/// What is declared beyond what the fields of these names say: whatever differs from one that says nothing. So a field that
/// is new is told, too.
func facts<Item: Declared>(of item: Item, but said: Set<String>) -> String {
    let blank = Item.blank.values
    let rest = item.values.filter { !said.contains($0.key) && $0.value != blank[$0.key] }
    return rest.sorted { $0.key < $1.key }.map { name, value in
        let key = name.replacing("_", with: " ")
        return switch value {
        case .bool: key
        // These words say by themselves what they are of.
        case .string(let word) where name == "scale": word
        case .string(let word) where name == "names": "names \(word == "address" ? "an" : "a") \(word)"
        case .list(let items) where name == "flags" || name == "points": items.map(told).joined(separator: ", ")
        case .list(let items): "\(key) " + items.map(told).joined(separator: ", ")
        default: "\(key) \(told(value))"
        }
    }.joined(separator: ", ")
}

/// A value, and a named one as its number and name.
private func told(_ value: SettingValue) -> String {
    switch value {
    case .string(let text): return text
    case .number(let real): return number(real)
    case .integer(let integer): return "\(integer)"
    case .table(let table):
        return ["value", "label"].compactMap { table[$0].map(told) }.joined(separator: " ")
    default: return JSON(value).text
    }
}

func joined(_ parts: String...) -> String { parts.filter { !$0.isEmpty }.joined(separator: ", ") }

func kind(_ port: Port) -> String {
    joined(
        port.kind.name + (port.direction == VG_INPUT ? " in" : " out"),
        facts(of: port, but: ["symbol", "doc", "kind", "direction"]))
}

func range(_ parameter: Parameter) -> String {
    let isToggle = parameter.flags & UInt32(VG_PARAM_TOGGLE) != 0
    let unit = parameter.unit.isEmpty || isToggle ? "" : " " + parameter.unit
    let ends = [parameter.range.lowerBound, parameter.range.upperBound].map { number(Double($0)) }
    var rest = parameter
    // Both are said by what the range looks like.
    rest.flags &= ~UInt32(VG_PARAM_TOGGLE)
    if parameter.scale == VG_DECIBEL, parameter.unit == "dB" { rest.scale = VG_LINEAR }
    return joined(
        ends.joined(separator: isToggle ? " or " : " to ") + unit,
        "default \(number(Double(parameter.defaultValue)))",
        facts(of: rest, but: ["key", "doc", "unit", "minimum", "maximum", "default"]))
}

/// What a result or a field of an event is.
func content(_ field: Field) -> String {
    field.kind.name + (field.unit.map { $0.isEmpty ? "" : " " + $0 } ?? "")
}

func range(_ setting: Setting) -> String {
    var text = setting.choices.isEmpty ? setting.kind.name : setting.choices.joined(separator: " | ")
    if let range = setting.range { text += " \(number(range.lowerBound)) to \(number(range.upperBound))" }
    if let unit = setting.unit, !unit.isEmpty { text += " \(unit)" }
    var rest = setting
    // It always does.
    if setting.kind == VG_SET_PATH { rest.reach = nil }
    return joined(
        text, setting.defaultText.map { $0.isEmpty ? "" : "default \($0)" } ?? "",
        facts(of: rest, but: ["key", "doc", "kind", "default", "minimum", "maximum", "unit", "choices"]))
}

/// What an event tells of: a state, a text or a take.
func nature(_ event: EventType) -> String {
    func phrase(_ thing: String, _ stage: EventRole.Stage) -> String {
        switch stage {
        case .partial: "begun \(thing)"
        case .whole: thing
        case .withdrawn: "void \(thing)"
        }
    }
    let role: String? =
        switch event.role {
        case .text(let stage): phrase("text", stage)
        case .take(let stage): phrase("take", stage)
        case nil: event.isRetained ? "a state" : nil
        }
    let end = event.end.map { $0 == .heard ? "an end, as heard" : "an end" }
    let said: Set = ["name", "doc", "fields", "role", "stage", "kind", "end", "sentence"]
    return joined(
        role ?? "", event.kind.map { "a \($0.name)" } ?? "", end ?? "",
        facts(of: event, but: event.role == nil ? said.union(["retained"]) : said))
}

/// A number as a file would have it: 440, not 440.0; a float's digits, not a double's.
func number(_ value: Double) -> String {
    if value == value.rounded(.towardZero), abs(value) < 1e9 { return String(Int(value)) }
    let short = Float(value)
    return Double(short) == value ? String(describing: short) : String(describing: value)
}
