// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import Synchronization
import System
import TestSupport

@testable import Terminal

/// A terminal of our own: what is written to it can be read, keys can be typed.
private final class PseudoTerminal {
    let master: Int32
    let slave: Int32
    let path: String

    init(width: UInt16 = 80, height: UInt16 = 24) throws {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        // TIOCSPTLCK and TIOCGPTN: what unlockpt and ptsname do.
        var (locked, number): (Int32, UInt32) = (0, 0)
        let ready = ioctl(master, 0x4004_5431, &locked) == 0 && ioctl(master, 0x8004_5430, &number) == 0
        try #require(master >= 0 && ready)
        path = "/dev/pts/\(number)"
        slave = open(path, O_RDWR | O_NOCTTY)
        self.master = master
        try #require(slave >= 0)
        resize(width, height)
    }

    deinit {
        close(master)
        close(slave)
    }

    /// `cell`: the size of a cell in pixels, where it is told.
    func resize(_ width: UInt16, _ height: UInt16, cell: (width: UInt16, height: UInt16) = (0, 0)) {
        var size = winsize(
            ws_row: height, ws_col: width, ws_xpixel: width * cell.width, ws_ypixel: height * cell.height)
        _ = ioctl(slave, UInt(TIOCSWINSZ), &size)
    }

    func type(_ text: String) { _ = text.withCString { write(master, $0, strlen($0)) } }

    /// What has been written, until `marker` appears; fails the test when it does not.
    func read(until marker: String) async throws -> String {
        // Waits without keeping its thread: whoever writes may need it.
        var part = [UInt8](repeating: 0, count: 65536)
        var bytes: [UInt8] = []
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(60)
        while clock.now < deadline {
            var request = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, 0) > 0, request.revents & Int16(POLLIN) != 0 else {
                try await Task.sleep(for: .milliseconds(5))
                continue
            }
            let count = Glibc.read(master, &part, part.count)
            if count > 0 { bytes += part[..<count] }
            let text = String(decoding: bytes, as: UTF8.self)
            if text.contains(marker) { return text }
        }
        Issue.record("never saw \(marker.debugDescription)")
        return String(decoding: bytes, as: UTF8.self)
    }

    var mode: tcflag_t {
        var mode = termios()
        tcgetattr(slave, &mode)
        return mode.c_lflag
    }
}

private let gone = "\u{1B}[?1049l"
private let taken = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"

