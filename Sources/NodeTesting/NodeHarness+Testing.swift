// SPDX-License-Identifier: Apache-2.0
import NodeKit
@_exported import NodeTrials
import Testing

/// Fails the running test by a sentence.
public let recordFault: FaultReport = { Issue.record("\($0)") }

extension NodeHarness {
    /// Creates, prepares and activates a node of a type in Swift; a fault of it fails the running test. `rate` in Hz,
    /// `maxBlock` in frames, 8192 at most; `offline`: time goes by as it processes. Throws what the node says.
    ///
    ///     let node = try NodeHarness(Sparkle.self, ["amount_db": .number(6)])
    ///     let output = node.run(48000, inputs: [Signal.sine(440, rate: 48000, frames: 48000)])[0]
    ///     expectLevel(of: output, -9.03, within: 0.1)
    public convenience init<N: Node>(
        _ type: N.Type, _ settings: [String: SettingValue] = [:], rate: Double = 48000, maxBlock: Int = 1024,
        offline: Bool = false, name: String = "node", baseFolder: String = ""
    ) throws(NodeError) {
        try self.init(
            nodeType(type), settings, rate: rate, maxBlock: maxBlock, offline: offline, name: name,
            baseFolder: baseFolder, report: recordFault)
    }
}
