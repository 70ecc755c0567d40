// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeTrials
import TestSupport

/// `voicegraph plugin check`: each promise is broken once, and found.
@Suite("The check of plugins") struct CheckPluginTests {
    private struct Found {
        var status: Int32
        var text: String
        /// What was found of the only type, as "severity subject: message; hint".
        var lines: [String] = []

        func has(_ severity: String, _ subject: String, _ text: String) -> Bool {
            lines.contains { $0.hasPrefix("\(severity) \(subject): ") && $0.contains(text) }
        }
    }

    private func check(_ arguments: String...) async throws -> Found { try await check(arguments) }

    private func check(_ arguments: [String]) async throws -> Found {
        let result = try await runTool([Program.voicegraph, "plugin", "check"] + arguments + ["--json"], seconds: 120)
        var found = Found(status: result.status, text: result.output)
        let told = try? JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        for (_, findings) in told?["types"] as? [String: [[String: String]]] ?? [:] {
            found.lines += findings.map {
                "\($0["severity"] ?? "") \($0["subject"] ?? ""): \($0["message"] ?? ""); \($0["hint"] ?? "")"
            }
        }
        return found
    }

    @Test(
        "What breaks one promise is found by the look at it, and ends nothing else",
        arguments: [
            ("allocate", "error", "realtime", "malloc, called by faulty_allocates in libvg-faulty.so"),
            ("allocate", "error", "realtime", "free, called by faulty_allocates in libvg-faulty.so"),
            ("lock", "error", "realtime", "pthread_mutex_lock, called"),
            ("print", "error", "realtime", "in libvg-faulty.so"), ("wait", "error", "realtime", "usleep, called"),
            ("leak", "error", "memory", "every life of a node leaves 50"),
            ("file", "error", "memory", "leave 20 open files behind"),
            ("crash", "error", "life", "crashes in the check of its life (SIGSEGV)"),
            ("hang", "error", "life", "does not come back from the check of its life within 2 s"),
            ("refuse", "not checked", "life", "there is no moon tonight"),
            ("rate", "warning", "rates", "at 192000 Hz in blocks of 8192: that is too fast"),
            ("keep", "warning", "reset", "it sounds as no new one does"),
            ("late", "warning", "latency", "declares 40 frames, and its sound comes 100 frames late"),
            ("block", "warning", "blocks", "is another than in blocks of 64"),
            ("shared", "error", "in-place", "share a buffer its sound is another"),
            ("poison", "warning", "input", "10 s after one sample that is no number"),
            ("tail", "warning", "denormals", "below the smallest ordinary number"),
            ("short", "error", "life", "left frames of output 0 unwritten"),
            ("beyond", "error", "life", "wrote outside the block of output 0"),
            ("silent", "error", "life", "flagged output 0 as silent; it is not"),
            ("divide", "error", "parameters", "is no finite number with gain = 2.0"),
            ("loud", "warning", "parameters", "with gain = 2.0 it makes 180.0 dBFS"),
            ("undeclared", "error", "life", "the event surprise is not declared"),
        ])
    func broken(_ fault: String, _ severity: String, _ subject: String, _ text: String) async throws {
        let scratch = try Scratch()
        let plugin = try await compile("plugins/faulty", in: scratch, as: "libvg-faulty.so")
        // The next look is taken, whatever the first ended.
        let found = try await check(
            plugin, "--set", "fault=\(fault)", "--patience", fault == "hang" ? "2" : "60", "--only", subject, "--only",
            "settings")
        #expect(found.has(severity, subject, text), "\(found.text)")
        #expect(found.status == (severity == "error" ? 1 : 0), "\(found.text)")
        #expect(fault == "refuse" || found.lines.contains { $0.contains(" settings: ") }, "\(found.text)")
    }

    @Test("A sound plugin has nothing to be said against it, however strict")
    func sound() async throws {
        let scratch = try Scratch()
        let plugin = try await compile("plugins/faulty", in: scratch, as: "libvg-faulty.so")
        let found = try await check(plugin, "--strict")
        #expect(found.status == 0 && found.lines.allSatisfy { $0.hasPrefix("fine ") }, "\(found.text)")
        #expect(found.lines.count == NodeCheck.Subject.allCases.count)
        for fault in ["late", "refuse"] {
            let strict = try await check(plugin, "--strict", "--set", "fault=\(fault)")
            #expect(strict.status == 1, "\(strict.text)")
        }
        let printed = try await runTool([Program.voicegraph, "plugin", "check", plugin], seconds: 120)
        #expect(printed.status == 0 && printed.output.contains("faulty 1.0, Apache-2.0, 1 node type\n\nfaulty\n"))
        #expect(printed.output.hasSuffix("\n0 errors, 0 warnings, 13 fine\n"), "\(printed.output)")
    }

