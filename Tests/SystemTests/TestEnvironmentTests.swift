// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

@Suite("The environment of the tests") struct TestEnvironmentTests {
    @Test("Folders, language and servers are not those of whoever runs the tests, and this build is first in $PATH")
    func own() async throws {
        let environment = ProcessInfo.processInfo.environment
        let folder = try #require(environment["VOICEGRAPH_TEST_FOLDER"])
        for name in ["HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
            #expect(environment[name]?.hasPrefix(folder + "/") == true, "\(name)")
            #expect(FileManager.default.isWritableFile(atPath: environment[name] ?? ""), "\(name)")
        }
        #expect(environment["LANG"] == "C.UTF-8" && environment["LC_ALL"] == nil)
        #expect(environment["JACK_DEFAULT_SERVER"] == "vgt-none" && environment["TMPDIR"] == nil)
        let found = try await runTool(["sh", "-c", "command -v voicegraph; umask"])
        let command = URL(filePath: Program.voicegraph).resolvingSymlinksInPath().path
        #expect(found.output == "\(command)\n0022\n")
    }
}
