// SPDX-License-Identifier: Apache-2.0
import API
import Graph
import Host
import NodeKit

func kind(_ port: Port) -> String {
    port.kind.name + (port.direction == VG_INPUT ? " in" : " out") + (port.bus.map { ", bus \($0)" } ?? "")
}

func range(_ parameter: Parameter) -> String {
    let unit = parameter.unit.isEmpty ? "" : " " + parameter.unit
    if parameter.flags & UInt32(VG_PARAM_TOGGLE) != 0 {
        return "0 or 1, default \(number(Double(parameter.defaultValue)))"
    }
    return "\(number(Double(parameter.range.lowerBound))) to \(number(Double(parameter.range.upperBound)))\(unit), "
        + "default \(number(Double(parameter.defaultValue)))"
}

func range(_ setting: Setting) -> String {
    var text = setting.choices.isEmpty ? setting.kind.name : setting.choices.joined(separator: " | ")
    if let range = setting.range { text += " \(number(range.lowerBound)) to \(number(range.upperBound))" }
    if let unit = setting.unit, !unit.isEmpty { text += " \(unit)" }
    if setting.required { return text + ", required" }
    guard let value = setting.defaultText, !value.isEmpty else { return text }
    return text + ", default \(value)"
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
    return [role, event.kind.map { "a \($0.name)" }, event.end == nil ? nil : "an end"].compactMap(\.self)
        .joined(separator: ", ")
}

/// A number as a file would have it: 440, not 440.0; a float's digits, not a double's.
func number(_ value: Double) -> String {
    if value == value.rounded(.towardZero), abs(value) < 1e9 { return String(Int(value)) }
    let short = Float(value)
    return Double(short) == value ? String(describing: short) : String(describing: value)
}

/// Lines of at most `width` characters; a word that is longer stays whole.
func wrap(_ text: String, _ width: Int) -> [String] {
    var lines: [String] = []
    for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
        var line = ""
        for word in paragraph.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        lines.append(line)
    }
    return lines
}

func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(text.count < width ? 0 : 1, width - text.count))
}

func trimmedRight(_ text: String) -> String {
    var text = text
    while text.last == " " { text.removeLast() }
    return text
}
