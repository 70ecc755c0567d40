// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization

/// How a program ended and what it printed on both outputs.
public struct ToolResult: Sendable {
    /// Its exit code, or minus the signal that ended it.
    public var status: Int32
    /// Standard output and error, mixed.
    public var output: String
}

/// Runs a program found in $PATH to its end; after `seconds` it is killed and this throws.
@discardableResult
public func runTool(
    _ arguments: [String], environment: [String: String] = [:], seconds: Double = 60
) async throws -> ToolResult {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    var inherited = ProcessInfo.processInfo.environment
    // A sanitizer loaded into the tests is not meant for other programs.
    inherited["LD_PRELOAD"] = nil
    process.environment = inherited.merging(environment) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    let ended = Ended()
    process.terminationHandler = { _ in ended.value.store(true, ordering: .releasing) }
    try process.run()
    let reading = Task.detached { try pipe.fileHandleForReading.readToEnd() ?? Data() }
    do {
        try await eventually("\(arguments.joined(separator: " ")) ends", seconds: seconds) {
            ended.value.load(ordering: .acquiring)
        }
    } catch {
        kill(process.processIdentifier, SIGKILL)
        throw error
    }
    let status = process.terminationStatus
    return ToolResult(
        status: process.terminationReason == .uncaughtSignal ? -status : status,
        output: String(decoding: try await reading.value, as: UTF8.self))
}

private final class Ended: Sendable {
    let value = Atomic(false)
}