    @Test(
        "Our own plugins break no promise",
        arguments: [
            ("tremolo", "tremolo", []), ("bitcrush", "bitcrush", []), ("echo", "echo", []), ("file", "file", ["path"]),
            ("record", "record", ["path"]), ("tts", "tts", ["engine=espeak-ng"]), ("listen", "vad", []),
            ("agent", "agent", []),
        ] as [(String, String, [String])])
    func own(_ plugin: String, _ type: String, _ settings: [String]) async throws {
        let scratch = try Scratch()
        try SoundFile(rate: 48000, samples: [Signal.noise(frames: 48000, seed: 3, amplitude: 0.5)])
            .write(scratch.file("a.wav"))
        let given = settings.map { $0 == "path" ? "path=\(scratch.file(type == "file" ? "a.wav" : "b.wav"))" : $0 }
        let folder = URL(fileURLWithPath: Program.voicegraph).deletingLastPathComponent().path
        let found = try await check(
            ["\(folder)/libvg-\(plugin).so", "--type", type, "--strict"] + given.flatMap { ["--set", $0] })
        #expect(found.status == 0, "\(found.text)")
        #expect(found.lines.count == NodeCheck.Subject.allCases.count, "\(found.text)")
    }

    @Test("Preloaded into a program that marks its audio thread, the library ends it and names the place")
    func preloaded() async throws {
        let scratch = try Scratch()
        let program = scratch.file("marked")
        let built = try await runTool([
            "cc", "-rdynamic", "\(packageRoot)/Tests/Fixtures/preload/marked.c", "-o", program,
        ])
        try #require(built.status == 0, "\(built.output)")
        let alone = try await runTool([program], environment: ["LD_PRELOAD": ""])
        #expect(alone.status == 0 && alone.output == "survived\n")
        let folder = URL(fileURLWithPath: Program.voicegraph).deletingLastPathComponent().path
        let preload = ["LD_PRELOAD": folder + "/libvoicegraph-realtime.so", "SWIFT_BACKTRACE": "enable=no"]
        let watched = try await runTool([program], environment: preload)
        #expect(watched.status != 0, "\(watched.output)")
        #expect(watched.output == "voicegraph: on the audio thread: malloc, called by callback in marked\n")
    }

    @Test("What is no plugin, has no such type or takes no such setting is told")
    func nonsense() async throws {
        let scratch = try Scratch()
        let plugin = try await compile("plugins/faulty", in: scratch, as: "libvg-faulty.so")
        func said(_ arguments: String...) async throws -> (Int32, String) {
            let result = try await runTool([Program.voicegraph, "plugin", "check"] + arguments)
            return (result.status, result.output)
        }
        var (status, text) = try await said("/nowhere.so")
        #expect(status == 1 && text == "voicegraph: cannot read /nowhere.so: No such file or directory\n")
        try "text".write(toFile: scratch.file("a.so"), atomically: true, encoding: .utf8)
        (status, text) = try await said(scratch.file("a.so"))
        #expect(status == 1 && text.contains("is not a shared object of this machine"), "\(text)")
        (status, text) = try await said(plugin, "--type", "other")
        #expect(status == 1 && text.contains("has no node type other; it has faulty"), "\(text)")
        (status, text) = try await said(plugin, "--set", "fualt=leak")
        #expect(
            status == 1 && text == "voicegraph: a node of type faulty takes no 'fualt'; did you mean 'fault'?\n",
            "\(text)")
        (status, text) = try await said(plugin, "--only", "nothing")
        #expect(status == 64, "\(text)")
        (status, text) = try await said(plugin, "--set", "fault")
        #expect(status == 64 && text.contains("write KEY=VALUE"), "\(text)")
        let crashing = try await compile("plugins/null-entry", in: scratch, as: "libvg-null.so")
        (status, text) = try await said(crashing)
        #expect(status == 1 && text.contains("refuses this host"), "\(text)")
    }
}
