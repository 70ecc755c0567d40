// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NodeKit
import TestSupport

@testable import Host
@testable import Isolation

/// Times for tests: a block is waited for so long that only a fault makes it late, and faults are seen soon.
func testPolicy(_ change: (inout IsolationPolicy) -> Void = { _ in }) -> IsolationPolicy {
    // A sanitizer loaded into the tests is not meant for the child.
    var policy = IsolationPolicy(
        command: ["/usr/bin/env", "-u", "LD_PRELOAD", Program.voicegraph, "isolated-child"])
    policy.blockShare = 100
    policy.hangTime = 0.05
    policy.patience = 5
    policy.saveInterval = 0.01
    policy.settling = 0.02
    policy.firstPause = 0.01
    policy.longestPause = 0.05
    policy.memory = 512 << 20
    change(&policy)
    return policy
}

/// The fixture `unruly`, compiled once.
final class Unruly: Sendable {
    static let shared = Unruly()
    private let made: Result<Scratch, any Error>

    private init() {
        made = Result {
            let scratch = try Scratch()
            let compiler = Process()
            compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            compiler.arguments = [
                "cc", "-std=c11", "-O1", "-fPIC", "-shared", "-I\(packageRoot)/Sources/CNode/include",
                "\(packageRoot)/Tests/Fixtures/plugins/unruly.c", "-o", scratch.file("libvg-unruly.so"),
            ]
            try compiler.run()
            compiler.waitUntilExit()
            guard compiler.terminationStatus == 0 else { throw NodeError("the fixture cannot be compiled") }
            // What lives as long as the process is not freed at its end.
            atexit { if let folder = try? Unruly.shared.folder { try? FileManager.default.removeItem(atPath: folder) } }
            return scratch
        }
    }

    /// Where it is.
    var folder: String { get throws { try made.get().path } }

    /// A registry that finds the fixture.
    func registry(_ policy: IsolationPolicy = testPolicy()) throws -> NodeRegistry {
        let isolation = Isolation()
        isolation.use(policy)
        return NodeRegistry(
            search: PluginSearch(folders: [.init(try made.get().path)]), isolation: isolation)
    }
}

/// The type of the fixture, and where it is.
func unrulyType() throws -> (type: UnsafePointer<vg_node_type>, path: String) {
    guard let entry = try Unruly.shared.registry().catalog(for: ["unruly"]).types["unruly"] else {
        throw NodeError("the fixture cannot be loaded")
    }
    return (entry.type, entry.origin)
}

/// One isolated `unruly` between an input and an output, and a tone beside it.
func unrulyGraph(_ settings: String = "isolate = true", gain: Float = 2) -> String {
    """
    [graph]
    links = ["in -> odd -> out", "tone -> other"]
    [node.in]
    type = "input"
    [node.odd]
    type = "unruly"
    gain = \(gain)
    \(settings)
    [node.out]
    type = "output"
    channels = 1
    [node.tone]
    type = "tone"
    frequency = 331
    [node.other]
    type = "output"
    channels = 1

    """
}
