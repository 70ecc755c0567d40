// SPDX-License-Identifier: Apache-2.0
import Foundation
import GraphFile
import NodeKit

/// The Swift types of `Sources/VoiceGraph/Types`, made from what the types of nodes declare.
struct NodeTypeSources {
    let catalog: NodeCatalog

    /// The text of each file, by its name; not formatted.
    var files: [String: String] {
        var files: [String: String] = [:]
        for name in catalog.names {
            guard let type = catalog.descriptor(name) else { continue }
            files[file(of: type), default: Self.head] += "\n" + source(type)
        }
        return files
    }

    private static let head = """
        // SPDX-License-Identifier: Apache-2.0
        import NodeKit

        // Made from what the types of nodes declare; a test compares the two, and says how to make it again.

        """

    /// By what it does with sound.
    private func file(of type: NodeDescriptor) -> String {
        func has(_ direction: vg_direction) -> Bool {
            type.layout.ports.contains { $0.kind == VG_AUDIO_PORT && $0.direction == direction }
        }
        let isEdge =
            type.flags & UInt32(VG_EXTERNAL) != 0 || catalog.types[type.name].map { isStream($0.type) } == true
        if isEdge { return "Edges.swift" }
        switch (has(VG_INPUT), has(VG_OUTPUT)) {
        case (true, true):
            let last = ["E", "L", "Z"].first { type.name.prefix(1).uppercased() <= $0 } ?? "Z"
            return "Processors-\(["E": "A", "L": "F", "Z": "M"][last]!)-\(last).swift"
        case (true, false): return "Listeners.swift"
        case (false, true): return "Generators.swift"
        case (false, false): return "Controls.swift"
        }
    }

    private func isStream(_ type: UnsafePointer<vg_node_type>) -> Bool {
        NodeDescriptor(type)?.name.hasPrefix("web-") == true
    }

    private func source(_ type: NodeDescriptor) -> String {
        let members = members(of: type)
        let doc = type.doc.isEmpty ? "" : " " + type.doc
        var text = comment("`\(type.name)`: \(type.summary).\(doc)", "")
        text += "public struct \(Self.typeName(type.name)): GraphNode {\n"
        text += "    /// What the graph is told of it.\n    public var node: PlacedNode\n"
        for member in members {
            guard let choices = member.choices else { continue }
            text += "\n" + comment(member.doc, "    ")
            text += "    public enum \(member.type): String, Sendable, CaseIterable {\n"
            for choice in choices {
                let name = Self.memberName(choice.replacingOccurrences(of: "-", with: "_"))
                text += name == choice ? "        case \(name)\n" : "        case \(name) = \"\(choice)\"\n"
            }
            text += "    }\n"
        }
        text += "\n" + comment("Describes a node, called as its type is where no name is given.", "    ")
        if !members.isEmpty { text += "    ///\n" }
        for member in members { text += comment("- `\(member.name)`: \(member.facts)", "    ", indent: "  ") }
        text += "    public init(\n        _ called: String? = nil,"
        for member in members {
            text += " \(Self.quoted(member.name)): \(member.type)\(member.isRequired ? "" : "? = nil"),"
        }
        text += " inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column) {\n"
        text += "        node = PlacedNode(called, type: \"\(type.name)\", ["
        text += members.map { "(\"\($0.key)\", said(\(Self.quoted($0.name))))" }.joined(separator: ", ")
        return text + "], file: inFile, line: atLine, column: atColumn)\n    }\n}\n"
    }

    private struct Member {
        var key, name, type, doc, facts: String
        var choices: [String]?
        var isRequired = false
    }

    private func members(of type: NodeDescriptor) -> [Member] {
        let settings = type.settings.map { setting in
            let hasNames = !setting.choices.isEmpty && setting.choices.allSatisfy(Self.isName)
            let swift =
                switch setting.kind {
                case VG_SET_BOOL: "Bool"
                case VG_SET_INTEGER: "Int"
                case VG_SET_NUMBER: "Double"
                case VG_SET_STRING where hasNames: Self.typeName(setting.key.replacingOccurrences(of: "_", with: "-"))
                case VG_SET_STRING, VG_SET_PATH: "String"
                case VG_SET_STRINGS: "[String]"
                default: "SettingValue"
                }
            return Member(
                key: setting.key, name: Self.memberName(setting.key), type: swift, doc: setting.doc,
                facts: setting.doc
                    + facts(setting.unit, setting.range, setting.defaultText),
                choices: setting.kind == VG_SET_STRING && hasNames ? setting.choices : nil,
                isRequired: setting.required)
        }
        let parameters = type.layout.parameters.map { parameter in
            Member(
                key: parameter.key, name: Self.memberName(parameter.key), type: "Double", doc: parameter.doc,
                facts: parameter.doc
                    + facts(
                        parameter.unit, Double(parameter.range.lowerBound)...Double(parameter.range.upperBound),
                        Self.text(Double(parameter.defaultValue))))
        }
        // What must be said goes first.
        let all = settings + parameters
        return all.filter(\.isRequired) + parameters + settings.filter { !$0.isRequired }
    }

    private func facts(_ unit: String?, _ range: ClosedRange<Double>?, _ usual: String?) -> String {
        var facts: [String] = []
        if let unit, !unit.isEmpty { facts.append("in \(unit)") }
        if let range { facts.append("\(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))") }
        if let usual { facts.append("\(usual) without it") }
        return facts.isEmpty ? "" : "; " + facts.joined(separator: ", ")
    }

    private static func text(_ number: Double) -> String {
        let rounded = Double(Float(number).description) ?? number
        return rounded == rounded.rounded() && abs(rounded) < 1e9 ? "\(Int(rounded))" : "\(rounded)"
    }

    private func comment(_ text: String, _ margin: String, indent: String = "") -> String {
        var lines: [String] = []
        var line = margin + "/// "
        var isEmpty = true
        for word in text.split(whereSeparator: \.isWhitespace) {
            if !isEmpty, line.count + word.count + 1 > 118 {
                lines.append(line)
                line = margin + "/// " + indent
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return (lines + [line]).map { $0 + "\n" }.joined()
    }

    private static let short: Set = ["db", "lufs", "url", "id", "lfo", "eq", "tts", "lv2", "vad", "midi", "q"]

    private static func isName(_ text: String) -> Bool {
        text.first?.isLetter == true && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
    }

    /// "web-input": WebInput.
    static func typeName(_ name: String) -> String {
        if name == "deesser" { return "DeEsser" }
        return name.split(separator: "-").map { part in
            short.contains(String(part)) ? part.uppercased() : part.prefix(1).uppercased() + part.dropFirst()
        }.joined()
    }

    /// "gain_db": gainDB.
    static func memberName(_ key: String) -> String {
        let parts = key.split(separator: "_").map(String.init)
        return parts.enumerated().map { index, part in
            if index == 0 { return part }
            return short.contains(part) ? part.uppercased() : part.prefix(1).uppercased() + part.dropFirst()
        }.joined()
    }

    private static func quoted(_ name: String) -> String {
        ["in", "repeat", "default", "where", "for", "switch", "self", "init", "is", "as"].contains(name)
            ? "`\(name)`" : name
    }
}