@Suite(.serialized, .timeLimit(.minutes(5))) struct DeviceTests {
    private func device(_ terminal: PseudoTerminal) throws -> TerminalDevice {
        try #require(
            TerminalDevice(capabilities: TerminalCapabilities(), input: terminal.slave, output: terminal.slave))
    }

    @Test("The terminal is taken once and given back as it was") func takenOnce() async throws {
        let terminal = try PseudoTerminal(width: 100, height: 30)
        let before = terminal.mode
        let device = try device(terminal)
        #expect(device.size == (100, 30))
        #expect(terminal.mode & tcflag_t(ICANON | ECHO) == 0)
        // And the mouse with it.
        #expect(try await terminal.read(until: "\u{1B}[?1006h").contains(taken + "\u{1B}[?1000h"))
        #expect(terminal.mode & tcflag_t(ISIG) != 0, "Ctrl-C stays a signal")
        #expect(
            TerminalDevice(capabilities: TerminalCapabilities(), input: terminal.slave, output: terminal.slave) == nil)
        device.close()
        device.close()
        #expect(terminal.mode == before)
        let end = try await terminal.read(until: gone)
        #expect(end.contains("\u{1B}[?25h") && end.contains("\u{1B}[?7h"))
        #expect(end.contains("\u{1B}[?1006l") && end.contains("\u{1B}[?1000l"))
        let again = try self.device(terminal)
        again.close()
    }

    @Test("What is no terminal is not taken") func noTerminal() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        #expect(TerminalDevice(capabilities: TerminalCapabilities(), input: ends[0], output: ends[1]) == nil)
        let terminal = try PseudoTerminal()
        let dumb = TerminalCapabilities(addressable: false)
        #expect(TerminalDevice(capabilities: dumb, input: terminal.slave, output: terminal.slave) == nil)
        close(ends[0])
        close(ends[1])
    }

    @Test("The screen follows the size, and q quits") func sizeAndQuit() async throws {
        let terminal = try PseudoTerminal()
        let device = try device(terminal)
        let view = scene(TerminalCapabilities(), width: 80, height: 24)
        let showing = Task { await device.show(view) }
        #expect(try await terminal.read(until: "[24;").contains("glowing"))
        terminal.resize(120, 40)
        #expect(try await terminal.read(until: "[40;").contains("[2J"))
        terminal.type("x\u{1B}[1;5q\u{1B}OqQ")
        #expect(await showing.value)
        device.close()
    }

    @Test("A terminal that takes nothing holds nobody up, and gets the rest when it takes it") func heldUp()
        async throws
    {
        let terminal = try PseudoTerminal(width: 400, height: 200)
        let device = try device(terminal)
        let view = scene(TerminalCapabilities(graphics: Graphics(.sixel)), width: 400, height: 200)
        let showing = Task { await device.show(view) }
        try await eventually("it takes nothing more") { TerminalOutput.isCut.load(ordering: .relaxed) }
        #expect(try await terminal.read(until: "\u{1B}[?2026l").contains("\u{1B}[?2026h"))
        view.repaint()
        try await eventually("it takes nothing more") { TerminalOutput.isCut.load(ordering: .relaxed) }
        showing.cancel()
        #expect(!(await showing.value))
        device.close()
        #expect(!device.print(String(repeating: "What it does not take. ", count: 4000)))
    }

    @Test("Pictures in pixels follow the size of a cell, as another font has it") func cellSize() async throws {
        let terminal = try PseudoTerminal()
        terminal.resize(80, 24, cell: (8, 16))
        let device = try device(terminal)
        let view = scene(TerminalCapabilities(graphics: Graphics(.sixel)), width: 80, height: 24)
        let showing = Task { await device.show(view) }
        func width(_ output: String) -> Int? {
            output.components(separatedBy: "\"1;1;").last.flatMap { Int($0.prefix { $0 != ";" }) }
        }
        let small = try #require(width(try await terminal.read(until: "\u{1B}\\\u{1B}[?2026l")))
        terminal.resize(80, 24, cell: (16, 32))
        let large = try await terminal.read(until: "\"1;1;\(2 * small);")
        #expect(large.contains("[2J"), "nothing is left of what was smaller")
        terminal.type("q")
        // Read on: a picture is longer than what a terminal takes that nobody reads.
        let ending = Task {
            defer { device.close() }
            return await showing.value
        }
        _ = try await terminal.read(until: gone)
        #expect(await ending.value)
    }

    @Test(
        "Bytes become keys; q, Ctrl-C and Ctrl-D quit",
        arguments: [
            ("q", [KeyPress.text("q")], true), ("Q", [.text("Q")], true), ("\u{3}", [.control("c")], true),
            ("ab", [.text("a"), .text("b")], false), ("\u{1B}[q", [], false), ("\u{1B}Oq", [], false),
            ("\u{1B}[1;5A\u{1B}[A\u{1B}OBq", [.up, .down, .text("q")], true), ("\u{1B}", [.escape], false),
            ("", [], false),
            ("\r\u{7F}\u{8}\u{15}", [.enter, .erase, .erase, .control("u")], false),
            ("é語🙂", [.text("é"), .text("語"), .text("🙂")], false), ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown], false),
            ("\u{1B}[H\u{1B}[4~\u{1B}[1~\u{1B}[F", [.home, .end, .home, .end], false),
            ("\u{1B}[<0;5;3M\u{1B}[<0;5;3m", [.click(x: 4, y: 2)], false),
            ("\u{1B}[<64;300;1M\u{1B}[<69;1;1M", [.wheel(-1, x: 299, y: 0), .wheel(1, x: 0, y: 0)], false),
            ("\u{1B}[<2;5;3M\u{1B}[<32;5;3M\u{1B}[<0;0;3M\u{1B}[<0;3M\u{1B}[<;;Mq", [.text("q")], true),
            ("\u{1B}[M #!q", [.click(x: 2, y: 0), .text("q")], true), ("\u{1B}[M qq", [.click(x: 80, y: 80)], false),
        ] as [(String, [KeyPress], Bool)])
    func keysOfBytes(bytes: String, expected: [KeyPress], quits: Bool) {
        let found = keys(Array(bytes.utf8))
        #expect(found == expected && found.contains(where: \.quits) == quits)
    }

    @Test("Bytes that are no keys are nothing") func noKeys() {
        #expect(keys([0xC3]).isEmpty && keys([0xFF, 0x80]).isEmpty && keys([0x1B, 0x5B]).isEmpty)
    }

    @Test("Cancelling ends the show") func cancelled() async throws {
        let terminal = try PseudoTerminal()
        let device = try device(terminal)
        let showing = Task { await device.show(scene(TerminalCapabilities(), width: 80, height: 24)) }
        _ = try await terminal.read(until: "glowing")
        showing.cancel()
        #expect(await showing.value == false)
        device.close()
    }

    /// Takes the terminal at `path` in a process that is about to end.
    private static func take(_ path: String) {
        let terminal = open(path, O_RDWR | O_NOCTTY)
        // Never freed: the process ends with it open.
        let device = TerminalDevice(capabilities: TerminalCapabilities(), input: terminal, output: terminal)
        precondition(device != nil)
        _ = Unmanaged.passRetained(device!)
    }

    private func expectGivenBack(_ terminal: PseudoTerminal, _ before: tcflag_t) async throws {
        let text = try await terminal.read(until: gone)
        #expect(text.contains("\u{1B}[?25h"))
        #expect(terminal.mode == before)
    }

    @Test(
        "A signal that ends the program gives the terminal back first",
        arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGSEGV])
    func signals(signal: Int32) async throws {
        let terminal = try PseudoTerminal()
        let (path, before) = (terminal.path, terminal.mode)
        await #expect(processExitsWith: .failure) { [path = path as String, signal = signal as Int32] in
            DeviceTests.take(path)
            // This thread may have signals blocked: the process as a whole has not.
            kill(getpid(), signal)
            while true { pause() }
        }
        try await expectGivenBack(terminal, before)
    }

    @Test("A trap gives the terminal back") func trap() async throws {
        let terminal = try PseudoTerminal()
        let (path, before) = (terminal.path, terminal.mode)
        await #expect(processExitsWith: .failure) { [path = path as String] in
            DeviceTests.take(path)
            fatalError("on purpose")
        }
        try await expectGivenBack(terminal, before)
    }

    @Test(
        "A terminal is asked for its background; one that does not say keeps what the environment told",
        arguments: [
            ("\u{1B}]11;rgb:ffff/fafa/f0f0\u{1B}\\\u{1B}[?64;1;4c", true),
            ("\u{1B}]11;rgb:1c/1c/24\u{07}\u{1B}[?6c", false),
            ("\u{1B}[?1;2c", true),
        ])
    func background(_ answer: String, isLight: Bool) async throws {
        let terminal = try PseudoTerminal()
        let before = terminal.mode
        var capabilities = TerminalCapabilities(light: isLight == answer.hasPrefix("\u{1B}[?"))
        terminal.type(answer)
        capabilities.ask(input: terminal.slave, output: terminal.slave, patience: 20)
        #expect(capabilities.light == isLight)
        #expect(terminal.mode == before)
        #expect(try await terminal.read(until: "\u{1B}[c").contains("\u{1B}]11;?\u{1B}\\"))
    }

    @Test("Leaving by exit gives the terminal back") func exits() async throws {
        let terminal = try PseudoTerminal()
        let (path, before) = (terminal.path, terminal.mode)
        await #expect(processExitsWith: .exitCode(3)) { [path = path as String] in
            DeviceTests.take(path)
            exit(3)
        }
        try await expectGivenBack(terminal, before)
    }

    /// Only by hand: VOICEGRAPH_SHOW=SECONDS shows a scene on the real terminal.
    @Test("A scene can be looked at", .enabled(if: ProcessInfo.processInfo.environment["VOICEGRAPH_SHOW"] != nil))
    func shown() async throws {
        let environment = ProcessInfo.processInfo.environment
        let capabilities = TerminalCapabilities(environment: environment)
        let device = try #require(TerminalDevice(capabilities: capabilities))
        defer { device.close() }
        let style = environment["VOICEGRAPH_STYLE"] ?? "orb"
        let view = TerminalView(graph: sampleGraph(), capabilities: capabilities, width: 80, height: 24)
        let text = "Hello, this is a glowing voice orb. It listens, it speaks, and everything runs through one graph."
        let start = monotonicSeconds()
        let feeding = Task {
            var status = sampleStatus()
            view.look(style, at: start)
            view.speak(text, at: start)
            while !Task.isCancelled {
                let now = monotonicSeconds()
                let age = now - start
                let level = age < 8 ? Float(abs(sin(age * 2.2)) * (0.6 + 0.3 * sin(age * 13))) : 0
                status.time = age
                view.update(status: status, at: now)
                view.update(
                    levels: SeriesFrame(
                        node: "meter", time: age, peak: [level, level * 0.8], rms: [level * 0.5, level * 0.4],
                        orb: level), at: now)
                view.update(
                    levels: SeriesFrame(node: "orb", time: age, peak: [level], rms: [level * 0.5], orb: level), at: now)
                if age < 8 {
                    let place = min(Int(age * 12), text.count - 1)
                    view.word(Int64(place), 5, at: now)
                } else {
                    view.speak(nil, at: now)
                }
                try await Task.sleep(nanoseconds: 16_000_000)
            }
        }
        let showing = Task { await device.show(view) }
        let seconds = Double(environment["VOICEGRAPH_SHOW"] ?? "") ?? 5
        let clock = Task {
            try await Task.sleep(nanoseconds: UInt64(seconds * 1e9))
            showing.cancel()
        }
        _ = await showing.value
        clock.cancel()
        feeding.cancel()
    }
}
