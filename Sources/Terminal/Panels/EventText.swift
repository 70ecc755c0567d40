// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit

extension Event {
    /// A field that is a number.
    func number(_ key: String) -> Double? {
        switch fields[key] {
        case .integer(let integer)?: Double(integer)
        case .number(let number)?: number
        default: nil
        }
    }

    /// How far the text of an item that it tells is; nil: it tells none.
    var textStage: EventRole.Stage? { if case .text(let stage)? = type?.role { stage } else { nil } }
    /// Whether it tells the text of an item, which grows until it is whole.
    public var isPartialText: Bool { textStage == .partial }

    /// A field that is a whole number within reason.
    func integer(_ key: String) -> Int? { number(key).flatMap { Int(exactly: $0.rounded(.down)) } }
}

/// An event as a line for people, as its type says it; nil for what other parts of a face show better.
public func eventText(_ event: Event) -> String? {
    let about = event.node.map { "\($0): " } ?? ""
    if let sentence = event.sentence { return sentence.isEmpty ? nil : about + sentence }
    // A state is shown where it belongs.
    if event.isRetained { return nil }
    if let stage = event.textStage, stage != .withdrawn {
        guard let said = event.text("text"), !said.isEmpty else { return nil }
        return about + said + (stage == .partial ? " ..." : "")
    }
    let name = event.name.split(separator: ".").joined(separator: " ")
    if let reason = event.text("reason") { return "\(about)\(name): \(reason)" }
    let fields = event.fields.sorted { $0.key < $1.key }
        .map { "\($0.key) \(EventJSON.value($0.value, quoted: false))" }
    return about + name + (fields.isEmpty ? "" : " (\(fields.joined(separator: ", ")))")
}
