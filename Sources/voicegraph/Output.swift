// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host

/// Writes everything; false when that fails, for example because a reader has gone away: that ends the output and not
/// the run.
@discardableResult
func writeOut(_ text: String, to descriptor: Int32 = STDOUT_FILENO) -> Bool {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { return false }
        rest = rest.dropFirst(written)
    }
    return true
}

/// Prints diagnostics, in colours where a person sees them.
func report(_ diagnostics: [Diagnostic], json: Bool = false, to descriptor: Int32 = STDERR_FILENO) {
    guard !diagnostics.isEmpty else { return }
    let color = isatty(descriptor) == 1 && getenv("NO_COLOR") == nil
    writeOut(
        json ? DiagnosticFormat.json(diagnostics) : DiagnosticFormat(color: color).text(diagnostics), to: descriptor)
}

/// Says why on standard error; exit code 1.
func fail(_ reason: String) -> ExitCode {
    writeOut("voicegraph: \(reason)\n", to: STDERR_FILENO)
    return ExitCode(1)
}

/// The process environment.
func environment() -> [String: String] {
    var result: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
        let pair = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if pair.count == 2 { result[String(pair[0])] = String(pair[1]) }
        entry += 1
    }
    return result
}
