// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import Testing

@testable import Terminal

/// The log: what is kept of it, and how it is read.
@Suite struct LogTests {
    private func filled(_ count: Int) -> FaceLog {
        var log = FaceLog()
        for number in 0..<count { log.note("line \(number)", at: Double(number)) }
        return log
    }

    @Test("The newest lines are read until somebody goes back") func follows() {
        var log = filled(30)
        #expect(log.read.last?.text == "line 29" && log.newer == 0)
        log.scroll(-1, first: 10)
        #expect(log.read.last?.text == "line 28" && log.newer == 1)
        log.note("line 30")
        #expect(log.read.last?.text == "line 28" && log.newer == 2, "what is read stays where it is")
        log.scroll(-100, first: 10)
        #expect(log.read.count == 10 && log.read.first?.text == "line 0", "a whole page at the beginning")
        log.scroll(100, first: 10)
        log.note("line 31")
        #expect(log.read.last?.text == "line 31" && log.newer == 0, "at the end it follows again")
        log.scroll(-5, first: 10)
        log.follow()
        #expect(log.newer == 0)
    }

    @Test("An empty log, and one shorter than the page, can be scrolled") func short() {
        var none = FaceLog()
        none.scroll(-3, first: 10)
        none.scroll(3, first: 10)
        #expect(none.read.isEmpty && none.newer == 0)
        var few = filled(3)
        few.scroll(-2, first: 10)
        #expect(few.read.count == 3 && few.newer == 0)
    }

    @Test("A thousand lines are kept; what is read moves only when it is let go") func limit() {
        var log = filled(FaceLog.limit)
        log.scroll(-FaceLog.limit, first: 10)
        for number in 0..<5 { log.note("more \(number)") }
        #expect(log.entries.count == FaceLog.limit && log.entries.first?.text == "line 5")
        #expect(log.read.last?.text == "line 9" && log.newer == FaceLog.limit - 5)
        for number in 0..<FaceLog.limit { log.note("later \(number)") }
        #expect(log.read.count == 1 && log.newer == FaceLog.limit - 1)
        log.scroll(1, first: 10)
        #expect(log.read.count >= 1)
    }

    @Test("A text that grows is one line of the log") func growing() {
        var log = FaceLog()
        log.note("he", key: "ear 1")
        log.note("hello", key: "ear 1", at: 2)
        #expect(log.entries.map(\.text) == ["hello"])
        log.note("hello again", key: "ear 2")
        log.note("a dropout", .warning)
        log.note("hello again, you", key: "ear 2")
        #expect(log.entries.map(\.text) == ["hello", "hello again", "a dropout", "hello again, you"])
    }
}

/// The log on the screen, by keys and by the mouse.
@Suite struct LogViewTests {
    private let view = scene(TerminalCapabilities(), width: 100, height: 30)

    init() {
        view.look("orb", at: 9)
        for number in 0..<80 { view.log("entry \(number) of many", at: 9) }
    }

    private func screen() -> String {
        view.repaint()
        var terminal = Emulator(width: 100, height: 30)
        terminal.apply(view.frame(at: 10.1))
        #expect(terminal.faults.isEmpty)
        return terminal.text
    }

    private func row(of text: String) throws -> Int {
        try #require(screen().split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.contains(text) })
    }

    @Test("The key l opens it, keys go through it, l goes back to where all else is") func keys() {
        #expect(!view.press([.text("l")], at: 10))
        #expect(screen().contains("entry 79 of many") && screen().contains("entry 60 of many"))
        #expect(screen().contains("PgUp and PgDn scroll"))
        #expect(!view.press([.up, .up], at: 10))
        #expect(!screen().contains("entry 78 of many") && screen().contains("2 newer lines below"))
        #expect(!view.press([.pageUp], at: 10))
        #expect(!screen().contains("entry 60 of many"))
        #expect(!view.press([.home], at: 10))
        #expect(screen().contains("entry 0 of many"))
        view.log("one that came meanwhile", at: 10)
        #expect(screen().contains("entry 0 of many"))
        #expect(!view.press([.end], at: 10))
        #expect(screen().contains("one that came meanwhile") && !screen().contains("newer"))
        #expect(!view.press([.text("l")], at: 10))
        #expect(screen().contains("glowing") && !screen().contains("entry 60 of many"))
        #expect(view.press([.text("l"), .text("q")], at: 10), "q ends it from here too")
    }

    @Test("The wheel over the log goes back in it") func wheel() throws {
        #expect(!view.press([.wheel(-1, x: 10, y: try row(of: "entry 79"))], at: 10))
        #expect(screen().contains("3 newer lines below"))
        #expect(!view.press([.wheel(-1, x: 10, y: 15), .wheel(1, x: 10, y: 15), .wheel(1, x: 10, y: 15)], at: 10))
        #expect(screen().contains("entry 79") && !screen().contains("newer"))
    }

    @Test("The mouse chooses nodes, opens the log and the list of keys, and changes pictures") func mouse() throws {
        let before = screen()
        #expect(!view.press([.click(x: 20, y: 8)], at: 10), "a click on the picture")
        #expect(screen() != before)
        let help = try row(of: "orb: m mutes")
        #expect(!view.press([.click(x: 3, y: help)], at: 10))
        #expect(screen().contains("this list"))
        #expect(!view.press([.click(x: 3, y: 3)], at: 10), "any click closes it")
        #expect(!screen().contains("this list"))
        #expect(!view.press([.click(x: 3, y: try row(of: "entry 79"))], at: 10))
        #expect(screen().contains("entry 60 of many"))
        #expect(!view.press([.text("l"), .click(x: 999, y: 999), .wheel(1, x: 0, y: 0)], at: 10), "nothing is there")
    }

    @Test("Nodes are chosen by a click, and the wheel goes through them") func nodes() async throws {
        view.resize(width: 100, height: 60)
        func screen() -> [Substring] {
            view.repaint()
            var terminal = Emulator(width: 100, height: 60)
            terminal.apply(view.frame(at: 10.1))
            return terminal.text.split(separator: "\n", omittingEmptySubsequences: false)
        }
        let row = try #require(screen().firstIndex { $0.contains("visualizer") })
        #expect(!view.press([.click(x: 50, y: row)], at: 10))
        #expect(screen().contains { $0.contains("orb: m mutes") })
        #expect(!view.press([.wheel(1, x: 50, y: row)], at: 10))
        #expect(screen().contains { $0.contains("speakers: m mutes") })
    }
}
