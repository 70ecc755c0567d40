// SPDX-License-Identifier: Apache-2.0

/// Says something to a client's port on a JACK server, by another client, and returns when it was said.
public func say(_ text: String, to port: String, on server: Jackd) async throws {
    let scratch = try Scratch()
    let flite = try await runTool(["flite", "-voice", "kal16", "-t", text, "-o", scratch.file("said.wav")])
    #expect(flite.status == 0, "\(flite.output)")
    let speaker = try scratch.write(
        "speaker.conf",
        """
        [graph]
        name = "speaker"
        links = ["file -> out"]
        [node.file]
        type = "file"
        path = "said.wav"
        [node.out]
        type = "output"
        channels = 1
        connect = ["\(port)"]
        """)
    let player = try Program([Program.voicegraph, "run", speaker, "--server", server.name, "--until-idle"])
    #expect(try await player.end(seconds: 60) == 0, "\(player.errors)")
}
