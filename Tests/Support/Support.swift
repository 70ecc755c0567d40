// SPDX-License-Identifier: Apache-2.0
@_exported import CTestEnvironment
import Graph
import NodeKit
@_exported import NodeTesting
@_exported import Testing

extension NodeHarness {
    /// Creates, prepares and activates a node of `type`; a fault of it fails the running test. It finds the models of whoever
    /// runs the tests.
    public convenience init(
        _ type: UnsafePointer<vg_node_type>, _ settings: [String: SettingValue] = [:], rate: Double = 48000,
        maxBlock: Int = 1024, offline: Bool = false, name: String = "node", baseFolder: String = "",
        models: String? = nil
    ) throws {
        try self.init(
            type, settings, rate: rate, maxBlock: maxBlock, offline: offline, name: name, baseFolder: baseFolder,
            models: models ?? userData + "/voicegraph/models", report: recordFault)
    }
}
