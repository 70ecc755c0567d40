// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a program prints on standard output and error, and its exit code; nil: it could not be started, or did not end in
/// time and was ended. When the time is over `mayGoOn` is asked whether that process may have as much again, until `most`
/// seconds are over. [control]
public func outputOf(
    _ command: [String], within seconds: Double, most: Double = 0, mayGoOn: (pid_t) -> Bool = { _ in false }
) -> (code: Int32, text: String)? {
    var launcher = ChildLauncher(command)
    launcher.endSignal = SIGKILL
    guard let child = try? launcher.start() else { return nil }
    defer { close(child.output) }
    let start = monotonicSeconds()
    var deadline = start + seconds
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        var end = pollfd(fd: child.output, events: Int16(POLLIN), revents: 0)
        let rest = deadline - monotonicSeconds()
        let ready = rest > 0 ? poll(&end, 1, Int32(rest * 1000) + 1) : 0
        if ready < 0, errno == EINTR { continue }
        if ready == 0, deadline - start < most, mayGoOn(child.process) {
            deadline += seconds
            continue
        }
        guard ready > 0 else {
            child.kill()
            _ = child.wait()
            return nil
        }
        let count = read(child.output, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { break }
        bytes += buffer[..<count]
    }
    // It may have closed its output and live on.
    var status: Int32 = 0
    while waitpid(child.process, &status, WNOHANG) == 0 {
        if monotonicSeconds() > deadline {
            child.kill()
            _ = child.wait()
            return nil
        }
        usleep(1000)
    }
    let code = status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
    return (code, String(decoding: bytes, as: UTF8.self))
}
