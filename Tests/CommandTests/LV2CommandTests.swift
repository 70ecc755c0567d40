// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// `voicegraph lv2`, and what becomes of broken plugins in a graph.
@Suite(.timeLimit(.minutes(3)))
final class LV2CommandTests {
    private let cache = NSTemporaryDirectory() + "voicegraph-lv2-command-\(UUID().uuidString)"

    deinit { try? FileManager.default.removeItem(atPath: cache) }

    private func voicegraph(_ arguments: String...) async throws -> ToolResult { try await run(arguments) }

    private func run(_ arguments: [String], bundles: String? = nil) async throws -> ToolResult {
        try await runTool(
            [try commandPath()] + arguments,
            environment: ["LV2_PATH": try bundles ?? BrokenBundles.folder(), "XDG_CACHE_HOME": cache])
    }

    private func objects(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").filter { $0.hasPrefix("{") }.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test("`list` has every plugin, in text and in JSON, and finds words")
    func listing() async throws {
        let text = try await voicegraph("lv2", "list")
        #expect(text.status == 0 && text.output.contains("urn:voicegraph:broken:good\n"))
        let json = try objects(try await voicegraph("lv2", "list", "--json", "no", "binary").output)
        #expect(json.map { $0["uri"] as? String } == ["urn:voicegraph:broken:no-binary"])
        #expect(json.first?["name"] as? String == "No Binary")
        let middle = try await voicegraph("lv2", "list", "inary")
        #expect(middle.status == 1 && middle.output.contains("; with --anywhere "), "\(middle.output)")
        let anywhere = try objects(try await voicegraph("lv2", "list", "--json", "no", "inary", "--anywhere").output)
        #expect(anywhere.contains { $0["uri"] as? String == "urn:voicegraph:broken:no-binary" })
        #expect(try await voicegraph("lv2", "list", "--anywhere").status == 64)
        let none = try await voicegraph("lv2", "list", "theremin")
        #expect(none.status == 1 && none.output.contains("plugins matches theremin"))
    }

    @Test("`info` shows ports and what is wrong; a misspelt name gets a suggestion")
    func information() async throws {
        let good = try await voicegraph("lv2", "info", "GOOD")
        #expect(good.status == 0 && good.output.contains("runs here yes") && good.output.contains("audio out"))
        let object = try #require(
            try objects(try await voicegraph("lv2", "info", "unknown-feature", "--json").output).first)
        #expect(object["runs"] as? Bool == false)
        let features = try #require(object["required_features"] as? [[String: Any]])
        #expect(features.first?["supported"] as? Bool == false)
        #expect((object["ports"] as? [[String: Any]])?.map { $0["key"] as? String } == ["in", "out"])
        let crashing = try await voicegraph("lv2", "info", "crash-run")
        #expect(crashing.output.contains("runs here no: crashes in run (SIGSEGV)"))
        let text = try await voicegraph("lv2", "info", "text-binary")
        #expect(text.output.contains("runs here no: Text Binary in ") && text.output.contains("text-binary.txt"))
        let wrong = try await voicegraph("lv2", "info", "refusse")
        #expect(wrong.status == 1 && wrong.output.contains("did you mean Refuses"))
        #expect(try await voicegraph("lv2", "presets", "good").output.hasSuffix("good has no presets\n"))
    }

    @Test("`describe` shows of a plugin what info shows, by name after the type lv2 or by URI")
    func describing() async throws {
        let folder = cache + "/bundles"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: packageRoot + "/Tests/Fixtures/lv2/described.lv2",
            toPath: folder + "/described.lv2")
        let uri = "urn:voicegraph:described"
        for more in [[], ["--json"]] {
            let information = try await run(["lv2", "info", uri] + more, bundles: folder)
            #expect(information.status == 0 && information.output.contains(uri))
            for arguments in [["lv2", uri], ["lv2", "DESCRIBED"], [uri]] {
                let described = try await run(["describe"] + arguments + more, bundles: folder)
                #expect(described.status == 0 && described.output == information.output)
            }
        }
        let text = try await run(["describe", uri], bundles: folder).output
        for fact in ["20 to 20000 Hz, default 440", "0 to 2 octaves", "Warm", "Bright", "an impulse response"] {
            #expect(text.contains(fact), "\(fact) is missing in:\n\(text)")
        }
        let object = try #require(
            try objects(try await run(["describe", uri, "--json"], bundles: folder).output).first)
        let ports = try #require(object["ports"] as? [[String: Any]])
        #expect(ports.map { $0["unit"] as? String } == ["Hz", "octaves", "", "", ""])
        let points = try #require(ports[2]["scale_points"] as? [[String: Any]])
        #expect(points.map { $0["label"] as? String } == ["Warm", "Bright"])
        let wrong = try await run(["describe", "lv2", "descrybed"], bundles: folder)
        #expect(wrong.status == 1 && wrong.output.contains("did you mean Described"))
        #expect(try await voicegraph("describe", "gain", "good").status == 64)
        #expect(try await voicegraph("describe", "lv2").output.contains("an LV2 plugin"))
    }

    @Test(
        "A shell completes the plugins' short names, and behind describe the node types",
        arguments: [
            (["describe", "--", "positional@0"], "lv2"), (["describe", "--", "positional@1"], "good"),
            (["lv2", "info", "--", "positional@0"], "good"), (["lv2", "presets", "--", "positional@0"], "good"),
            (["lv2", "save-preset", "--", "positional@0"], "good"),
        ])
    func completion(words: [String], expected: String) async throws {
        let script = try await voicegraph("--generate-completion-script", "bash")
        let asked = ["---completion"] + words
        #expect(script.output.contains(asked.joined(separator: " ")))
        let offered = try await run(asked + ["0", "0", ""])
        #expect(offered.output.split(separator: "\n").contains { $0 == expected }, "\(offered.output)")
    }

    @Test("What is wrong with other bundles is not printed among the rest")
    func otherBundlesAreQuiet() async throws {
        for arguments in [["lv2", "info", "good"], ["lv2", "presets", "good"], ["lv2", "info", "no-binary"]] {
            let result = try await run(arguments)
            #expect(result.status == 0 && !result.output.contains("error") && !result.output.contains("bad-"))
        }
    }

    @Test("`save-preset` writes a bundle that presets lists, info shows and a graph uses")
    func presets() async throws {
        let home = cache + "/user"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        func command(_ arguments: String...) async throws -> ToolResult {
            let folders = "\(home)/.lv2:/usr/lib/lv2"
            return try await runTool(
                [try commandPath()] + arguments,
                environment: ["LV2_PATH": folders, "XDG_CACHE_HOME": cache, "HOME": home])
        }
        let saved = try await command("lv2", "save-preset", "eg-amp", "Half, nearly", "--param", "gain=-6.5")
        #expect(saved.status == 0, "\(saved.output)")
        #expect(saved.output.contains(home + "/.lv2/eg-amp-half-nearly.preset.lv2"))
        let again = try await command("lv2", "save-preset", "eg-amp", "Half, nearly", "--param", "gain=-6.5")
        #expect(again.status == 1 && again.output.contains("is there already"))
        #expect(try await command("lv2", "presets", "eg-amp").output.hasPrefix("Half, nearly  file://"))
        let next = try await command(
            "lv2", "save-preset", "eg-amp", "Next", "--preset", "half, nearly", "--folder", home + "/.lv2/next.lv2")
        #expect(next.status == 0, "\(next.output)")
        let text = try String(contentsOfFile: home + "/.lv2/next.lv2/state.ttl", encoding: .utf8)
        #expect(text.contains("-6.5") && text.contains("\"Next\""))
        let wrong = try await command("lv2", "save-preset", "eg-amp", "Loud", "--param", "gainn=3")
        #expect(wrong.status == 1 && wrong.output.contains("did you mean Gain or gain?"))
        #expect(try await command("lv2", "save-preset", "eg-amp", "Loud", "--param", "gain").status == 64)
    }

    @Test("`probe` tells what each plugin does and remembers it")
    func probing() async throws {
        let result = try await voicegraph("lv2", "scan", "good", "crash-run")
        #expect(result.status == 1)
        #expect(result.output.contains("urn:voicegraph:broken:good: fine\n"))
        #expect(result.output.contains("urn:voicegraph:broken:crash-run: crashes in run (SIGSEGV)\n"))
        let kept = try String(contentsOfFile: cache + "/voicegraph/lv2-scan", encoding: .utf8)
        #expect(kept.contains("\turn:voicegraph:broken:good\t") && kept.contains("crashes in run (SIGSEGV)"))
    }

    private func graph(_ plugin: String, _ more: String = "") throws -> String {
        try FileManager.default.createDirectory(atPath: cache, withIntermediateDirectories: true)
        let path = cache + "/\(plugin).conf"
        try """
        [graph]
        links = ["tone -> fx -> out"]
        [node.tone]
        type = "tone"
        [node.out]
        type = "output"
        channels = 1
        [node.fx]
        type = "lv2"
        plugin = "urn:voicegraph:broken:\(plugin)"
        \(more)
        """.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test(
        "Whatever a plugin does, the node is told as degraded and the rest plays",
        arguments: [
            ("no-manifest", "it has no manifest.ttl"), ("bad-manifest", "manifest.ttl:11:26"),
            ("bad-data", "plugin.ttl:11:26"), ("no-binary", "No such file"), ("text-binary", "text-binary.txt"),
            ("wrong-symbol", "does not hold this plugin"), ("no-descriptor", "does not hold this plugin"),
            ("refuses", "refused to start"), ("no-run", "no run or connect_port function"),
            ("port-index", "indices of its 2 ports"), ("unknown-feature", "moonlight"),
            ("crash-instantiate", "SIGSEGV"), ("exit-instantiate", "exit code 3"), ("crash-connect_port", "SIGBUS"),
            ("crash-activate", "SIGFPE"), ("crash-run", "SIGSEGV"), ("exit-run", "exit code 0"),
            ("crash-deactivate", "SIGILL"), ("crash-cleanup", "SIGSEGV"),
            ("crash-extension_data", "crashes in extension_data (SIGTRAP)"),
            ("crash-work", "crashes in work (SIGSEGV)"), ("crash-work_response", "crashes in work_response (SIGBUS)"),
            ("crash-end_run", "crashes in end_run (SIGFPE)"), ("crash-save", "crashes in save (SIGABRT)"),
            ("crash-restore", "crashes in restore (SIGILL)"),
            ("bad-constructor", "crashes in dlopen (SIGSEGV)"),
            ("bad-descriptor", "crashes in lv2_descriptor (SIGBUS)"),
        ])
    func hostStaysAlive(plugin: String, reason: String) async throws {
        let out = cache + "/\(plugin).wav"
        let result = try await voicegraph(
            "render", try graph(plugin), "-o", out, "--duration", "0.1", "--keep-going")
        #expect(result.status == 0)
        #expect(result.output.contains("node 'fx'") && result.output.contains(reason), "\(result.output)")
        let bundle = plugin.contains("crash") || plugin.contains("exit") ? "misbehaving" : plugin
        #expect(result.output.contains("/\(bundle).lv2"))
        #expect(result.output.contains("4800 frames"))
        let samples = try Data(contentsOf: URL(fileURLWithPath: out)).suffix(4000)
        #expect(samples.contains { $0 != 0 }, "what went into the plugin goes around it")
    }

    @Test(
        "Of the plugins that a graph does not use, no data is read",
        arguments: ["urn:voicegraph:broken:good", "good", "GOOD"])
    func bundlesAreLazy(name: String) async throws {
        let out = cache + "/lazy.wav"
        let arguments = ["render", try graph("good"), "-o", out, "--duration", "0.1", "--set"]
        // A copy, which no other test reads, with an eye on who opens it.
        let bundles = cache + "/bundles"
        try FileManager.default.copyItem(atPath: try BrokenBundles.folder(), toPath: bundles)
        let eye = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        defer { close(eye) }
        #expect(inotify_add_watch(eye, bundles + "/bad-data.lv2/plugin.ttl", UInt32(IN_OPEN)) >= 0)
        func opened() -> Bool {
            var events = [UInt8](repeating: 0, count: 4096)
            return read(eye, &events, events.count) > 0
        }
        let lazy = try await run(arguments + ["node.fx.plugin=\(name)"], bundles: bundles)
        // A name may be that of any plugin: then a child has a look at all of them first.
        #expect(lazy.status == 0 && (opened() == false || !name.hasPrefix("urn:")), "\(lazy.output)")
        let used = try await run(arguments + ["node.fx.plugin=urn:voicegraph:broken:bad-data"], bundles: bundles)
        #expect(opened() && used.output.contains("bad-data.lv2 cannot be loaded: plugin.ttl"))
    }

    @Test("A trusted plugin is not tried, by its node or by the whole run")
    func trust() async throws {
        let out = cache + "/trusted.wav"
        let byNode = try await voicegraph(
            "render", try graph("crash-cleanup", "trust = true"), "-o", out, "--duration", "0.1")
        #expect(byNode.status == -SIGSEGV || byNode.status > 0, "it crashes in its cleanup")
        let byRun = try await voicegraph(
            "render", try graph("crash-cleanup"), "-o", out, "--duration", "0.1", "--trust")
        #expect(byRun.status == -SIGSEGV || byRun.status > 0)
        let tried = try? String(contentsOfFile: cache + "/voicegraph/lv2-scan", encoding: .utf8)
        #expect(tried?.contains("urn:voicegraph:broken") != true, "\(tried ?? "")")
    }

    @Test("A required node ends the render with the reason")
    func required() async throws {
        let result = try await voicegraph(
            "render", try graph("crash-run", "required = true"), "-o", cache + "/required.wav", "--duration", "0.1")
        #expect(result.status == 1 && result.output.contains("crashes in run (SIGSEGV)"))
    }
}
