// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Config
import Glibc
import GraphFile
import Host
import Synchronization
import System
import Terminal

/// Why standard output took no more: the error's number, 0 as long as it takes everything.
private let outputFault = Atomic<Int32>(0)

/// Writes everything; false when that fails. That standard output cannot be written is told at once, ends the output and
/// not the run, and makes the command fail in the end. A reader that has gone away wants no more: that ends a run, too,
/// and needs no word.
@discardableResult
func writeOut(_ text: String, to descriptor: Int32 = STDOUT_FILENO) -> Bool {
    writeOut(Array(text.utf8), to: descriptor)
}

/// The same of any bytes.
@discardableResult
func writeOut(_ bytes: [UInt8], to descriptor: Int32 = STDOUT_FILENO) -> Bool {
    if descriptor == STDOUT_FILENO, outputFault.load(ordering: .relaxed) != 0 { return false }
    let fault = writeAll(bytes, to: descriptor)
    if fault != 0, descriptor == STDOUT_FILENO { outputFailed(fault) }
    return fault == 0
}

private func outputFailed(_ number: Int32) {
    guard outputFault.compareExchange(expected: 0, desired: number, ordering: .relaxed).exchanged else { return }
    if number == EPIPE { return }
    writeOut(
        "voicegraph: standard output cannot be written: \(String(cString: strerror(number)))\n", to: STDERR_FILENO)
}

/// Whether something that was to be on standard output is not there, and somebody wanted it.
var isOutputLost: Bool { ![0, EPIPE].contains(outputFault.load(ordering: .relaxed)) }

/// Whether whoever read standard output has gone away.
var isReaderGone: Bool { outputFault.load(ordering: .relaxed) == EPIPE }

/// Prints diagnostics, in colours where a person sees them.
func report(_ diagnostics: [Diagnostic], json: Bool = false, to descriptor: Int32 = STDERR_FILENO) {
    guard !diagnostics.isEmpty else { return }
    writeOut(
        json ? DiagnosticFormat.json(diagnostics) : diagnosticFormat(for: descriptor).text(diagnostics), to: descriptor)
}

/// How diagnostics look where `descriptor` leads.
func diagnosticFormat(for descriptor: Int32) -> DiagnosticFormat {
    DiagnosticFormat(color: isatty(descriptor) == 1 && getenv("NO_COLOR") == nil)
}

/// Writes all of a file, or leaves what is there and says why. `mode`: of a file that is not there yet.
func writeWhole(_ bytes: [UInt8], to path: String, mode: mode_t = 0o666) throws {
    do throws(SystemError) { try WholeFile.write(bytes, to: path, mode: mode) } catch { throw fail("\(error)") }
}

/// Says why on standard error; exit code 1.
func fail(_ reason: String) -> ExitCode {
    writeOut("voicegraph: \(printableLines(reason))\n", to: STDERR_FILENO)
    return ExitCode(1)
}

/// The same of a fault: "message; hint".
func fail(_ fault: Fault) -> ExitCode {
    fail(fault.hint.isEmpty ? fault.message : "\(fault.message); \(fault.hint)")
}
