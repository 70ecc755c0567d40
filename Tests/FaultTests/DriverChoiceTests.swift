// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// Which driver a run takes by itself, where there is little to choose from, and what it says of that.
@Suite("The driver of a run", .serialized, .timeLimit(.minutes(5)))
struct DriverChoiceTests {
    /// No server of the user's own is meant here.
    private static let nobody = ["JACK_DEFAULT_SERVER": "vgt-none"]

    @Test(
        "With PipeWire and no JACK server the run enters PipeWire by itself, is heard there, and survives it",
        .enabled(if: PipeWire.isInstalled, "needs pipewire and pw-jack: apt install pipewire-jack"),
        arguments: [[], ["--driver", "pipewire"], ["--driver", "pipewire", "--server", "pipewire-0"]])
    func findsPipeWire(_ options: [String]) async throws {
        let turn = try await JackTurn.wait()
        let server = PipeWire(try Scratch())
        try await server.start()
        let session = try Session(
            toneGraph, options, environment: server.environment.merging(Self.nobody) { $1 }, in: server.scratch)
        let status = try await session.plays()
        #expect(status.driver == "pipewire" && status.server == "pipewire-0" && !status.ownServer)
        #expect(status.notice == "")
        @Sendable func isConnected() async throws -> Bool {
            let list = try await runTool(["pw-jack", "jack_lsp", "-c", "faulted"], environment: server.environment)
            return list.output.contains("faulted:out_1\n   room:playback_FL")
        }
        try await eventually("it is connected") { try await isConnected() }
        try await server.end(SIGKILL)
        try await session.run.wait("the loss is told") { _ in session.count("server.lost") == 1 }
        try await server.start()
        try await session.until("audio flows") { $0.state == "running" && $0.driver == "pipewire" }
        try await eventually("it is connected again") { try await isConnected() }
        try await session.end()
        #expect(try finished(session)["driver"] as? String == "pipewire")
        try await server.end()
        turn.end()
    }

    @Test("A JACK server that hangs while the run begins is told of, and does not keep it from ending")
    func jackHangsAtTheStart() async throws {
        let server = try await Jackd.start()
        kill(server.processID, SIGSTOP)
        let session = try Session(toneGraph, ["--duration", "1"], server: server.name)
        try await session.run.wait("it is told") {
            $0.errors.contains("the server '\(server.name)' does not answer yet")
        }
        session.run.signal(SIGTERM)
        #expect(try await session.run.end() == 1)
        #expect(session.run.errors.contains("ended before it played"))
        kill(server.processID, SIGCONT)
        server.stop()
    }

    @Test(
        "A PipeWire that hangs while the run begins is told of, and does not keep it from ending",
        .enabled(if: PipeWire.isInstalled, "needs pipewire and pw-jack: apt install pipewire-jack"))
    func hangsAtTheStart() async throws {
        let turn = try await JackTurn.wait()
        let server = PipeWire(try Scratch())
        try await server.start()
        server.signal(SIGSTOP)
        let session = try Session(
            toneGraph, environment: server.environment.merging(Self.nobody) { $1 }, in: server.scratch)
        try await session.run.wait("PipeWire's library is there") { program in
            try await runTool(["grep", "-q", "/pipewire-0.3/jack/libjack", "/proc/\(program.processID)/maps"]).status
                == 0
        }
        try await session.run.wait("it is told") { $0.errors.contains("the server 'pipewire-0' does not answer yet") }
        session.run.signal(SIGTERM)
        #expect(try await session.run.end() == 1)
        #expect(session.run.errors.contains("ended before it played"))
        server.signal(SIGCONT)
        try await server.end()
        turn.end()
    }

    @Test(
        "Where nobody listens the run says that nothing will be heard, and what to do; told to be silent, it does not")
    func silence() async throws {
        let turn = try await JackTurn.wait()
        let scratch = try Scratch()
        let file = try scratch.write("graph.conf", toneGraph)
        let environment = Self.nobody.merging(["XDG_RUNTIME_DIR": scratch.path]) { $1 }
        func run(_ options: String...) async throws -> String {
            let run = try Program(
                [Program.voicegraph, "run", file, "--duration", "0.2"] + options, environment: environment)
            #expect(try await run.end() == 0, "\(run.errors)")
            return run.output
        }
        let words = "nothing will be heard: no JACK server named 'vgt-none' is running, and no PipeWire"
        let lines = try await run()
        let second = lines.split(separator: "\n").dropFirst().first
        #expect(second?.hasPrefix(words) == true && second?.contains("--driver alsa") == true, "\(lines)")
        let json = try await run("--json")
        #expect(json.split(separator: "\n").first?.contains("\"notice\":\"\(words)") == true, "\(json)")
        #expect(!(try await run("--driver", "dummy")).contains("nothing will be heard"))
        // A socket at which nobody listens is no PipeWire either.
        try scratch.write("pipewire-0", "")
        #expect(try await run().contains("PipeWire does not answer at 'pipewire-0'") == PipeWire.isInstalled)
        turn.end()
    }

