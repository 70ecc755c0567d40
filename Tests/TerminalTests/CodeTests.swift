// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import TestSupport

@testable import Terminal

/// The link for browsers as a QR code.
@Suite struct CodeTests {
    /// What another encoder makes of four texts: versions 1, 4, 7 (with its number in it) and 10 (with a longer length).
    private static let known: [(text: String, rows: [String])] = {
        let file = try? String(contentsOfFile: packageRoot + "/Tests/Fixtures/qr.txt", encoding: .utf8)
        return (file ?? "").split(separator: "\n\n").map { part in
            let lines = part.split(separator: "\n").map(String.init)
            return (lines[0], Array(lines.dropFirst()))
        }
    }()

    @Test("The modules are those that another encoder makes", arguments: [21, 33, 45, 57])
    func modules(size: Int) throws {
        let known = try #require(Self.known.first { $0.rows.count == size })
        let code = try #require(QRCode(known.text))
        #expect(code.size == size)
        let rows = (0..<size).map { y in String((0..<size).map { code[$0, y] ? "#" : "." }) }
        #expect(rows == known.rows)
    }

    @Test("As long as fits, and no longer") func longest() {
        #expect(QRCode(String(repeating: "a", count: 271))?.size == 57)
        #expect(QRCode(String(repeating: "a", count: 272)) == nil)
        #expect(QRCode("")?.size == 21)
    }

    private static let link = "http://127.0.0.1:8765/?token=0123456789abcdef0123456789abcdef"

    private func screen(_ look: TerminalCapabilities, _ width: Int, _ height: Int) -> Emulator {
        let view = TerminalView(graph: sampleGraph(), capabilities: look, width: width, height: height)
        view.update(event: Event(HostEvent.web, fields: ["link": .string(Self.link)]), at: 9)
        #expect(!view.press([.text("o")], at: 10))
        var terminal = Emulator(width: width, height: height)
        terminal.apply(view.frame(at: 10))
        #expect(terminal.faults.isEmpty)
        return terminal
    }

    /// Whether each module on a screen is dark, without the quiet zone: by the colours of cells, or by the terminal's own.
    private func modules(_ terminal: Emulator, _ look: TerminalCapabilities, _ code: QRCode) -> [[Bool]]? {
        let ladder = look.colors
        func isDark(_ codes: String, _ ground: Int) -> Bool? {
            let inks: [TerminalCapabilities.Colors: (String, String)] = [
                .truecolor: ("\(ground);2;0;0;0", "\(ground);2;255;255;255"),
                .palette: ("\(ground);5;16", "\(ground);5;231"),
                .sixteen: (String(ground - 8), String(ground + 59)),
            ]
            guard let (dark, light) = inks[ladder] else { return nil }
            // The newest colour counts.
            let list = ";\(codes);"
            let (darkAt, lightAt) = (list.ranges(of: ";\(dark);").last, list.ranges(of: ";\(light);").last)
            guard let darkAt else { return lightAt == nil ? nil : false }
            return lightAt.map { $0.lowerBound < darkAt.lowerBound } ?? true
        }
        let side = code.size + 8
        let wide = look.unicode ? side : 2 * side
        let left = (terminal.width - wide) / 2
        for top in 0..<terminal.height {
            var rows: [[Bool]] = []
            for y in 0..<side {
                let row = top + (look.unicode ? y / 2 : y)
                guard row < terminal.height else { break }
                rows.append(
                    (0..<side).map { x in
                        let cell = terminal.cells[row][left + (look.unicode ? x : 2 * x)]
                        let isUpper = cell.text == "▀" && y % 2 == 0
                        if ladder == .none {
                            let isReversed = cell.style.contains("7")
                            let isLit = (cell.text == "▀" ? isUpper : false) != isReversed
                            return isLit == look.light
                        }
                        return isDark(cell.style, isUpper ? 38 : 48) ?? false
                    })
            }
            let inner = rows.dropFirst(4).prefix(code.size).map { Array($0.dropFirst(4).prefix(code.size)) }
            if inner.count == code.size, inner == (0..<code.size).map({ y in (0..<code.size).map { code[$0, y] } }) {
                return inner
            }
        }
        return nil
    }

    @Test("The code is dark on light on every terminal", arguments: LookTests.ladders)
    func drawn(ladder: (String, TerminalCapabilities)) throws {
        let code = try #require(QRCode(Self.link))
        var look = ladder.1
        for isLight in [false, true] {
            look.light = isLight
            let terminal = look.unicode ? screen(look, 80, 24) : screen(look, 90, 44)
            #expect(modules(terminal, look, code) != nil, "\(terminal.text)")
            #expect(terminal.text.contains(Self.link))
        }
    }

    @Test("Where it does not fit that is said, and the link is whole") func small() {
        let text = screen(TerminalCapabilities(), 40, 12).text
        #expect(text.contains("needs 41 columns and 21 rows"))
        #expect(text.split(separator: "\n").map { $0.drop { $0 == " " } }.joined().contains(Self.link))
    }

    @Test("Without a link the log says how to get one") func none() {
        let view = TerminalView(graph: sampleGraph(), capabilities: TerminalCapabilities(), width: 80, height: 24)
        #expect(!view.press([.text("o")], at: 10))
        var terminal = Emulator(width: 80, height: 24)
        terminal.apply(view.frame(at: 10))
        #expect(terminal.text.contains("start it with --web"))
    }
}
