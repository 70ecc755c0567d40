// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// Runs a program beside this one to its end. It ends with the thread that runs it, and when somebody asks to stop.
struct ToolRun {
    /// The program's path and its arguments.
    var command: [String]
    var environment: [String: String]
    /// Whether somebody asked to stop.
    var isInterrupted: () -> Bool
    /// Called at least ten times a second while it runs.
    var tick: () -> Void = {}

    /// How it ended.
    struct End {
        /// As the kernel gives it.
        var status: Int32
        /// What it printed as errors, the newest 64 KiB.
        var errors: String

        var isSuccess: Bool { status == 0 }
        /// "exit code 1", "SIGKILL"
        var reason: String {
            status & 0x7f != 0 ? signalName(status & 0x7f) : "exit code \(status >> 8 & 0xff)"
        }
    }

    /// The first executable file of a name in $PATH. [any]
    static func find(_ name: String, in environment: [String: String]) -> String? {
        programPath(name, in: environment["PATH"] ?? "")
    }

    /// Runs it; `take` gets what it prints on standard output. [control]
    func run(_ take: (UnsafeRawBufferPointer) throws(Fault) -> Void) throws(Fault) -> End {
        var launcher = ChildLauncher(command)
        launcher.environment = environment.map { "\($0.key)=\($0.value)" }
        launcher.separatesErrors = true
        launcher.endSignal = SIGKILL
        let child: StartedChild
        do throws(SystemError) { child = try launcher.start() } catch { throw Fault(error) }
        var ends = [
            pollfd(fd: child.output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: child.errors, events: Int16(POLLIN), revents: 0),
        ]
        var errors: [UInt8] = []
        var status: Int32?
        defer { for end in ends where end.fd >= 0 { close(end.fd) } }
        do throws(Fault) {
            while true {
                if isInterrupted() { throw .interrupted }
                let isOpen = ends.contains { $0.fd >= 0 }
                let count = poll(&ends, 2, isOpen ? 100 : 5)
                tick()
                // Nothing comes any more: what it started may hold the pipes open after it is gone.
                if count == 0, status != nil { break }
                if count == 0 || !isOpen { status = reap(child) }
                if !isOpen, status != nil { break }
                guard count > 0 else { continue }
                try read(&ends[0], take)
                try read(&ends[1]) { bytes throws(Fault) in
                    errors += bytes
                    errors.removeFirst(max(0, errors.count - 65536))
                }
            }
        } catch {
            if status == nil { stop(child) }
            throw error
        }
        return End(status: status ?? 0, errors: String(decoding: errors, as: UTF8.self))
    }

    /// What there is to be read of a pipe; closes it at its end.
    private func read(
        _ end: inout pollfd, _ take: (UnsafeRawBufferPointer) throws(Fault) -> Void
    ) throws(Fault) {
        guard end.revents != 0 else { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)
        defer { buffer.deallocate() }
        let count = Glibc.read(end.fd, buffer.baseAddress, buffer.count)
        if count > 0 {
            try take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        } else if count == 0 || errno != EINTR {
            close(end.fd)
            end.fd = -1
        }
    }

    private func reap(_ child: StartedChild) -> Int32? {
        var status: Int32 = 0
        return waitpid(child.process, &status, WNOHANG) == child.process ? status : nil
    }

    /// Asks it to end as Ctrl-C does, so that it can clean up, and forces it after two seconds.
    private func stop(_ child: StartedChild) {
        kill(-child.process, SIGINT)
        let deadline = monotonicSeconds() + 2
        while monotonicSeconds() < deadline {
            if reap(child) != nil { return }
            usleep(10_000)
        }
        child.kill()
        _ = child.wait()
    }
}
