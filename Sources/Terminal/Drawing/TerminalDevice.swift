// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import Synchronization

/// What can be shown on a terminal.
public protocol DeviceView: AnyObject, Sendable {
    /// Takes the terminal's size. [any]
    func resize(width: Int, height: Int)
    /// A cell of the terminal has another size than before, in pixels. [any]
    func resizeCell(width: Int, height: Int)
    /// The terminal was used by others: the next frame paints everything. [any]
    func repaint()
    /// The bytes that bring the terminal up to date; none when it is. [any]
    func frame(at time: Double) -> [UInt8]
    /// Takes keys; true: the user asks to quit. [any]
    func press(_ keys: [KeyPress], at time: Double) -> Bool
}

extension DeviceView {
    /// What shows no pixels need not know it.
    public func resizeCell(width: Int, height: Int) {}

    /// No other key does anything.
    public func press(_ keys: [KeyPress], at time: Double) -> Bool { keys.contains(where: \.quits) }
}

/// The terminal of this process while a screen is shown on it: alternate screen, hidden cursor, keys without echo.
/// It is given back on every way out: `close`, exit, a fatal signal, stop and continue. There is one at a time.
public final class TerminalDevice: Sendable {
    private let keyboard: Bool
    private let input: Int32
    private let output: Int32
    private let drawing: TerminalOutput
    private static let taken = Atomic<Bool>(false)
    private let open = Atomic<Bool>(true)

    /// Takes the terminal; nil if output is no terminal, its cursor cannot be moved, the process runs in the
    /// background, or the terminal is taken already. [any]
    public init?(capabilities: TerminalCapabilities, input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO) {
        guard capabilities.addressable, isatty(output) == 1, isForeground(output) else { return nil }
        guard !TerminalDevice.taken.exchange(true, ordering: .acquiring) else { return nil }
        keyboard = isatty(input) == 1
        self.input = input
        self.output = output
        drawing = TerminalOutput(output)
        keep(keyboard: keyboard, images: capabilities.graphics?.encoding == .kitty, input, drawing.descriptor)
        installHandlers()
        enter()
    }

    deinit { close() }

    /// Gives the terminal back; later calls do nothing. [any]
    public func close() {
        guard open.exchange(false, ordering: .relaxed) else { return }
        leave()
        drawing.forget()
        removeHandlers()
        TerminalDevice.taken.store(false, ordering: .releasing)
    }

    /// Writes a text on the terminal that was given back; false: it takes nothing for a second. [any]
    @discardableResult
    public func print(_ text: String) -> Bool { drawing.send(Array(text.utf8), within: 1) }

    /// Columns and rows; 80 x 24 if the terminal does not say. [any]
    public var size: (width: Int, height: Int) {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        // A terminal can claim any size; nobody looks at more than this.
        return (min(Int(size.ws_col), 1000), min(Int(size.ws_row), 500))
    }

