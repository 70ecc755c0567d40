// SPDX-License-Identifier: Apache-2.0
import Config
import Foundation
import GraphFile
import JSON
import TestSupport

@Suite struct DiagnosticFormatTests {
    private func text(_ source: String, _ line: Int, _ column: Int, _ length: Int = 1, color: Bool = false) -> String {
        let text = SourceText(file: "f.conf", bytes: Array(source.utf8))
        let place = SourceLocation(text, line: line, column: column, length: length)
        return DiagnosticFormat(color: color).text([Diagnostic(.error, "no", at: place, hint: "yes")])
    }

    @Test("The line, a caret and the hint follow the message") func wholeMessage() {
        #expect(
            text("[graph]\nname = 1\n", 2, 8) == """
                f.conf:2:8: error: no
                    2 | name = 1
                      |        ^
                      hint: yes
                1 error

                """)
    }

    /// The caret stands under "x", however wide what comes before it is.
    @Test(
        "The caret stands under its character",
        arguments: ["", "abc ", "\t", "ab\t", "é", "e\u{301}", "日本", "😀", "\u{1B}[31m", "\u{0}", "\u{202E}"])
    func caret(_ before: String) throws {
        let lines = text(before + "xyz", 1, before.utf8.count + 1, 3).split(
            separator: "\n", omittingEmptySubsequences: false)
        let shown = lines[1].dropFirst("    1 | ".count)
        let caret = lines[2].dropFirst("      | ".count)
        let position = try #require(shown.firstIndex(of: "x"))
        let wide = shown[..<position].unicodeScalars.reduce(0) { sum, scalar in
            sum + (["日", "本", "😀"].contains(scalar) ? 2 : scalar == "\u{301}" ? 0 : 1)
        }
        #expect(caret == String(repeating: " ", count: wide) + "^~~")
        #expect(!shown.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202E })
    }

    @Test("Of a long line only the part around the caret is shown") func longLine() {
        let shown = text(String(repeating: "a", count: 5000) + "X" + String(repeating: "b", count: 5000), 1, 5001)
        let lines = shown.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count < 130 })
        let column = lines[2].firstIndex(of: "^").map { lines[2].distance(from: lines[2].startIndex, to: $0) }
        #expect(column.map { lines[1][lines[1].index(lines[1].startIndex, offsetBy: $0)] } == "X")
    }

    @Test("However far behind, the caret points at its character", arguments: [400, 1001, 1500, 1_000_000])
    func farCaret(_ column: Int) throws {
        let lines = text(
            String(repeating: "ä", count: column / 2) + "X" + String(repeating: "€", count: 900), 1, column / 2 * 2 + 1
        )
        .split(separator: "\n")
        let caret = try #require(lines[2].firstIndex(of: "^"))
        let distance = lines[2].distance(from: lines[2].startIndex, to: caret)
        #expect(lines[1][lines[1].index(lines[1].startIndex, offsetBy: distance)] == "X")
        #expect(lines[1].count < 130)
    }

    @Test("A caret may stand behind the line") func caretBehindLine() {
        #expect(text("name =", 1, 7).contains("      |       ^\n"))
    }

    @Test("Bytes that are no text do not move the caret") func noText() {
        let place = SourceLocation(SourceText(file: "f", bytes: [0xFF, 0xFE, 0x61, 0x78]), line: 1, column: 4)
        #expect(DiagnosticFormat().text([Diagnostic(.error, "no", at: place)]).contains("|    ^\n"))
    }

    @Test("Colours are only used when asked for") func colours() {
        #expect(!text("x", 1, 1).contains("\u{1B}"))
        #expect(text("x", 1, 1, color: true).contains("\u{1B}[1;31merror:\u{1B}[0m"))
    }

    @Test("At most a hundred are shown, errors before warnings, in the order of their places, and the rest is counted")
    func bounded() {
        let place = { (line: Int) in SourceLocation(file: "f.conf", line: line, column: 1) }
        let few = (0..<100).map { Diagnostic($0 % 2 == 0 ? .error : .warning, "no", at: place($0)) }
        #expect(DiagnosticFormat.bounded(few.reversed()) == few)
        let warnings = (0..<90).map { Diagnostic(.warning, "perhaps", at: place($0)) }
        let errors = (0..<60).map { Diagnostic(.error, "no", at: place(1000 + $0)) }
        let shown = DiagnosticFormat.bounded(errors + warnings)
        #expect(shown.dropLast() == (warnings.prefix(40) + errors)[...])
        #expect(shown.last?.message == "and 50 more that are not shown" && shown.last?.severity == .warning)
        let many = DiagnosticFormat.bounded(warnings + errors + errors)
        #expect(many.dropLast().allSatisfy { $0.severity == .error } && many.last?.severity == .error)
        #expect(DiagnosticFormat().text(warnings + errors).hasSuffix("\n60 errors and 90 warnings\n"))
    }

    @Test("A message cannot move the cursor") func controlCharacters() {
        let shown = DiagnosticFormat().text([Diagnostic(.warning, "a\u{1B}[2J\nb", at: SourceLocation(file: "f\n"))])
        #expect(shown == "f␊: warning: a␛[2J␊b\n1 warning\n")
    }

    @Test("Diagnostics come in the order of the file") func order() {
        func at(_ file: String, _ line: Int, _ column: Int, _ message: String) -> Diagnostic {
            Diagnostic(.error, message, at: SourceLocation(file: file, line: line, column: column))
        }
        let sorted = DiagnosticFormat.sorted([
            at("b", 9, 1, "3"), at("a", 5, 1, "4"), at("b", 2, 7, "2"), at("b", 2, 1, "1"), at("b", 9, 1, "3b"),
        ])
        #expect(sorted.map(\.message) == ["1", "2", "3", "3b", "4"])
    }

    @Test("Errors and warnings are counted") func counts() {
        let error = Diagnostic(.error, "e")
        let warning = Diagnostic(.warning, "w")
        #expect(DiagnosticFormat.summary([error, warning, warning]) == "1 error and 2 warnings")
        #expect(DiagnosticFormat.summary([warning]) == "1 warning")
        #expect(DiagnosticFormat.summary([]).isEmpty)
    }

    @Test("JSON is one object a line that any reader takes") func json() throws {
        let odd = "a \"quote\" \\ \n\t\u{0}\u{1F}\u{7F} ü 😀 \u{2028}"
        let place = SourceLocation(file: odd, line: 3, column: 7)
        let json = DiagnosticFormat.json([
            Diagnostic(.warning, odd, at: place, hint: odd), Diagnostic(.error, "b", at: place),
        ])
        let lines = json.split(separator: "\n")
        try #require(lines.count == 2)
        struct Line: Decodable, Equatable {
            var file, severity, message, hint, text: String
            var line, column, length: Int
        }
        let read = try JSONDecoder().decode(Line.self, from: Data(lines[0].utf8))
        #expect(
            read
                == Line(
                    file: odd, severity: "warning", message: odd, hint: odd, text: "", line: 3, column: 7, length: 1))
    }

    @Test("What was read is shown, here and by whoever is told of it, whatever has become of the files")
    func source() throws {
        let scratch = try Scratch()
        _ = try scratch.write("part.conf", "# ü\n\t[node.tone]\n\ttype = 'tone' 5\n")
        let main = try scratch.write(
            "main.conf", "include = ['part.conf', 'none.conf']\nlinks = ['tone -> ']\n[node.a]\ntype = 7\n")
        let (_, faults) = ConfigFile.load(path: main)
        for name in ["part.conf", "main.conf"] { _ = try scratch.write(name, "another\nfile\nby now\nthan then\n") }
        let shown = DiagnosticFormat().text(faults)
        for line in [
            "    3 |     type = 'tone' 5\n", "    4 | type = 7\n", "    1 | include = ['part.conf', 'none.conf']\n",
        ] {
            #expect(shown.contains(line), "\(shown)")
        }
        let told = try DiagnosticFormat.json(faults).split(separator: "\n").map {
            Diagnostic(try JSON(String($0).utf8))
        }
        #expect(told == DiagnosticFormat.bounded(faults))
        #expect(DiagnosticFormat().text(told) == shown)
    }

    @Test("A line that nobody reads is not sent along") func endlessLine() throws {
        for (count, isSent) in [(4096, true), (4097, false)] {
            let text = SourceText(file: "f", bytes: [UInt8](repeating: 97, count: count))
            let json = DiagnosticFormat.json([Diagnostic(.error, "no", at: SourceLocation(text, line: 1, column: 9))])
            #expect(json.contains("\"text\":\"\"") != isSent)
        }
    }
}
