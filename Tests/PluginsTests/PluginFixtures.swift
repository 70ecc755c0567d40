// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import TestSupport

/// Runs a program to its end; fails the test with what it wrote when it does not succeed.
@discardableResult
func run(_ program: String, _ arguments: [String], in folder: String? = nil) throws -> String {
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

/// Compiles `Tests/Fixtures/plugins/NAME.c` into a shared object, named after it unless told otherwise.
@discardableResult
func buildFixture(_ name: String, in scratch: Scratch, as file: String? = nil, _ extra: [String] = []) throws
    -> PluginFile
{
    let output = scratch.file(file ?? "libvg-\(name).so")
    try run(
        "cc",
        [
            "-std=c11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-I\(packageRoot)/Sources/CNode/include",
            "\(packageRoot)/Tests/Fixtures/plugins/\(name).c", "-o", output,
        ] + extra)
    return PluginFile(path: output)
}

/// Compiles a fixture, loads it, and returns why that failed.
func failure(_ name: String) throws -> PluginFailure {
    let scratch = try Scratch()
    let file = try buildFixture(name, in: scratch)
    return try #require(throws: PluginFailure.self) { try PluginLoader.load(file) }
}