    /// Shows a view until the user asks to quit (true) or the task is cancelled (false), so many frames a second at most, on
    /// a thread of its own: one that sleeps costs less than a task does. It calls `reading` before each frame, and ten times
    /// a second at least, as it looks for keys. A terminal that does not take bytes (Ctrl-S) is not waited for. [any]
    public func show(
        _ view: any DeviceView, framesPerSecond: Double = 30, reading: @escaping @Sendable () -> Void = {}
    ) async -> Bool {
        let isCancelled = Lock(false)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let thread = try? SystemThread(name: "vg-screen") { [self] in
                    let quits = run(view, 1 / max(0.01, framesPerSecond), reading, until: isCancelled)
                    continuation.resume(returning: quits)
                }
                if thread == nil { continuation.resume(returning: false) }
                thread?.detach()
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
            isCancelled.signal()
        }
    }

    private func run(
        _ view: any DeviceView, _ period: Double, _ reading: () -> Void, until isCancelled: borrowing Lock<Bool>
    ) -> Bool {
        let rounds = max(1, Int((period / 0.1).rounded(.up)))
        var cell = sizeOfCell(output)
        var due = monotonicSeconds()
        var round = 0
        while true {
            reading()
            if step(view, &cell, draws: round == 0) { return true }
            round = (round + 1) % rounds
            // After a pause it does not hurry through what it has missed, and where drawing takes longer than a frame it
            // leaves time for others.
            due = max(due + period / Double(rounds), monotonicSeconds() + period / Double(4 * rounds))
            if isCancelled.wait(until: due, { $0 ? true : nil }) == true { return false }
        }
    }

    /// One frame, and keys; true: the user asks to quit.
    private func step(_ view: any DeviceView, _ cell: inout (width: Int, height: Int)?, draws: Bool) -> Bool {
        guard isForeground(output) else { return false }
        if stopped.exchange(false, ordering: .relaxed) {
            drawing.forget()
            enter()
            view.repaint()
        }
        let size = size
        view.resize(width: size.width, height: size.height)
        if let now = sizeOfCell(output), cell ?? (0, 0) != now {
            cell = now
            view.resizeCell(width: now.width, height: now.height)
        }
        // A frame that it has not taken whole is not followed by another.
        if draws, drawing.isClear(), isReady(output, Int16(POLLOUT)) {
            let bytes = view.frame(at: monotonicSeconds())
            if !bytes.isEmpty { drawing.send(bytes) }
        }
        let pressed = keyboard ? pressed() : []
        return !pressed.isEmpty && view.press(pressed, at: monotonicSeconds())
    }

    private func pressed() -> [KeyPress] {
        guard isReady(input, Int16(POLLIN)) else { return [] }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(input, &bytes, bytes.count)
        return count > 0 ? keys(bytes[..<count]) : []
    }
}

private func isReady(_ descriptor: Int32, _ events: Int16) -> Bool {
    var request = pollfd(fd: descriptor, events: events, revents: 0)
    return poll(&request, 1, 0) > 0 && request.revents & events != 0
}

/// Whether a terminal is not another program's now.
func isForeground(_ terminal: Int32) -> Bool {
    let group = tcgetpgrp(terminal)
    return group < 0 || group == getpgrp()
}

/// Whether all was written; what the terminal does not take for a second is not.
private func writeAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count > 0 {
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if errno == EAGAIN {
            var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            if poll(&request, 1, 1000) <= 0 { return false }
        } else if errno != EINTR {
            return false
        }
    }
    return true
}

// What signal handlers need is kept in plain memory that is never freed.

private struct Kept {
    var mode = termios()
    var raw = termios()
    var keyboard = false
    var images = false
    var input = STDIN_FILENO
    var output = STDOUT_FILENO
}

// Unsafe: written before the handlers are installed, only read after that.
nonisolated(unsafe) private let kept: UnsafeMutablePointer<Kept> = {
    let memory = UnsafeMutablePointer<Kept>.allocate(capacity: 1)
    memory.initialize(to: Kept())
    return memory
}()
// Unsafe: one slot for each signal, under the same rule.
nonisolated(unsafe) private let oldActions: UnsafeMutablePointer<sigaction> = {
    let memory = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
    memory.initialize(repeating: sigaction(), count: 65)
    return memory
}()

private let entered = Atomic<Bool>(false)
private let stopped = Atomic<Bool>(false)

private let requests = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE]

private typealias Handler = @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void
private let killHandler: Handler = { whenKilled($0, $1, $2) }
private let stopHandler: Handler = { whenStopped($0, $1, $2) }

private func keep(keyboard: Bool, images: Bool, _ input: Int32, _ output: Int32) {
    kept.pointee.keyboard = keyboard
    kept.pointee.images = images
    kept.pointee.input = input
    kept.pointee.output = output
    guard keyboard else { return }
    tcgetattr(input, &kept.pointee.mode)
    kept.pointee.raw = unbuffered(kept.pointee.mode)
}

