// SPDX-License-Identifier: Apache-2.0
import TestSupport

@testable import Terminal

@Suite struct LookTests {
    static let ladders: [(String, TerminalCapabilities)] = [
        ("true", TerminalCapabilities()), ("palette", TerminalCapabilities(colors: .palette)),
        ("sixteen", TerminalCapabilities(colors: .sixteen)), ("none", TerminalCapabilities(colors: .none)),
        ("ascii", TerminalCapabilities(colors: .none, unicode: false)),
        ("light", TerminalCapabilities(light: true)),
    ]

    @Test(
        "Every ladder and size paints a clean screen", arguments: LookTests.ladders,
        [(80, 24), (200, 50), (40, 10), (120, 30)])
    func everySize(ladder: (String, TerminalCapabilities), size: (Int, Int)) throws {
        let view = scene(ladder.1, width: size.0, height: size.1)
        let bytes = view.frame(at: 10.03)
        try look(bytes, "term-\(ladder.0)-\(size.0)x\(size.1).ansi")
        var terminal = Emulator(width: size.0, height: size.1)
        terminal.apply(bytes)
        #expect(terminal.faults.isEmpty)
        #expect(terminal.text.contains("voice"))
        #expect(!bytes.isEmpty)
    }

    @Test("The other styles paint a clean screen too", arguments: ["bars", "wave"], LookTests.ladders)
    func otherStyles(style: String, ladder: (String, TerminalCapabilities)) throws {
        let view = scene(ladder.1, width: 80, height: 24, style: style, preset: "glacier", degraded: false)
        let bytes = view.frame(at: 10.03)
        try look(bytes, "term-\(style)-\(ladder.0)-80x24.ansi")
        var terminal = Emulator(width: 80, height: 24)
        terminal.apply(bytes)
        #expect(terminal.faults.isEmpty)
    }
}
