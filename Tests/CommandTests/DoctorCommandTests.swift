// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// `voicegraph doctor` as its user types it, with real servers and without.
@Suite("The command doctor", .serialized, .timeLimit(.minutes(5))) struct DoctorCommandTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        chmod(scratch.path, 0o700)
    }

    private struct Found {
        var severity: String
        var area: String
        var message: String
        var hint: String
    }

    /// An environment with folders of its own, without PipeWire, in which this server is the usual one.
    private func environment(_ server: String) -> [String: String] {
        [
            "HOME": scratch.file("home"), "XDG_RUNTIME_DIR": scratch.path, "XDG_DATA_HOME": scratch.file("home/data"),
            "XDG_CACHE_HOME": scratch.file("home/cache"), "PIPEWIRE_RUNTIME_DIR": scratch.path,
            "PIPEWIRE_REMOTE": "none", "JACK_DEFAULT_SERVER": server,
        ]
    }

    /// Runs it until it had the time to look at everything: on a machine that is busy it says that it had not.
    private func run(_ command: [String], _ environment: [String: String]) async throws -> (Int32, Program) {
        for _ in 0..<9 {
            let program = try Program(command, environment: environment)
            let code = try await program.end()
            if !program.output.contains("could not be looked at in time") { return (code, program) }
        }
        let program = try Program(command, environment: environment)
        return (try await program.end(), program)
    }

    /// Runs it with --json; its exit code and what it found.
    private func doctor(_ server: String, _ arguments: String...) async throws -> (code: Int32, findings: [Found]) {
        let (code, program) = try await run(
            [Program.voicegraph, "doctor", "--json"] + arguments, environment(server))
        #expect(program.errors == "")
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(program.output.utf8)) as? [String: Any], "\(program.output)")
        let findings = try #require(object["findings"] as? [[String: String]]).map { fields in
            Found(
                severity: fields["severity"] ?? "", area: fields["area"] ?? "", message: fields["message"] ?? "",
                hint: fields["hint"] ?? "")
        }
        #expect(object["errors"] as? Int == findings.count { $0.severity == "error" })
        #expect(object["warnings"] as? Int == findings.count { $0.severity == "warning" })
        let ranks = findings.map { ["error", "warning", "fine"].firstIndex(of: $0.severity) ?? 9 }
        #expect(ranks == ranks.sorted() && !ranks.contains(9))
        for finding in findings { #expect(finding.hint.isEmpty == (finding.severity == "fine"), "\(finding)") }
        return (code, findings)
    }

    @Test("A server that runs is found, with its format, and that a dummy is heard by nobody is told")
    func server() async throws {
        let server = try await Jackd.start(rate: 44_100, block: 512)
        let (code, findings) = try await doctor(server.name)
        #expect(code == 0)
        let sound = try #require(findings.first { $0.area == "sound" })
        #expect(sound.severity == "warning" && sound.message.contains("'\(server.name)', whose driver is dummy"))
        let found = try #require(
            findings.first { $0.area == "JACK" && $0.message.contains("'\(server.name)' runs at 44100 Hz") })
        #expect(found.message.contains("in blocks of 512 (11.6 ms)"))
        #expect(found.message.contains("driver dummy, process \(server.processID)"))
        // It was started without realtime.
        #expect(found.severity == "warning" && found.message.contains("not realtime"))
        server.stop()
    }

    @Test("Without a server and without PipeWire nobody hears anything: exit code 1, and ways out")
    func none() async throws {
        let (code, findings) = try await doctor("vgt-none")
        #expect(code == 1)
        let first = try #require(findings.first)
        #expect(first.severity == "error" && first.area == "sound")
        #expect(first.message.contains("no JACK server named 'vgt-none' is running, and no PipeWire"))
        #expect(!first.hint.isEmpty)
    }

    @Test("A server that was stopped is told with how to let it go on, and the doctor does not wait for it")
    func hung() async throws {
        let server = try await Jackd.start()
        server.hang()
        let (code, findings) = try await doctor(server.name)
        #expect(code == 1)
        let first = try #require(findings.first)
        #expect(first.area == "sound" && first.message.contains("'\(server.name)', which hangs"))
        #expect(first.hint == "let it go on: kill -CONT \(server.processID)")
        #expect(findings.contains { $0.area == "JACK" && $0.message.contains("'\(server.name)' was stopped") })
        server.unhang()
        #expect(try await doctor(server.name).code == 0)
        server.stop()
    }

    @Test("It makes no folder in an empty home, and says where everything will lie")
    func emptyHome() async throws {
        try FileManager.default.createDirectory(atPath: scratch.file("home"), withIntermediateDirectories: true)
        let (_, findings) = try await doctor("vgt-none")
        let folders = findings.filter { $0.area == "folders" }.map(\.message)
        #expect(folders.contains("data: \(scratch.file("home/data/voicegraph")) (not there yet)"))
        #expect(folders.contains("archive: \(scratch.file("home/data/voicegraph/archive.sqlite")) (not there yet)"))
        #expect(folders.contains("sockets: \(scratch.path)/voicegraph (not there yet)"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.file("home")) == [])
    }

    @Test("What a file wants and is not there is told, with what there is")
    func graph() async throws {
        let server = try await Jackd.start()
        let graph = try scratch.write(
            "wants.conf",
            """
            [graph]
            links = ["mic -> out", "tone -> low"]
            [driver]
            block = 64
            [node.mic]
            type = "input"
            connect = ["studio:capture_7"]
            [node.tone]
            type = "tone"
            [node.out]
            type = "output"
            connect = ["nothing:*"]
            [node.low]
            type = "output"

            """)
        let (code, findings) = try await doctor(server.name, graph)
        #expect(code == 1)
        let own = findings.filter { $0.area == "graph" }
        #expect(
            own.first?.severity == "error"
                && own.first?.message == "none of its outputs (out, low) would be connected to anything")
        let mic = try #require(own.first { $0.message == "mic: no port of the server is 'studio:capture_7'" })
        #expect(mic.hint == "there is system:capture_1, system:capture_2")
        let out = try #require(own.first { $0.message == "out: no port of the server is 'nothing:*'" })
        #expect(out.hint == "there is system:playback_1, system:playback_2")
        #expect(own.contains { $0.message == "low is connected to nothing by the file" })
        #expect(own.contains { $0.message.hasPrefix("it wants blocks of 64, but the server sets that: 48000 Hz in") })
        // With the connections that there are it is well.
        let fine = try scratch.write(
            "fine.conf",
            """
            [graph]
            links = ["tone -> out"]
            [node.tone]
            type = "tone"
            [node.out]
            type = "output"
            connect = ["system:playback_*"]

            """)
        let well = try await doctor(server.name, fine)
        #expect(well.code == 0 && well.findings.contains { $0.area == "graph" && $0.severity == "fine" })
        server.stop()
    }

    @Test("A file with mistakes, or none at all, is an error with its place")
    func brokenFile() async throws {
        let graph = try scratch.write("broken.conf", "[graph]\nlinks = [\"a -> b\"]\n")
        let (code, findings) = try await doctor("vgt-none", graph)
        #expect(code == 1)
        #expect(findings.contains { $0.area == "graph" && $0.severity == "error" && $0.message.contains("conf:2:") })
        let (missing, why) = try await doctor("vgt-none", scratch.file("missing.conf"))
        #expect(missing == 1 && why.contains { $0.area == "graph" && $0.severity == "error" })
    }

    @Test("A host that runs is asked, also one that is muted, and what a killed one left is told")
    func hosts() async throws {
        let server = try await Jackd.start()
        let graph = try scratch.write("graph.conf", endless)
        let run = try Program(
            [Program.voicegraph, "run", graph, "--json"], environment: environment(server.name))
        try await run.plays()
        let alone = try await doctor(server.name).findings.filter { $0.area == "hosts" }
        #expect(alone.contains { $0.message == "'endless': out is connected to nothing" })
        let mute = try Program(
            [Program.voicegraph, "ctl", "mute", "gain", "on"], environment: environment(server.name))
        #expect(try await mute.end() == 0)
        let muted = try await doctor(server.name).findings.filter { $0.area == "hosts" }
        let finding = try #require(muted.first { $0.message == "'endless': gain is muted" })
        #expect(finding.hint == "voicegraph ctl --client endless mute gain off")
        run.signal(SIGSTOP)
        let stopped = try await doctor(server.name).findings.filter { $0.area == "hosts" }
        #expect(stopped.contains { $0.severity == "warning" && $0.message.contains("'endless' does not answer") })
        run.signal(SIGKILL)
        try await run.end()
        let left = try await doctor(server.name).findings.filter { $0.area == "hosts" }
        #expect(left.map(\.message).contains("left by runs that were killed, and removed by the next: endless"))
        server.stop()
    }

    @Test("People get plain lines of 80 columns, the worst first; colours only on a terminal")
    func text() async throws {
        var environment = environment("vgt-none")
        environment["NO_COLOR"] = ""
        let (code, plain) = try await run([Program.voicegraph, "doctor"], environment)
        #expect(code == 1)
        let lines = plain.lines
        #expect(lines.first?.hasPrefix("error    sound: nobody would hear what `voicegraph run` plays: ") == true)
        #expect(!plain.output.contains("\u{1B}"))
        // Only a word that is too long by itself, as a path, goes beyond.
        for line in lines where line.count > 80 {
            #expect(line.split(separator: " ").contains { $0.count > 60 }, "\(line)")
        }
        #expect(lines.last?.hasSuffix("; as it is, nothing will be heard") == true)
        environment["TERM"] = "xterm"
        let command = "'\(Program.voicegraph)' doctor"
        let (shown, terminal) = try await run(
            ["script", "-qec", "env -u NO_COLOR \(command)", "/dev/null"], environment)
        #expect(shown == 1)
        #expect(terminal.output.hasPrefix("\u{1B}[1;31merror"))
    }

    @Test("Overrides without a file are a mistake of its usage")
    func usage() async throws {
        let program = try Program([Program.voicegraph, "doctor", "--set", "driver.block=64"])
        #expect(try await program.end() == 64)
        #expect(program.errors.contains("--set changes a file: name it"))
    }
}
