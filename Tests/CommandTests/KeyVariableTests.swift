// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// Who gets the variable in which a key stands.
@Suite(.timeLimit(.minutes(5))) struct KeyVariableTests {
    @Test("The key that a node names is for that node alone, not for servers, other nodes' programs and processes")
    func children() async throws {
        let scratch = try Scratch()
        chmod(scratch.path, 0o700)
        let key = "sk-0123456789-of-the-test"
        let graph = try scratch.write(
            "graph.conf",
            """
            [graph]
            name = "keys"
            links = ["voice -> other -> out"]
            [node.chat]
            type = "agent"
            backend = "openai"
            url = "http://127.0.0.1:9/v1"
            model = "m"
            key_env = "VG_RUN_KEY"
            isolate = true
            [node.voice]
            type = "tts"
            engine = "command"
            command = "env > told.part; mv told.part told; exit 1"
            [node.other]
            type = "tremolo"
            isolate = true
            [node.out]
            type = "output"

            """)
        let environment = ["XDG_RUNTIME_DIR": scratch.path, "VG_RUN_KEY": key]
        let turn = try await JackTurn.wait()
        let run = try Program(
            [Program.voicegraph, "run", graph, "--driver", "dummy", "--json"], environment: environment,
            folder: scratch.path)
        // Without its key the node would not be made.
        try await run.wait("it plays") { $0.lines.first?.contains("\"event\":\"running\"") == true }
        let children = run.children()
        #expect(children.count >= 3, "a server and two processes of nodes")
        for child in children {
            let variables = contents("/proc/\(child)/environ")
            #expect(!variables.isEmpty && !variables.contains(key), "\(child)")
        }
        let speak = try Program(
            [Program.voicegraph, "ctl", "do", "voice", "speak", "text=hello"], environment: environment)
        try await speak.end()
        try await eventually("the command ran") { FileManager.default.fileExists(atPath: scratch.file("told")) }
        let told = try String(contentsOfFile: scratch.file("told"), encoding: .utf8)
        #expect(told.contains("VOICEGRAPH_VOICE=") && !told.contains(key), "\(told)")
        run.signal(SIGTERM)
        #expect(try await run.end() == 0)
        turn.end()
    }
}
