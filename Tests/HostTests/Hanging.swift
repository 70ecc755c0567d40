// SPDX-License-Identifier: Apache-2.0
import NodeKit
import System
import TestSupport

/// A node that does not come back from one of its calls before it is let go.
final class Hanging: Node {
    static let descriptor = NodeDescriptor(
        "hanging", "for tests",
        settings: [Setting("call", VG_SET_STRING, "from which", required: true)])

    /// Whether all may come back.
    static let isOpen = Lock(false)

    /// How many hang now.
    static let count = Lock(0)

    private let call: String

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        call = settings.string("call") ?? ""
        wait(in: "create")
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor {
        wait(in: "prepare")
        return NoProcessor()
    }

    func activate() { wait(in: "activate") }

    private func wait(in call: String) {
        guard call == self.call else { return }
        Self.count.withLock { $0 += 1 }
        _ = Self.isOpen.wait { $0 ? true : nil }
        Self.count.withLock { $0 -= 1 }
    }
}
