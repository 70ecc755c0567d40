// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import TestSupport

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
