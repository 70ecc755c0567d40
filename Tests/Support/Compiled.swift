// SPDX-License-Identifier: Apache-2.0
import Testing

/// Compiles `Tests/Fixtures/FOLDER/NAME.c` into a shared object in `scratch`; returns its path.
public func compile(_ source: String, in scratch: Scratch, as name: String) async throws -> String {
    let output = scratch.file(name)
    let result = try await runTool([
        "cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-I\(packageRoot)/Sources/CNode/include",
        "\(packageRoot)/Tests/Fixtures/\(source).c", "-o", output, "-ldl",
    ])
    try #require(result.status == 0, "\(result.output)")
    return output
}
