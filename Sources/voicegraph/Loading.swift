// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host

/// Reads a graph or ends the command with everything that is wrong with it on standard error.
func loadGraph(
    _ file: String, _ overrides: [String], _ pluginPath: [String],
    change: (inout GraphDescription) throws(HostError) -> Void
) throws -> PreparedGraph {
    let registry = NodeRegistry(search: .standard(extra: pluginPath))
    let prepared: PreparedGraph?
    let diagnostics: [Diagnostic]
    do throws(HostError) {
        (prepared, diagnostics) = try PreparedGraph.load(
            path: file, overrides: overrides, registry: registry, change: change)
    } catch {
        throw fail("\(error)")
    }
    report(diagnostics)
    guard let prepared else { throw ExitCode(1) }
    return prepared
}

/// Prints diagnostics on standard error.
func report(_ diagnostics: [Diagnostic], json: Bool = false) {
    guard !diagnostics.isEmpty else { return }
    let color = isatty(STDERR_FILENO) == 1 && getenv("NO_COLOR") == nil
    writeOut(
        json ? DiagnosticFormat.json(diagnostics) : DiagnosticFormat(color: color).text(diagnostics),
        to: STDERR_FILENO)
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