    @Test(
        "A server that was named and is not there is waited for, which is told; SIGTERM ends that at once",
        arguments: ["auto", "jack"])
    func waits(_ driver: String) async throws {
        let turn = try await JackTurn.wait()
        let session = try Session(toneGraph, ["--driver", driver, "--server", "vgt-nobody"])
        try await session.run.wait("it runs") { _ in session.count("running") == 1 }
        let status = try await session.until("it waits") { $0.state == "waiting" }
        #expect(status.notice.contains("the JACK server 'vgt-nobody' is not running; it is waited for"))
        try await session.end()
        turn.end()
    }

    @Test(
        "For a run that is to last so long, a server that was named and is not there is an error that names those that are",
        arguments: ["auto", "jack"])
    func missingServer(_ driver: String) async throws {
        let server = try await Jackd.start()
        let scratch = try Scratch()
        let file = try scratch.write("graph.conf", toneGraph)
        let run = try Program(
            [Program.voicegraph, "run", file, "--driver", driver, "--server", "vgt-nobody", "--duration", "1"],
            environment: ["XDG_RUNTIME_DIR": scratch.path])
        #expect(try await run.end() == 1)
        #expect(run.errors.hasPrefix("voicegraph: no JACK server named 'vgt-nobody' is running (there is "))
        #expect(run.errors.contains("--server \(server.name)") && run.errors.contains("jackd -n vgt-nobody"))
        server.stop()
    }

