// SPDX-License-Identifier: Apache-2.0
import JSON
import NodeKit

extension Diagnostic {
    /// All of it, by the names that other programs see, in the order in which they see it.
    package var members: [(name: String, value: SettingValue)] {
        [
            ("file", .string(location.file)), ("line", .integer(Int64(location.line))),
            ("column", .integer(Int64(location.column))), ("length", .integer(Int64(location.length))),
            ("severity", .string(severity.rawValue)), ("message", .string(message)), ("hint", .string(hint)),
            ("text", .string(text)),
        ]
    }

    /// The same as a table.
    public var fields: SettingValue { .table(Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })) }

    /// The same without the line of the file: that may hold what only its owner may read.
    package var withoutText: Diagnostic {
        var bare = self
        bare.location.text = nil
        return bare
    }

    /// Reads one that another process wrote.
    public init(_ json: JSON) {
        let line = json["line"]?.integer ?? 0
        let text = json["text"]?.string ?? ""
        var place = SourceLocation(
            file: json["file"]?.string ?? "", line: line, column: json["column"]?.integer ?? 0,
            length: json["length"]?.integer ?? 1)
        if !text.isEmpty { place.text = SourceText(file: place.file, bytes: Array(text.utf8), first: line) }
        self.init(
            json["severity"]?.string == "warning" ? .warning : .error, json["message"]?.string ?? "", at: place,
            hint: json["hint"]?.string ?? "")
    }

    /// The line of the file that it is about; empty where there is none, or one that is longer than anybody reads.
    private var text: String {
        let line = location.text?.line(location.line) ?? []
        return line.count > 4096 ? "" : String(decoding: line, as: UTF8.self)
    }
}
