// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// `voicegraph models` as a user types it, in folders of its own, without a network.
@Suite("The command models", .timeLimit(.minutes(5))) struct ModelsCommandTests {
    private let scratch: Scratch
    private let environment: [String: String]

    init() throws {
        scratch = try Scratch()
        environment = [
            "XDG_DATA_HOME": scratch.file("data"), "XDG_CACHE_HOME": scratch.file("cache"), "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": scratch.file("wheels"), "PIP_CONFIG_FILE": "/dev/null",
        ]
    }

    private var folder: String { scratch.file("data/voicegraph/models") }

    private func models(_ arguments: String..., path: String? = nil) throws -> Program {
        var environment = environment
        if let path { environment["PATH"] = path + ":/usr/bin:/bin" }
        return try Program([Program.voicegraph, "models"] + arguments, environment: environment)
    }

    private func finished(
        _ arguments: String..., environment more: [String: String] = [:]
    ) async throws -> (code: Int32, output: String, errors: String) {
        let program = try Program(
            [Program.voicegraph, "models"] + arguments, environment: environment.merging(more) { $1 })
        return (try await program.end(seconds: 240), program.output, program.errors)
    }

    private func objects(_ text: String) throws -> [String: [String: Any]] {
        let objects = try text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        return try Dictionary(uniqueKeysWithValues: objects.map { (try #require($0["name"] as? String), $0) })
    }

    /// What is left in the folder of models and in the cache.
    private var left: [String] {
        [folder, scratch.file("cache/voicegraph/models")].flatMap {
            (try? FileManager.default.contentsOfDirectory(atPath: $0)) ?? []
        }
    }

    /// A folder with a python3 that never ends, and the file in which it says who it is.
    private func endlessPython() throws -> (folder: String, process: String) {
        let process = scratch.file("process")
        let bin = scratch.file("bin")
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
        let script =
            "#!/bin/sh\n: >\"$TMPDIR/begun\"\necho $$ >\(process).new\nmv \(process).new \(process)\nexec sleep 1000\n"
        try script.write(toFile: bin + "/python3", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: bin + "/python3")
        return (bin, process)
    }

    private func process(_ path: String) throws -> pid_t {
        try #require(pid_t(try String(contentsOfFile: path, encoding: .utf8).dropLast()))
    }

    @Test("`list` shows every model with its licence and size, and that none is installed, within 80 columns")
    func list() async throws {
        let result = try await finished("list")
        #expect(result.code == 0)
        for name in [
            "onnxruntime", "silero-vad", "smart-turn", "gtcrn", "voicefilter-lite", "micro-wakeword",
            "moonshine-base-en", "piper-joe",
        ] {
            #expect(result.output.contains("\n\(name) ") || result.output.hasPrefix("\(name) "))
        }
        let lines = result.output.split(separator: "\n")
        #expect(lines.last == "Installed models are in \(folder).")
        #expect(lines.dropLast().allSatisfy { $0.count <= 80 })
        let row = try #require(lines.first { $0.hasPrefix("moonshine-base-en ") })
        for word in ["not installed", "0.1.4", "63.6 MB", "MIT"] { #expect(row.contains(word)) }
        // What is made of it when it first listens is more.
        #expect(result.output.contains("  takes another 355.7 MB from its first use on\n"))
    }

    @Test("`list --json` gives an object a line, and tells what is damaged")
    func listJSON() async throws {
        try FileManager.default.createDirectory(atPath: folder + "/smart-turn", withIntermediateDirectories: true)
        let result = try await finished("list", "--json")
        #expect(result.code == 0)
        let models = try objects(result.output)
        #expect(models.count >= 5)
        let vad = try #require(models["silero-vad"])
        #expect(vad["state"] as? String == "absent" && vad["installed"] as? Bool == false && vad["path"] is NSNull)
        #expect(vad["size"] as? Int == 2_327_524 && vad["download_size"] as? Int == 11_317_527)
        #expect(vad["ready_size"] as? Int == 0 && models["moonshine-base-en"]?["ready_size"] as? Int == 355_700_000)
        #expect(vad["licence"] as? String == "MIT" && vad["needs"] as? [String] == ["onnxruntime"])
        #expect(vad["version"] as? String == "6.2.3" && vad["package"] as? String == "silero-vad==6.2.3")
        let turn = try #require(models["smart-turn"])
        #expect(
            turn["state"] as? String == "damaged" && turn["reason"] as? String == "it has no manifest that can be read")
        let verified = try await finished("list", "--verify")
        #expect(verified.code == 1)
        #expect(verified.errors.contains("damaged: smart-turn; `voicegraph models install smart-turn` replaces"))
    }

    @Test("A voice that somebody has put among the models is listed as their own") func own() async throws {
        for name in ["piper-own", ".piper-half", "empty"] {
            try FileManager.default.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: true)
        }
        for name in ["piper-own", ".piper-half"] {
            try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/\(name)/voice.onnx"))
        }
        let lines = try await finished("list").output.split(separator: "\n")
        #expect(lines.suffix(2) == ["piper-own          your own", "Installed models are in \(folder)."])
        let model = try #require(try objects(await finished("list", "--json").output)["piper-own"])
        #expect(model["state"] as? String == "own" && model["path"] as? String == folder + "/piper-own")
        #expect(try await finished("list", "--json").output.split(separator: "\n").count == 11)
    }

    @Test("A name that no model has is told, with what may have been meant")
    func unknown() async throws {
        for verb in ["install", "remove", "path"] {
            let result = try await finished(verb, "silero-vda")
            #expect(result.code == 1)
            #expect(result.errors == "voicegraph: there is no model silero-vda; did you mean 'silero-vad'?\n")
        }
        let other = try await finished("install", "something-else")
        #expect(other.errors.contains("`voicegraph models list` lists all"))
        #expect(try await finished("install").code == 64)
        #expect(try await finished("install", "--all", "silero-vad").code == 64)
        #expect(try await finished("remove").code == 64)
        #expect(left == [])
    }

    @Test("`path` gives folders to scripts")
    func path() async throws {
        #expect(try await finished("path").output == folder + "\n")
        let absent = try await finished("path", "piper-joe")
        #expect(absent.code == 1 && absent.output == "")
        #expect(absent.errors.contains("piper-joe is not installed; `voicegraph models install piper-joe`"))
        let removed = try await finished("remove", "piper-joe")
        #expect(removed.code == 0 && removed.output == "piper-joe is not installed\n")
    }

    @Test("Size, licence and what else is needed are told before anything is fetched")
    func told() async throws {
        try FileManager.default.createDirectory(atPath: scratch.file("wheels"), withIntermediateDirectories: true)
        let result = try await finished("install", "silero-vad")
        #expect(result.code == 1)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.firstIndex { $0.hasPrefix("fetching ") } == lines.count - 1)
        #expect(lines.contains("  needed by silero-vad"))
        #expect(lines.contains("  11.3 MB to fetch, 2.3 MB installed; licence: MIT"))
        #expect(result.errors.contains("voicegraph: pip finds no sherpa-onnx-core 2.0.1; is there a network? `pip"))
        #expect(left == [])
    }

    @Test("A file of the right name that is another is refused, and nothing is left")
    func wrongFile() async throws {
        let wheels = scratch.file("wheels")
        for (place, text) in [
            ("METADATA", "Metadata-Version: 2.1\nName: sherpa-onnx-core\nVersion: 2.0.1\n"),
            ("WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"), ("RECORD", ""),
        ] {
            let tree = scratch.file("sherpa_onnx_core-2.0.1.dist-info")
            try FileManager.default.createDirectory(atPath: tree, withIntermediateDirectories: true)
            try text.write(toFile: "\(tree)/\(place)", atomically: true, encoding: .utf8)
        }
        try FileManager.default.createDirectory(atPath: wheels, withIntermediateDirectories: true)
        let zip = try await runTool([
            "python3", "-m", "zipfile", "-c", wheels + "/sherpa_onnx_core-2.0.1-py3-none-any.whl",
            scratch.file("sherpa_onnx_core-2.0.1.dist-info"),
        ])
        #expect(zip.status == 0, "\(zip.output)")
        let result = try await finished("install", "onnxruntime")
        #expect(result.code == 1)
        #expect(result.output.contains("trying again (2 of 3)"))
        #expect(result.errors.contains("is another file: its sha256 is "))
        #expect(left == [])
    }

    @Test("Ctrl-C ends pip and leaves nothing", arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) async throws {
        let python = try endlessPython()
        let program = try models("install", "silero-vad", path: python.folder)
        try await program.wait("pip works") { _ in FileManager.default.fileExists(atPath: python.process) }
        program.signal(signal)
        #expect(try await program.end() == 130)
        #expect(program.errors == "voicegraph: interrupted; nothing half is left\n")
        #expect(isGone(try process(python.process)))
        #expect(left == [])
    }

    @Test("When it is killed pip ends too, and the next call removes what is left")
    func killed() async throws {
        let python = try endlessPython()
        let program = try models("install", "silero-vad", path: python.folder)
        try await program.wait("pip works") { _ in FileManager.default.fileExists(atPath: python.process) }
        program.signal(SIGKILL)
        #expect(try await program.end() == -SIGKILL)
        let pip = try process(python.process)
        try await eventually("pip ends with it") { isGone(pip) }
        #expect(left.contains { $0.hasPrefix(".pip-") })
        // It is no model, and stands in nobody's way.
        let listed = try await finished("list", "--json")
        #expect(try objects(listed.output).values.allSatisfy { $0["state"] as? String == "absent" })
        #expect(try await finished("install", "silero-vad", environment: ["PATH": scratch.path]).code == 1)
        #expect(left == [])
    }

    @Test(
        "While pip fetches there is a bar on a terminal, and elsewhere a line for each quarter",
        arguments: [false, true])
    func progress(isTerminal: Bool) async throws {
        // Fetches 3 MB of the 10.5 or 13.3 MB and waits until that was seen.
        let script = """
            #!/bin/sh
            mkdir "$TMPDIR/pip-unpack"
            head -c 3900000 /dev/zero >"$TMPDIR/pip-unpack/part"
            while [ ! -e \(scratch.file("seen")) ]; do sleep 0.01; done
            echo "ERROR: that was all" >&2
            exit 1
            """
        try FileManager.default.createDirectory(atPath: scratch.file("bin"), withIntermediateDirectories: true)
        try script.write(toFile: scratch.file("bin/python3"), atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.file("bin/python3"))
        var environment = environment
        environment["PATH"] = scratch.file("bin") + ":/usr/bin:/bin"
        let command = [Program.voicegraph, "models", "install", "onnxruntime"]
        let program = try Program(
            isTerminal ? ["script", "-qec", command.map { "'\($0)'" }.joined(separator: " "), "/dev/null"] : command,
            environment: environment)
        try await program.wait("progress is shown") { $0.output.contains("  3.9 of 1") }
        try scratch.write("seen", "")
        #expect(try await program.end() == 1)
        #expect(program.output.contains(/\[#+-+\] \d\d %  3\.9 of 1\d\.\d MB/) == isTerminal)
        if !isTerminal { #expect(program.lines.filter { $0.hasPrefix("  3.9 of 1") }.count == 1) }
        let errors = isTerminal ? program.output : program.errors
        #expect(errors.contains("voicegraph: pip has not fetched sherpa_onnx_core-2.0.1"))
        #expect(errors.contains("(exit code 1): ERROR: that was all"))
        #expect(left == [])
    }
}

/// What takes a network, and is done where `.ci/run models` says so.
@Suite("Models of the catalogue", .timeLimit(.minutes(20))) struct TrueModelsTests {
    private static let isAsked = ProcessInfo.processInfo.environment["VOICEGRAPH_TEST_MODELS"] != nil

    private func finished(_ scratch: Scratch, _ arguments: String...) async throws -> Program {
        let program = try Program(
            [Program.voicegraph, "models"] + arguments,
            environment: ["XDG_DATA_HOME": scratch.file("data"), "XDG_CACHE_HOME": scratch.file("cache")])
        try await program.end(seconds: 600)
        return program
    }

    @Test(
        "Models are fetched, verified, repaired and removed",
        .enabled(if: isAsked, "VOICEGRAPH_TEST_MODELS is not set: it fetches from the network"))
    func life() async throws {
        let scratch = try Scratch()
        let folder = scratch.file("data/voicegraph/models")
        let installed = try await finished(scratch, "install", "smart-turn", "silero-vad")
        #expect(try await installed.end() == 0, "\(installed.output)\(installed.errors)")
        #expect(installed.output.contains("installed onnxruntime 1.28.2: \(folder)/onnxruntime\n"))
        #expect(FileManager.default.fileExists(atPath: folder + "/onnxruntime/libonnxruntime.so"))
        #expect(FileManager.default.fileExists(atPath: folder + "/smart-turn/smart-turn-v3.2-cpu.onnx"))
        let licence = try String(contentsOfFile: folder + "/silero-vad/LICENSE", encoding: .utf8)
        #expect(licence.contains("MIT License") && licence.contains("Silero Team"))
        #expect(try await finished(scratch, "list", "--verify").end() == 0)

        let model = try #require(FileHandle(forWritingAtPath: folder + "/silero-vad/silero_vad.onnx"))
        try model.truncate(atOffset: 1000)
        let damaged = try await finished(scratch, "list", "--verify")
        #expect(try await damaged.end() == 1)
        #expect(damaged.output.contains("silero_vad.onnx has 1000 bytes instead of 2327524"))
        let repaired = try await finished(scratch, "install", "silero-vad")
        #expect(repaired.output.contains("replaces the one that is damaged"))
        #expect(try await finished(scratch, "list", "--verify").end() == 0)
        #expect(try await finished(scratch, "path", "silero-vad").output == folder + "/silero-vad\n")

        let refused = try await finished(scratch, "remove", "onnxruntime")
        #expect(refused.errors.contains("onnxruntime is needed by silero-vad, smart-turn; remove those as well"))
        #expect(try await finished(scratch, "remove", "onnxruntime", "smart-turn", "silero-vad").end() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }
}
