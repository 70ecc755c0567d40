// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

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
    let scratch = try Scratch()
    let child = try SpawnedChild(arguments, environment: environment, output: scratch.file("output"))
    do {
        try await eventually("\(arguments.joined(separator: " ")) ends", seconds: seconds) { child.status != nil }
    } catch {
        kill(child.processID, SIGKILL)
        throw error
    }
    let output = try Data(contentsOf: URL(fileURLWithPath: scratch.file("output")))
    return ToolResult(status: child.status!, output: String(decoding: output, as: UTF8.self))
}

/// Runs a program to its end; fails the test with what it wrote when it does not succeed.
@discardableResult
public func run(_ program: String, _ arguments: [String], in folder: String? = nil) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    // A sanitizer loaded into the tests is not meant for other programs.
    process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "LD_PRELOAD" }
    if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(program) \(arguments.joined(separator: " ")): \(output)")
    return output
}
