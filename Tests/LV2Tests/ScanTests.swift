// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@testable import LV2

/// Plugins that misbehave are tried in a child process, which finds out what they do.
@Suite(.timeLimit(.minutes(2)))
final class ScanTests {
    private let folder: String
    private let world: World
    private let cache = NSTemporaryDirectory() + "voicegraph-trials-\(UUID().uuidString)/sub/lv2-scan"

    init() throws {
        folder = try BrokenBundles.folder()
        world = World(path: [folder])
    }

    deinit {
        let folder = URL(fileURLWithPath: cache).deletingLastPathComponent().deletingLastPathComponent()
        try? FileManager.default.removeItem(at: folder)
    }

    private func probe(_ command: [String]? = nil, patience: Double = 60) throws -> PluginScan {
        let probe = PluginScan()
        probe.use(try command ?? [commandPath(), "lv2", "scan-child"], patience: patience, cache: cache)
        return probe
    }

    private func fault(_ name: String, _ probe: PluginScan) throws -> NodeError? {
        probe.fault(of: try PluginInfo(world, uri: BrokenBundles.uri(name)))
    }

    @Test("A bundle whose data crashes whoever reads it is found out by the child, and no other is held for it")
    func harmfulDataIsFoundOut() throws {
        let scratch = try Scratch()
        let prefixes =
            "@prefix lv2: <http://lv2plug.in/ns/lv2core#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        func bundle(_ name: String, _ data: String) throws -> String {
            let folder = scratch.file("\(name).lv2")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let manifest = prefixes + "<urn:x:\(name)> a lv2:Plugin ; lv2:binary <p.so> ; rdfs:seeAlso <data.ttl> .\n"
            try manifest.write(toFile: folder + "/manifest.ttl", atomically: true, encoding: .utf8)
            try (prefixes + data).write(toFile: folder + "/data.ttl", atomically: true, encoding: .utf8)
            return folder
        }
        let depth = 200_000
        let nested = String(repeating: "[ lv2:x ", count: depth) + "1" + String(repeating: " ]", count: depth)
        let bad = try bundle("deep", "<urn:x:deep> lv2:port \(nested) .\n")
        let good = try bundle("plain", "<urn:x:plain> rdfs:label \"plain\" .\n")
        let faults = try probe().dataFaults(of: [good, bad])
        #expect(faults == [bad: "crashes in the reading of its data (SIGSEGV)"])
        // Kept until the data changes.
        #expect(try probe(["/bin/false"]).dataFaults(of: [bad, good]) == faults)
    }

    @Test(
        "A crash is told with bundle, function and signal, an exit with its code",
        arguments: [
            ("crash-instantiate", "crashes in instantiate (SIGSEGV)"),
            ("abort-instantiate", "crashes in instantiate (SIGABRT)"),
            ("exit-instantiate", "ends the whole process in instantiate (exit code 3)"),
            ("crash-connect_port", "crashes in connect_port (SIGBUS)"),
            ("crash-activate", "crashes in activate (SIGFPE)"),
            ("crash-run", "crashes in run (SIGSEGV)"),
            ("exit-run", "ends the whole process in run (exit code 0)"),
            ("crash-deactivate", "crashes in deactivate (SIGILL)"),
            ("crash-cleanup", "crashes in cleanup (SIGSEGV)"),
            ("crash-extension_data", "crashes in extension_data (SIGTRAP)"),
            ("crash-work", "crashes in work (SIGSEGV)"),
            ("crash-work_response", "crashes in work_response (SIGBUS)"),
            ("crash-end_run", "crashes in end_run (SIGFPE)"),
            ("crash-save", "crashes in save (SIGABRT)"),
            ("crash-restore", "crashes in restore (SIGILL)"),
        ])
    func crashIsTold(name: String, how: String) throws {
        let error = try #require(try fault(name, probe()))
        #expect(error.message.hasPrefix("\(name) in \(folder)/misbehaving.lv2 \(how)"))
        #expect(error.hint.contains("trust = true"))
        #expect(error.key == "")
    }

    @Test(
        "So is a crash before there is a plugin",
        arguments: [
            ("bad-constructor", "Bad Constructor", "crashes in dlopen (SIGSEGV)"),
            ("bad-descriptor", "Bad Descriptor", "crashes in lv2_descriptor (SIGBUS)"),
        ])
    func earlyCrashIsTold(bundle: String, name: String, how: String) throws {
        let error = try #require(try fault(bundle, probe()))
        #expect(error.message.hasPrefix("\(name) in \(folder)/\(bundle).lv2 \(how)"))
    }

    @Test("An endless loop is given up after a while", arguments: ["instantiate", "run", "work"])
    func loopIsGivenUp(step: String) throws {
        let error = try #require(try fault("loop-\(step)", probe(patience: 1.5)))
        #expect(error.message.contains("does not come back from \(step) within 1.5 s"))
    }

    @Test("What the plugin printed last is shown")
    func lastWordsAreShown() throws {
        #expect(try fault("abort-instantiate", probe())?.hint.contains("it printed: cannot open the display;") == true)
    }

    @Test("A sound plugin passes, and one that refuses properly is left to the host")
    func soundPluginsPass() throws {
        let probe = try probe()
        for name in ["good", "refuses", "wrong-symbol", "text-binary"] { #expect(try fault(name, probe) == nil) }
    }

    @Test("Many plugins are tried in one go, whatever some of them do")
    func manyAreTried() throws {
        let names = ["good", "crash-run", "refuses", "exit-instantiate", "crash-cleanup", "good"]
        let results = try probe().tryAgain(names.map(BrokenBundles.uri), world: world)
        #expect(results.map(\.uri) == names.map(BrokenBundles.uri))
        #expect(results.map { $0.fault != nil } == [false, true, true, true, true, false])
        #expect(results[2].fault?.contains("refused to start") == true)
    }

    @Test("What came of it is kept until the bundle changes: then the plugin is tried again")
    func resultsAreKept() throws {
        let bundle = NSTemporaryDirectory() + "voicegraph-changing-\(UUID().uuidString).lv2"
        defer { try? FileManager.default.removeItem(atPath: bundle) }
        try FileManager.default.copyItem(atPath: folder + "/misbehaving.lv2", toPath: bundle)
        let world = World(path: [])
        world.add(bundle: bundle)
        let info = try PluginInfo(world, uri: BrokenBundles.uri("crash-run"))
        let first = try #require(try probe().fault(of: info))
        // A command that cannot run shows that none is run.
        let blind = try probe(["/nowhere/voicegraph"])
        #expect(blind.fault(of: info)?.message == first.message)
        let later = Date(timeIntervalSinceNow: 100)
        try FileManager.default.setAttributes([.modificationDate: later], ofItemAtPath: bundle + "/misbehaving.so")
        let second = try #require(blind.fault(of: info))
        #expect(second.message.contains("cannot be tried: /nowhere/voicegraph: No such file or directory"))
    }

    @Test("A file of results that is damaged is as good as none")
    func damagedCacheIsNone() throws {
        let folder = URL(fileURLWithPath: cache).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for text in ["", "voicegraph lv2 scan 1\n\t\t\n\n\tx\n", "\u{0}\u{1}nonsense", "voicegraph lv2 probes 1\n"] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: cache))
            #expect(try fault("good", probe()) == nil)
            #expect(try fault("crash-run", probe()) != nil)
        }
    }

    @Test("Without a command to run nothing is tried")
    func offByDefault() throws { #expect(try fault("crash-run", PluginScan()) == nil) }

    @Test("A command that does something else is told as such", arguments: [["/bin/true"], ["/bin/cat"]])
    func wrongCommandIsTold(command: [String]) throws {
        #expect(try fault("good", probe(command))?.message.contains("cannot be tried: \(command[0]) ended") == true)
    }
}
