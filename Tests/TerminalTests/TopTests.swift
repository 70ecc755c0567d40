// SPDX-License-Identifier: Apache-2.0
import Graph
import Host
import TestSupport

@testable import Terminal

/// The screen of `voicegraph top`.
@Suite struct TopTests {
    private var state: TopState {
        var status = sampleStatus()
        (status.rate, status.block) = (48_000, 480)
        return TopState(
            status,
            [
                NodeTiming(
                    node: "idle", count: 9, minimum: 1e-6, average: 900e-6, p99: 950e-6, maximum: 990e-6,
                    recent: 1e-6, recentMaximum: 2e-6),
                NodeTiming(
                    node: "busy", count: 9, minimum: 1e-6, average: 2e-6, p99: 3e-6, maximum: 4000e-6,
                    recent: 1000e-6, recentMaximum: 2500e-6),
            ])
    }

    @Test("What a node takes now comes first, whatever it took before") func nodeOrder() {
        let lines = TopTable.text(state).split(separator: "\n")
        #expect(lines[1].wholeMatch(of: /node +now us +peak us +of a block +mean us +99 % us +longest us/) != nil)
        #expect(lines[2].wholeMatch(of: /busy +1000\.0 +2500\.0 +10\.00 % +2\.0 +3\.0 +4000\.0/) != nil, "\(lines)")
        #expect(lines[3].hasPrefix("idle"))
    }

    @Test(
        "A narrow screen keeps what matters most",
        arguments: [
            (
                80,
                ["now us", "peak us", "of a block", "longest us", "1000.0", "2500.0", "10.00 %", "the last"]
            ), (66, ["now us", "of a block", "1000.0", "10.00 %", "4000.0", "the last"]),
            (40, ["of a block", "10.00 %", "lately"]), (20, ["10.00 %"]),
        ])
    func narrowTable(width: Int, texts: [String]) {
        let view = TopView(capabilities: TerminalCapabilities(), width: width, height: 24)
        view.update(state)
        var terminal = Emulator(width: width, height: 24)
        terminal.apply(view.frame(at: 0))
        #expect(terminal.faults.isEmpty)
        for text in texts { #expect(terminal.text.contains(text), "\(width): no \(text) in\n\(terminal.text)") }
        #expect(!terminal.text.contains("mean us"))
    }

    /// What a screen shows of a graph of 60 nodes, each heavier than the one before, after keys.
    private func crowd(_ width: Int, _ height: Int, _ keys: [KeyPress] = [], _ look: TerminalCapabilities = .init())
        -> Emulator
    {
        let view = TopView(capabilities: look, width: width, height: height)
        var status = sampleStatus()
        (status.rate, status.block) = (48_000, 480)
        for step in 1...8 {
            let timings = (0..<60).map { number in
                NodeTiming(
                    node: "n\(number).", count: 9, minimum: 0, average: 1e-6, p99: 3e-6,
                    maximum: Double(60 - number) * 1e-6,
                    recent: Double(number * step) * 1e-6, recentMaximum: 1e-3)
            }
            view.update(TopState(status, timings))
        }
        #expect(!view.press([], at: 0))
        var terminal = Emulator(width: width, height: height)
        for key in keys {
            _ = view.frame(at: 0)
            #expect(!view.press([key], at: 0))
        }
        view.repaint()
        terminal.apply(view.frame(at: 0))
        #expect(terminal.faults.isEmpty)
        return terminal
    }

    /// The names of the nodes that are shown, from above.
    private func names(_ terminal: Emulator) -> [String] {
        terminal.text.split(separator: "\n").compactMap { $0.firstMatch(of: /^ (n\d+)\./).map { String($0.1) } }
    }

    @Test("Every node can be scrolled to, and it is told where one is", arguments: [(80, 24), (40, 12), (200, 50)])
    func scrolling(_ width: Int, _ height: Int) {
        let first = names(crowd(width, height))
        #expect(first.first == "n59" && first.count >= 8 && first.count < 60)
        #expect(crowd(width, height).text.contains("1-\(first.count) of 60"))
        #expect(names(crowd(width, height, [.down, .down, .up])).first == "n58")
        #expect(names(crowd(width, height, [.wheel(1, x: 0, y: 0)])).first == "n56")
        #expect(names(crowd(width, height, [.end])).last == "n0", "zero is the least")
        #expect(names(crowd(width, height, [.end, .pageDown, .home])) == first)
        var seen: Set<String> = []
        for pages in 0..<8 { seen.formUnion(names(crowd(width, height, Array(repeating: .pageDown, count: pages)))) }
        #expect(seen.count == 60)
    }

    @Test("The table is sorted by any column, which is marked, and turned round") func sorting() {
        #expect(crowd(200, 50).text.contains("▼of a block"))
        #expect(
            names(crowd(200, 50, [.right, .right, .right])).first == "n0"
                && crowd(200, 50, [.right, .right, .right]).text.contains("▼longest us"))
        let byName = crowd(200, 50, [.left, .left, .left])
        #expect(names(byName).prefix(3) == ["n0", "n1", "n10"] && byName.text.contains("node▲"))
        #expect(names(crowd(200, 50, [.text("r")])).first == "n0")
        // The column that is chosen is shown, whatever room there is.
        #expect(crowd(40, 12, [.right]).text.contains("▼mean us"))
    }

    @Test("What a node took lately is drawn in its colour, or in signs where there is no more")
    func sparklines() throws {
        func row(_ terminal: Emulator) throws -> String {
            try #require(terminal.text.split(separator: "\n").first { $0.hasPrefix(" n59.") }.map(String.init))
        }
        #expect(try row(crowd(80, 24)).hasSuffix("▁▂▃▄▄▅▆▇"))
        #expect(try row(crowd(80, 24, [], .init(colors: .none, unicode: false))).hasSuffix(".-=++*#%"))
        for colors in TerminalCapabilities.Colors.allCases {
            let styles = Set(crowd(120, 35, [], .init(colors: colors)).cells.joined().map(\.style))
            #expect(styles.contains { $0.contains("38;2;") } == (colors == .truecolor))
            #expect(styles.contains { $0.contains("38;5;") } == (colors == .palette))
        }
        let empty = crowd(200, 50).cells[10].reversed().prefix { $0.text == " " }.count
        #expect(empty < 2, "all columns are used")
    }

    @Test("What is wrong stands above all else, the worst first") func problems() throws {
        var lost = state
        lost.lost = "it went away"
        lost.status.degraded = ["busy": "it hangs"]
        lost.dropouts = [("late: busy took 12 ms", "take a longer block"), ("older", "")]
        let view = TopView(capabilities: TerminalCapabilities(), width: 80, height: 24)
        view.update(lost)
        var terminal = Emulator(width: 80, height: 24)
        terminal.apply(view.frame(at: 0))
        let lines = (1...4).map { terminal.row($0) }
        #expect(
            lines == [
                " ▲ it went away", " ▲ busy failed: it hangs", " ▲ late: busy took 12 ms", "   take a longer block",
            ])
    }

    @Test("All keys are shown on request, and every key does one thing") func keys() {
        let shown = crowd(80, 24, [.text("?")])
        for entry in TopKeys.help { #expect(shown.text.contains(entry.keys) && shown.text.contains(entry.does)) }
        #expect(!crowd(80, 24, [.text("?"), .down]).text.contains("this list"))
        let view = TopView(capabilities: TerminalCapabilities(), width: 80, height: 24)
        #expect(view.press([.text("?"), .text("q")], at: 0) && view.press([.control("c")], at: 0))
    }
}
