// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// `voicegraph ctl`, `status` and `top`, and the files that a run reads again.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ControlCommandTests {
    private let scratch: Scratch
    private let graph: String

    init() throws {
        scratch = try Scratch()
        graph = try scratch.write("graph.conf", endless)
    }

    private func start(_ arguments: String...) async throws -> Program {
        let file = arguments.first?.hasSuffix(".conf") == true ? [] : [graph]
        let run = try Program(
            [Program.voicegraph, "run", "--driver", "dummy"] + file + arguments,
            environment: ["XDG_RUNTIME_DIR": scratch.path])
        try await run.wait("it plays") { !$0.lines.isEmpty }
        return run
    }

    private func call(_ arguments: String...) async throws -> (code: Int32, output: String, errors: String) {
        try await call(arguments)
    }

    private func call(_ arguments: [String]) async throws -> (code: Int32, output: String, errors: String) {
        let program = try Program(
            [Program.voicegraph] + arguments, environment: ["XDG_RUNTIME_DIR": scratch.path])
        return (try await program.end(), program.output, program.errors)
    }

    private func end(_ run: Program) async throws {
        run.signal(SIGTERM)
        let code = try await run.end()
        #expect(code == 0)
    }

    @Test("The only host is found, and without one there is a hint") func theOnlyHost() async throws {
        let none = try await call("ctl", "status")
        #expect(none.code == 1)
        #expect(none.errors == "voicegraph: no host is running (start one with `voicegraph run FILE`)\n")
        let run = try await start("--json")
        #expect(try await call("ctl", "list").output == "endless\n")
        let second = try await start("--json")
        let two = try await call("ctl", "status")
        #expect(two.code == 1)
        #expect(two.errors.contains("2 hosts are running: endless, endless-2 (choose one with --client NAME)"))
        #expect(try await call("ctl", "--client", "endless-2", "get", "gain", "gain_db").output == "0\n")
        #expect(try await call("ctl", "get", "gain", "gain_db", "--client", "endless").code == 0)
        try await end(second)
        let wrong = try await call("status", "--client", "nobody")
        #expect(wrong.code == 1 && wrong.errors.contains("no host 'nobody' is running (running: endless)"))
        try await end(run)
    }

    @Test("A shell completes what plays") func completion() async throws {
        func offered(_ line: String...) async throws -> [String] {
            let words = ["---completion", "ctl", line[0], "--", "positional@\(line.count - 1)"]
            let typed = ["\(line.count + 2)", "0", "voicegraph", "ctl"] + line + [""]
            let answer = try await call(words + typed)
            #expect(answer.code == 0 && answer.errors == "")
            return answer.output.split(separator: "\n").map(String.init)
        }
        #expect(try await offered("mute") == [])
        let run = try await start("--json")
        #expect(try await offered("mute") == ["tone", "gain", "meter", "out"])
        #expect(try await offered("set", "gain") == ["gain_db"])
        #expect(try await offered("set", "nobody") == [])
        try await end(run)
    }

    @Test("A graph is changed from the shell") func edits() async throws {
        let run = try await start("--json")
        for (arguments, output) in [
            (["set", "gain", "gain_db", "-6.5"], ""), (["get", "gain", "gain_db"], "-6.5\n"),
            (["set", "gain", "gain_db", "-7dB"], ""), (["set", "gain", "params.gain_db", "-8 dB"], ""),
            (["get", "gain", "gain_db"], "-8\n"), (["set", "gain.gain_db", "-9 dB"], ""),
            (["get", "gain.params.gain_db"], "-9\n"), (["get", "tone", "wave"], "sine\n"),
            (["get", "tone"], "(setting, fixed while it plays)\n"),
            (["add", "low", "gain", "gain_db=-20", "mute=true"], "+low; heard after "),
            (["link", "tone -> low -> out", "--gain-db", "-3"], "2 links added; heard after "),
            (["mute", "low", "off"], "unmuted low; heard after "), (["bypass", "low"], "bypassed low; heard after "),
            (["nodes"], "low  gain  bypass\n  gain_db  -20 dB  (-120 to 36)\n"),
            (
                ["add", "between", "gain", "--into", "tone -> low"],
                "+between, 2 links added, 1 link removed; heard after "
            ),
            (["undo"], "add between into tone -> low"),
            (["unlink", "low -> out"], "1 link removed; heard after "),
            (["remove", "low"], "-low, 1 link removed; heard after "),
            (["reload"], "1 parameter turned; heard after "), (["reload", graph], "nothing changed"),
            (["save"], "no node has something to keep"), (["status"], "graph    endless\n"),
            (["--json", "get", "gain", "gain_db"], "{\"id\":1,\"ok\":true,\"value\":0}\n"),
        ] {
            let program = try Program(
                [Program.voicegraph, "ctl"] + arguments, environment: ["XDG_RUNTIME_DIR": scratch.path])
            let code = try await program.end()
            #expect(
                code == 0 && (output.isEmpty ? program.output.isEmpty : program.output.contains(output)),
                "\(arguments): \(program.output)\(program.errors)")
        }
        for (arguments, code, message) in [
            (
                ["set", "gian", "gain_db", "1"], 1,
                "voicegraph: there is no node 'gian' (nodes: tone, gain, meter, out)\n"
            ),
            (
                ["set", "gain", "gain_db", "99"], 1,
                "parameter 'gain_db' is 99, outside its range (it goes from -120 to 36 dB)"
            ),
            (["set", "gain", "gain_db", "loud"], 1, "parameter 'gain_db' must be a number, not a string"),
            (["set", "gain", "gain_db", "-3 kg"], 1, "parameter 'gain_db' must be a number, not a string"),
            (
                ["set", "tone", "wave", "sine"], 1,
                "'wave' of node 'tone' is fixed while it plays (change it in the file"
            ),
            (["set", "gain", "mute", "on"], 1, "'mute' is no parameter of node 'gain' (the call 'mute' switches it)"),
            (["set", "gain", "gain_db", "-1", "dB"], 64, "put one with blanks in quotes"),
            (["redo"], 1, "there is nothing to do again"), (["save", graph + "/x"], 1, "Not a directory"),
            (["set", "gain", "gain_db", "inf"], 64, "'inf' is no number"),
            // Of what the file says besides nothing is repeated.
            (
                ["add", "x", "gain", "gain=3"], 1,
                "voicegraph: node type 'gain' has no setting or parameter 'gain' (did"
            ),
            (["link", "voice -> gain"], 1, "unknown node 'voice' (add it first: voicegraph ctl add voice TYPE)\n"),
            (["set", "gain", "gain_db", "quiet"], 1, "not a string (it goes from -120 to 36 dB)\n"),
            (["set", "gain", "-9"], 64, "takes a node, a parameter and a value"),
            (["get", "tone", "wav"], 1, "has no parameter 'wav' (did you mean 'wave'?)"),
            (["do", "gain", "warm"], 1, "have no action 'warm'"), (["do", "gain"], 64, "Usage"),
            (["do", "gain", "warm", "up"], 64, "'up' is not written as key=value"),
            (["actions", "gian"], 1, "no node 'gian'"), (["set", "gain"], 64, "Usage"),
            (["set", "gain", "gain_db", "--lod", "1"], 64, "Unknown option '--lod'"),
            (["add", "x", "gain", "gain_db"], 64, "'gain_db' is no setting; write key=value"),
            (["mute", "gain", "maybe"], 64, "provide one of 'on' and 'off'"), (["sing"], 64, "sing"),
            (["reload", "nowhere.conf"], 1, "cannot read"), (["say", "x"], 1, "no node speaks"),
        ] as [([String], Int32, String)] {
            let program = try Program(
                [Program.voicegraph, "ctl"] + arguments, environment: ["XDG_RUNTIME_DIR": scratch.path])
            let got = try await program.end()
            #expect(got == code && program.errors.contains(message), "\(arguments): \(got) \(program.errors)")
        }
        let refused = try await call("ctl", "--json", "set", "gain", "x", "1")
        #expect(refused.code == 1 && refused.output.hasPrefix("{\"id\":1,\"ok\":false,\"error\":{\"message\":"))
        try await end(run)
    }

    @Test("What plays is saved as a file that loads to the same graph, and edits are taken back") func saving()
        async throws
    {
        let commented = "# Mine.\n" + endless.replacing("[node.gain]", with: "# quiet\n[node.gain]")
        try commented.write(toFile: graph, atomically: true, encoding: .utf8)
        let run = try await start("--json")
        #expect(try await call("ctl", "undo").errors.contains("there is nothing to take back"))
        #expect(try await call("ctl", "save", "-").output == commented)
        let add = try await call("ctl", "add", "low", "gain", "gain_db=-20")
        #expect(add.code == 0 && add.output.hasPrefix("+low; heard after ") && !add.output.contains("warning"))
        for change in [
            ["link", "tone -> low -> out"], ["set", "low", "gain_db", "-9"], ["set", "gain", "gain_db", "-3"],
            ["mute", "gain"], ["remove", "low"],
        ] {
            #expect(try await call(["ctl"] + change).code == 0, "\(change)")
        }
        let undone = try await call("ctl", "undo").output
        #expect(undone.hasPrefix("taken back: remove low\n+low, 2 links added; heard after "), "\(undone)")
        #expect(try await call("ctl", "get", "low", "gain_db").output == "-9\n", "as it was, not as it was added")
        let saved = scratch.file("saved.conf")
        #expect(try await call("ctl", "save", saved).output == "saved as \(saved)\n")
        let text = try String(contentsOfFile: saved, encoding: .utf8)
        #expect(text.hasPrefix("# Mine.\n") && text.contains("# quiet\n[node.gain]\n"), "\(text)")
        #expect(text.contains("mute = true\n") && text.contains("tone -> low -> out"), "\(text)")
        let refused = try await call("ctl", "save", saved)
        #expect(refused.code == 1 && refused.errors.contains("already (--force writes over it)"))
        #expect(try await call("ctl", "save", "--force", saved).code == 0)
        #expect(try await call("ctl", "reload", saved).output.contains("nothing changed"), "the same graph")
        #expect(try await call("ctl", "save", saved).code == 0, "its own file is written over")

        for step in ["mute gain", "set gain.gain_db", "set low.gain_db", "link tone -> low -> out", "add low"] {
            let output = try await call("ctl", "undo").output
            #expect(output.hasPrefix("taken back: \(step)\n") && !output.contains("warning"), "\(output)")
        }
        #expect(try await call("ctl", "undo").code == 1)
        #expect(try await call("ctl", "get", "gain", "gain_db").output == "0\n")
        #expect(try await call("ctl", "nodes").output.contains("low") == false)
        for step in ["add low", "link tone -> low -> out", "set low.gain_db", "set gain.gain_db", "mute gain"] {
            let output = try await call("ctl", "redo").output
            #expect(output.hasPrefix("done again: \(step)\n"), "\(output)")
        }
        #expect(try await call("ctl", "save", "-").output == text)
        #expect(try await call("ctl", "unlink", "low -> out").code == 0)
        #expect(try await call("ctl", "redo").code == 1, "something else was changed")
        try await end(run)
    }

    @Test("A plugin is turned by labels, points and switches") func labels() async throws {
        let file = try scratch.write(
            "fx.conf",
            """
            [graph]
            name = "endless"
            links = ["tone -> fx.left_in", "fx -> out"]
            [node.tone]
            type = "tone"
            [node.fx]
            type = "lv2"
            plugin = "http://drobilla.net/plugins/mda/Leslie"
            params = { mode = "Slow" }
            [node.out]
            type = "output"
            """)
        let run = try await start(file, "--json")
        for (name, value, key, now) in [
            ("mode", "Fast", "mode", "1"), ("Mode", "slow", "mode", "0.5"), ("lo width", "0.25", "lo_width", "0.25"),
            ("params.speed", "0.75", "speed", "0.75"),
        ] {
            let set = try await call("ctl", "set", "fx", name, value)
            #expect(set.code == 0, "\(name) \(value): \(set.errors)")
            #expect(try await call("ctl", "get", "fx", key).output == now + "\n")
        }
        #expect(try await call("ctl", "get", "fx", "Lo Width").output == "0.25\n")
        let wrong = try await call("ctl", "set", "fx", "mode", "Backwards")
        #expect(wrong.code == 1 && wrong.errors.contains("(it may be Stop, Slow, Fast)"), "\(wrong.errors)")
        #expect(try await call("ctl", "set", "fx", "mode", "0.3").errors.contains("must be a whole number"))
        #expect(try await call("ctl", "set", "fx", "plugin", "x").errors.contains("'plugin' of node 'fx' is fixed"))
        // What the file says in a word stays in it, and the rest is where the file has such things.
        let text = try await call("ctl", "save", "-").output
        #expect(
            text.contains("params = { lo_width = 0.25, mode = \"Slow\", speed = 0.75 }"), "\(text)")
        try await end(run)
    }

    @Test("`graph --live` draws what plays, with levels and load; levels come for who asks for them") func liveGraph()
        async throws
    {
        let run = try await start("--json")
        #expect(try await call("ctl", "add", "low", "gain", "gain_db=-20", "mute=true").code == 0)
        #expect(try await call("ctl", "link", "tone -> low -> out").code == 0)
        #expect(try await call("ctl", "add", "amp", "lv2", "plugin=eg-amp").code == 0)
        // The first of them come when the block after the question is played.
        try await eventually("the tone is heard") {
            let svg = try await call("graph", "--live")
            return svg.code == 0 && svg.output.contains(/<title>tone: tone, peak -\d+\.\d dBFS, \d+\.\d % of a block</)
        }
        let svg = try await call("graph", "--live", "--client", "endless").output
        #expect(svg.contains("tone.out → low.in: audio") && svg.contains(">MUTED</text>"))
        #expect(svg.contains(">lv2: Simple Amplifier</text>"))
        let picture = scratch.file("live.png")
        #expect(try await call("graph", "--live", "--output", picture).code == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: picture)).prefix(4).elementsEqual([0x89, 0x50, 0x4E, 0x47]))
        let events = try Program(
            [Program.voicegraph, "ctl", "events", "series", "--series", "tone.output"],
            environment: ["XDG_RUNTIME_DIR": scratch.path])
        try await events.wait("how loud the tone is") {
            $0.lines.contains { $0.contains("\"node\":\"tone\"") && $0.contains("\"output\":[0.") }
        }
        // No other node, and no other series of that one.
        #expect(try events.events().allSatisfy { Set($0.keys) == ["event", "time", "node", "output"] })
        events.signal(SIGINT)
        _ = try await events.end()
        for (series, hint) in [("tone.outptu", "did you mean 'tone.output'?"), ("loudness", "there are: ")] {
            let refused = try await call("ctl", "events", "--series", series)
            #expect(refused.code == 1 && refused.errors.contains("no node has a series '\(series)'"))
            #expect(refused.errors.contains(hint), "\(refused.errors)")
        }
        for (arguments, code, message) in [
            (["graph"], 64, "name a graph file, or give --live"), (["graph", "--live", "x.conf"], 64, "or --live"),
            (["graph", "--live", "--client", "nobody"], 1, "no host 'nobody' is running"),
            (["graph", "x.conf", "--client", "endless"], 64, "--client is for --live"),
            (["graph", "--live", "--scale", "0"], 64, "between 0.1 and 16"),
            (["graph", "--live", "--output", scratch.path + "/no/x.png"], 1, "cannot be written: No such file"),
        ] as [([String], Int32, String)] {
            let refused = try await call(arguments)
            #expect(refused.code == code && refused.errors.contains(message), "\(arguments): \(refused.errors)")
        }
        try await end(run)
        #expect(try await call("graph", "--live").errors.contains("no host is running"))
    }

    @Test("What an action returns is printed with its units") func actionResults() async throws {
        let path = try scratch.write(
            "taking.conf",
            """
            [graph]
            name = "taking"
            links = ["tone -> take"]
            [node.tone]
            type = "tone"
            level_db = -20
            [node.take]
            type = "record"
            path = "take.wav"
            """)
        let run = try await start(path, "--json")
        try await run.wait("a second is recorded") {
            $0.lines.contains { $0.contains("\"event\":\"status\"") && !$0.contains("\"time\":0.") }
        }
        let answer = try await call("ctl", "do", "take", "finish")
        #expect(answer.output.contains(/\nloudness  -2\d(\.\d{1,3})? LUFS\n/), "\(answer)")
        #expect(
            answer.output.contains(/\nframes  \d+ frames\n/)
                && answer.output.contains(/\ntrue_peak  -\d+(\.\d{1,3})? dBTP\n/))
        try await end(run)
    }

    @Test("`top` and `status` tell what nodes take") func topAndStatus() async throws {
        let run = try await start("--json")
        try await run.wait("blocks are timed") { $0.lines.contains { $0.contains("\"event\":\"status\"") } }
        let top = try await call("top")
        #expect(top.code == 0)
        #expect(top.output.contains(/endless  dummy  48 kHz  256 frames  load \d+\.\d %  xruns \d+/), "\(top.output)")
        #expect(top.output.contains(/node +now us +peak us +of a block +mean us +99 % us +longest us\n/))
        #expect(top.output.contains(/\ngain +\d+\.\d +\d+\.\d +\d+\.\d\d % +\d+\.\d +\d+\.\d +\d+\.\d\n/))
        let lines = try Program([Program.voicegraph, "top", "--json"], environment: ["XDG_RUNTIME_DIR": scratch.path])
        try await lines.wait("two objects") { $0.lines.count >= 2 }
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(lines.lines[0].utf8)) as? [String: Any])
        #expect((object["timings"] as? [String: Any])?["gain"] is [String: Any] && object["status"] is [String: Any])
        let status = try await call("status")
        for word in ["graph    endless", "driver   dummy", "rate     48 kHz", "block    256 frames, 5.33 ms"] {
            #expect(status.output.contains(word + (word.contains("dummy") ? "" : "\n")))
        }
        #expect(try await call("status", "--json").output.contains("\"status\":{\"block\":256"))
        try await end(run)
        // It ends with the host.
        let code = try await lines.end()
        #expect(code == 1 && lines.errors.contains("has ended"))
    }

    @Test("Events are printed until the end") func events() async throws {
        let run = try await start("--json")
        let events = try Program(
            [Program.voicegraph, "ctl", "events", "graph.changed", "series", "graph.chnged"],
            environment: ["XDG_RUNTIME_DIR": scratch.path])
        try await events.wait("series") { !$0.lines.isEmpty }
        _ = try await call("ctl", "mute", "gain")
        try await events.wait("the change") { $0.lines.contains { $0.contains("\"graph.changed\"") } }
        try await end(run)
        let code = try await events.end()
        #expect(code == 0)
        // A node that comes later may have it.
        #expect(events.errors.contains("has an event 'graph.chnged' (did you mean 'graph.changed'?)"))
        #expect(try events.events().allSatisfy { ["graph.changed", "series"].contains($0["event"] as? String) })
    }

    @Test("A series on request is printed for whoever asks for it, and for nobody else") func seriesOnRequest()
        async throws
    {
        let run = try await start("--json")
        func listen(_ arguments: [String]) throws -> Program {
            try Program(
                [Program.voicegraph, "ctl", "events", "series"] + arguments,
                environment: ["XDG_RUNTIME_DIR": scratch.path])
        }
        let (plain, asking) = (try listen([]), try listen(["--series", "meter.lufs_m", "--series", "spectrum"]))
        for series in ["lufs_m", "spectrum"] {
            try await asking.wait(series) { $0.lines.contains { $0.contains("\"\(series)\":[") } }
        }
        try await plain.wait("levels") { $0.lines.count > 20 }
        try await end(run)
        for program in [plain, asking, run] {
            if program.isRunning { _ = try await program.end() }
            #expect(program.lines.contains { $0.contains("\"lufs_m\"") } == (program === asking))
        }
    }

    @Test("A run that watches follows its files, and keeps playing when they are faulty") func watching() async throws {
        let part = try scratch.write("part.conf", "[node.more]\ntype = \"gain\"\ngain_db = -3\n")
        try scratch.write("graph.conf", "include = \"part.conf\"\n" + endless)
        let run = try await start("--watch")
        // Put in the old one's place, as editors do.
        func replace(_ path: String, _ text: String) throws {
            let new = try scratch.write(".new", text)
            #expect(rename(new, path) == 0)
        }
        try replace(graph, "include = \"part.conf\"\n" + endless.replacing("-6", with: "-12"))
        try await run.wait("the change") {
            $0.lines.contains { $0.hasPrefix("graph: 1 parameter turned; heard after ") }
        }
        // Written over.
        try endless.replacing("\"gain\"", with: "\"gian\"").write(toFile: graph, atomically: false, encoding: .utf8)
        try await run.wait("the fault") { $0.errors.contains("^~~~~~") }
        #expect(run.errors.contains("graph.conf:8:8: error: unknown node type 'gian'"))
        #expect(run.lines.contains { $0.contains("reload failed: ") && $0.contains("graph.conf:8:8: ") })
        #expect(try await call("ctl", "get", "tone", "level_db").output == "-12\n")
        // Whole again, with an included file; then that one changes.
        try replace(graph, "include = \"part.conf\"\n" + endless)
        try await eventually("it is as it was") { try await call("ctl", "get", "tone", "level_db").output == "-6\n" }
        try replace(part, "[node.more]\ntype = \"gain\"\ngain_db = -9\n")
        try await eventually("the include is read") { try await call("ctl", "get", "more").output.contains("-9 dB") }
        try await end(run)
    }
}