/// A terminal's mode in which keys are not shown, and come as they are pressed; reading does not wait for them.
package func unbuffered(_ mode: termios) -> termios {
    var raw = mode
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    withUnsafeMutableBytes(of: &raw.c_cc) {
        $0[Int(VMIN)] = 0
        $0[Int(VTIME)] = 0
    }
    return raw
}

@discardableResult
private func send(_ text: StaticString) -> Bool {
    writeAll(kept.pointee.output, UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
}

/// Alternate screen, no cursor, no wrapping at the right edge, and the mouse's buttons told in numbers.
private func enter() {
    if kept.pointee.keyboard { tcsetattr(kept.pointee.input, TCSANOW, &kept.pointee.raw) }
    entered.store(true, ordering: .relaxed)
    send("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l")
    if kept.pointee.keyboard { send("\u{1B}[?1000h\u{1B}[?1006h") }
}

/// Undoes `enter`, once, as far as the terminal takes that. Safe in a signal handler.
private func leave() {
    guard entered.exchange(false, ordering: .relaxed) else { return }
    // The end of a picture that it has taken a part of.
    var isTaken = !TerminalOutput.isCut.exchange(false, ordering: .relaxed) || send("\u{1B}\\")
    if isTaken, kept.pointee.keyboard { isTaken = send("\u{1B}[?1006l\u{1B}[?1000l") }
    if isTaken, kept.pointee.images { isTaken = send("\u{1B}_Ga=d,d=A,q=2\u{1B}\\") }
    if isTaken { send("\u{1B}[?2026l\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l") }
    if kept.pointee.keyboard { tcsetattr(kept.pointee.input, TCSANOW, &kept.pointee.mode) }
}

private let leaveAtExit: Void = { atexit { leave() } }()

private func installHandlers() {
    _ = leaveAtExit
    for signal in faultSignals + requests + [SIGTSTP] {
        sigaction(signal, nil, oldActions + Int(signal))
        let old = oldActions[Int(signal)]
        // Requests that the program handles or ignores are its own affair.
        let isDefault = old.__sigaction_handler.sa_handler == nil && old.sa_flags & SA_SIGINFO == 0
        if !faultSignals.contains(signal), !isDefault { continue }
        var action = sigaction()
        action.sa_flags = SA_SIGINFO | SA_ONSTACK
        action.__sigaction_handler.sa_sigaction = signal == SIGTSTP ? stopHandler : killHandler
        sigaction(signal, &action, nil)
    }
}

private func removeHandlers() {
    for signal in faultSignals + requests + [SIGTSTP] {
        var current = sigaction()
        sigaction(signal, nil, &current)
        guard current.sa_flags & SA_SIGINFO != 0 else { continue }
        let handler = unsafeBitCast(current.__sigaction_handler.sa_sigaction, to: Int.self)
        if [killHandler, stopHandler].contains(where: { unsafeBitCast($0, to: Int.self) == handler }) {
            sigaction(signal, oldActions + Int(signal), nil)
        }
    }
}

/// Gives the terminal back, then lets the signal do what it would have done.
private func whenKilled(_ signal: Int32, _ info: UnsafeMutablePointer<siginfo_t>?, _ context: UnsafeMutableRawPointer?)
{
    leave()
    sigaction(signal, oldActions + Int(signal), nil)
    // A fault happens again by itself, with its true address; everything else must be sent again.
    let isFault = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP
    if !isFault || (info?.pointee.si_code ?? 0) <= 0 { raise(signal) }
}

/// Ctrl-Z: gives the terminal back and stops; `show` takes it again when the process is in the foreground.
private func whenStopped(_ signal: Int32, _ info: UnsafeMutablePointer<siginfo_t>?, _ context: UnsafeMutableRawPointer?)
{
    leave()
    stopped.store(true, ordering: .relaxed)
    raise(SIGSTOP)
}
