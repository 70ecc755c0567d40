// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import Synchronization
import System
import TestSupport

@testable import LV2

/// Bundles that are broken in one way each: what is said of them names the bundle and the reason.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct BrokenBundleTests {
    private let folder: String
    private let world: World

    init() throws {
        folder = try BrokenBundles.folder()
        world = World(path: [folder])
    }

    /// Does all that a node does before it is activated.
    private func make(_ fault: String) throws {
        let info = try PluginInfo(world, uri: try world.resolve(BrokenBundles.uri(fault)))
        try Features.check(info)
        try info.checkBinary()
        let ports = try PortLayout(info)
        let preparation = Preparation(rate: 48_000, maxBlock: 64, offline: true)
        _ = try PluginInstance(
            info, ports, ports.layout.parameters.map(\.defaultValue), states: [], patches: [], preparation,
            log: PluginLog(URIDs(URIDMap.shared)), world: world)
    }

    @Test(
        "What is wrong with a bundle is told with its path and the reason, as no mistake of the graph file",
        arguments: [
            ("no-manifest", "it has no manifest.ttl"),
            ("bad-manifest", "manifest.ttl:11:26: missing ';' or '.'"),
            ("bad-data", "plugin.ttl:11:26: missing ';' or '.'"),
            ("no-data", "plugin.ttl: the file cannot be read"),
            ("no-binary", "gone.so: No such file or directory"),
            ("text-binary", "text-binary.txt: "),
            ("wrong-symbol", "wrong-symbol.so does not hold this plugin"),
            ("no-descriptor", "no-descriptor.so does not hold this plugin"),
            ("refuses", "the plugin refused to start at 48000 Hz"),
            ("no-run", "has no run or connect_port function"),
            ("port-index", "the indices of its 2 ports are not 0 to 1"),
            ("unknown-feature", "requires urn:voicegraph:broken:moonlight, which the host does not offer"),
        ])
    func faultIsTold(fault: String, reason: String) throws {
        let error = try #require(throws: NodeError.self) { try make(fault) }
        #expect(error.message.contains("\(folder)/\(fault).lv2"))
        #expect(error.message.contains(reason))
        #expect(error.key == "")
    }

    @Test("A sound plugin among broken bundles runs")
    func soundPluginRuns() throws { try make("good") }

    // The plugin aborts when it is freed early. A sanitizer has a thread wait for it before it begins.
    @Test(
        "A plugin whose own thread still works is freed when that has come to rest",
        .enabled(if: !Sanitizer.isLoaded, "threads begin in another way"), arguments: 0..<5)
    func threadIsWaitedFor(round: Int) throws { try make("late-thread") }

    @Test("A thread that never rests holds nobody up for long")
    func busyThread() throws {
        final class Stop: Sendable { let flag = Atomic(false) }
        let stop = Stop()
        let thread = try PluginThreads.watch("busy") {
            Result { try SystemThread(name: "vgt-busy") { while !stop.flag.load(ordering: .relaxed) {} } }
        }.get()
        PluginThreads.settle("busy", patience: 0.05)
        stop.flag.store(true, ordering: .relaxed)
        thread.join()
        // One that has ended is not waited for at all.
        PluginThreads.settle("busy", patience: 1000)
    }

    // In a process of its own: what others have left free may be large enough to be given again.
    @Test("Large memory is fresh in every copy of a plugin", .enabled(if: !Sanitizer.isLoaded, "malloc is another"))
    func memoryIsFresh() async {
        await #expect(processExitsWith: .success) {
            try BrokenBundleTests().make("good")
            // Larger than what that has left free, but less than what the C library maps in any case.
            for _ in 0..<3 {
                let block = malloc(30 << 20)!
                defer { free(block) }
                try #require((block + (15 << 20)).load(as: UInt64.self) == 0)
                (block + (15 << 20)).storeBytes(of: 0x5A5A, as: UInt64.self)
            }
        }
    }

    @Test("A plugin that no bundle speaks of is a mistake of the file, broken bundles or not")
    func unknownPlugin() throws {
        let error = try #require(throws: NodeError.self) { try make("never-heard-of") }
        #expect(error.key == "plugin" && error.message.hasSuffix("is installed"))
    }
}