    /// As it is for users without the right to realtime threads: ALSA's null device takes all at once, and would keep a
    /// processor for itself.
    private static let modest =
        (isRoot ? ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"] : []) + ["prlimit", "--rtprio=0:0"]

    @Test("The driver alsa plays through a server of its own, at the file's rate and block")
    func soundCard() async throws {
        let turn = try await JackTurn.wait()
        let graph =
            toneGraph + "[driver]\nkind = \"alsa\"\ndevice = \"null\"\nrate = 44100\nblock = 1024\nperiods = 3\n"
        let session = try Session(graph, through: Self.apart + Self.modest, environment: Self.nobody)
        let status = try await session.plays()
        #expect(status.driver == "alsa" && status.ownServer && status.rate == 44100 && status.block == 1024)
        let servers = session.run.children().map { id in
            (try? String(contentsOfFile: "/proc/\(id)/cmdline", encoding: .utf8))?.split(separator: "\0")
                .joined(separator: " ") ?? ""
        }
        #expect(servers.count == 1)
        #expect(servers.first?.hasSuffix("-d alsa -d null -n 3 -r 44100 -p 1024") == true, "\(servers)")
        try await session.end()
        #expect(try finished(session)["driver"] as? String == "alsa")
        turn.end()
    }

    @Test("A sound card that is not there is an error, with what jackd said of it")
    func noSoundCard() async throws {
        let turn = try await JackTurn.wait()
        let run = try await alone("true", "--driver", "alsa:vgt-none", "--set", "driver.block=64", code: 1)
        #expect(run.errors.contains("Unknown PCM vgt-none") && run.errors.contains("sound card"), "\(run.errors)")
        turn.end()
    }

    /// Has what follows see a shared memory of its own, where this user may: others on the machine have servers too.
    private static let apart =
        isRoot ? ["unshare", "-m", "bash", "-ec", "mount -t tmpfs none /dev/shm\nexec \"$@\"", "bash"] : []

    /// Runs the command where `before` was done in a shared memory of its own.
    private func alone(_ before: String, _ options: String..., code: Int32 = 0) async throws -> Program {
        try await alone(before, options, code: code)
    }

    private func alone(_ before: String, _ options: [String], code: Int32 = 0) async throws -> Program {
        let scratch = try Scratch()
        let file = try scratch.write("graph.conf", toneGraph)
        let run = try Program(
            Self.apart + ["bash", "-ec", before + "\n\"$@\"", "bash"]
                + [Program.voicegraph, "run", file, "--json", "--duration", "0.3"] + options,
            environment: Self.nobody.merging(["XDG_RUNTIME_DIR": scratch.path]) { $1 })
        #expect(try await run.end(seconds: 100) == code, "\(run.errors)")
        return run
    }

    @Test("Looking for a server where there is none leaves nothing behind", .enabled(if: isRoot)) func noTrace()
        async throws
    {
        let turn = try await JackTurn.wait()
        let run = try await alone(
            "trap 'ls /dev/shm' EXIT", "--driver", "jack", "--server", "vgt-nobody", code: 1)
        #expect(run.errors.contains("no JACK server named 'vgt-nobody' is running"))
        #expect(!run.output.contains("jack"), "\(run.output)")
        turn.end()
    }

    /// Starts eight servers and waits until libjack knows the name of each; `then` is done with the process `$!`.
    private func eightServers(_ then: String) -> String {
        """
        for name in one two three four five six seven eight; do
          jackd -n vgt-$name -r -d dummy >/dev/null 2>&1 &
          until grep -aq "jack-0:vgt-$name:" /dev/shm/jack-shm-registry; do sleep 0.02; done 2>/dev/null
          \(then)
        done
        """
    }

    @Test(
        "When dead servers have all the names that JACK keeps, the run frees one and has its server",
        .enabled(if: isRoot))
    func deadNames() async throws {
        let turn = try await JackTurn.wait()
        let run = try await alone(eightServers("kill -9 $!; wait $! || test $? = 137"), "--driver", "dummy")
        let first = try #require(run.lines.first)
        #expect(first.contains("\"driver\":\"dummy\"") && first.contains("\"own_server\":true"), "\(first)")
        #expect(first.contains("\"notice\":\"\""))
        turn.end()
    }

    @Test(
        "When a program died while it made the database of jackd's clients, the run and its server start all the same",
        .enabled(if: isRoot))
    func brokenMetadata() async throws {
        let turn = try await JackTurn.wait()
        for files in ["__db.001", "__db.001 __db.002"] {
            let run = try await alone(
                """
                folder=/dev/shm/jack_db-$(id -u)
                mkdir $folder
                for file in \(files); do : > $folder/$file; done
                """, "--driver", "dummy")
            let first = try #require(run.lines.first)
            #expect(first.contains("\"driver\":\"dummy\"") && first.contains("\"own_server\":true"), "\(first)")
        }
        turn.end()
    }

    @Test("A server that waits for a lock of the dead is started again, and the run has it", .enabled(if: isRoot))
    func heldUp() async throws {
        let turn = try await JackTurn.wait()
        let scratch = try Scratch()
        // The first one comes as far as one that finds such a lock.
        let server = try scratch.write(
            "jackd",
            """
            #!/bin/bash
            export PATH=${PATH#*:}
            mkdir "$0.first" 2>/dev/null || exec jackd "$@"
            mkdir -p /dev/shm/jack_db-$UID
            echo locked >/dev/shm/jack_db-$UID/__db.001
            exec sleep 100
            """)
        chmod(server, 0o755)
        let run = try await alone("PATH=\(scratch.path):$PATH", "--driver", "dummy")
        let first = try #require(run.lines.first)
        #expect(first.contains("\"driver\":\"dummy\"") && first.contains("\"own_server\":true"), "\(first)")
        #expect(access(server + ".first", F_OK) == 0)
        turn.end()
    }

    @Test("When servers that live have all the names, a timer plays, and the run says what to do", .enabled(if: isRoot))
    func noNames() async throws {
        let turn = try await JackTurn.wait()
        let run = try await alone(
            eightServers("all=\"$all $!\"") + "\ntrap 'kill $all; wait' EXIT", "--driver", "dummy")
        let first = try #require(run.lines.first)
        #expect(first.contains("\"driver\":\"timer\"") && first.contains("\"own_server\":false"), "\(first)")
        #expect(first.contains("jack-shm-registry"), "\(first)")
        let last = try #require(run.lines.last)
        #expect(last.contains("\"event\":\"finished\"") && !last.contains("\"blocks\":0,"), "\(last)")
        turn.end()
    }

    @Test(
        "Where shared memory does not do for a server a timer plays, and the run says why", .enabled(if: isRoot),
        arguments: [
            ("mount -o remount,size=16m /dev/shm", "only 16 MB are free in /dev/shm"),
            ("mount -o remount,size=80m /dev/shm; head -c 40M /dev/zero >/dev/shm/much", "only 40 MB are free"),
            ("mount -o remount,ro /dev/shm", "/dev/shm, which every JACK server needs, cannot be written"),
        ], [["--driver", "dummy"], []])
    func sharedMemory(_ trouble: (change: String, words: String), _ options: [String]) async throws {
        let turn = try await JackTurn.wait()
        let run = try await alone(trouble.change, options)
        let first = try #require(run.lines.first)
        #expect(first.contains("\"driver\":\"timer\"") && first.contains(trouble.words), "\(first)")
        let last = try #require(run.lines.last)
        #expect(last.contains("\"event\":\"finished\"") && !last.contains("\"blocks\":0,"), "\(last)")
        turn.end()
    }

    @Test(
        "With too few files to open, the run says so at once, and how to have more", arguments: [8, 12, 16, 34, 63])
    func fewFiles(_ count: Int) async throws {
        let scratch = try Scratch()
        let file = try scratch.write("graph.conf", toneGraph)
        let run = try Program(["prlimit", "--nofile=\(count):\(count)", Program.voicegraph, "run", file])
        #expect(try await run.end() == 1)
        #expect(
            run.errors
                == "voicegraph: only \(count) files can be open at once here, and at least 64 are needed: ulimit -n 1024, "
                + "or LimitNOFILE= of a service\n")
    }

    @Test("A limit that may be raised is raised") func moreFiles() async throws {
        let scratch = try Scratch()
        let file = try scratch.write("graph.conf", toneGraph)
        let run = try Program(["prlimit", "--nofile=16:4096", Program.voicegraph, "check", file])
        #expect(try await run.end() == 0, "\(run.errors)")
    }

    private func finished(_ session: Session) throws -> [String: Any] {
        let line = try #require(session.run.lines.last)
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
}
