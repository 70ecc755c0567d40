// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What the host looks for in the shared object. [control]
@c(vg_plugin_entry) public func pluginEntry(_ hostABI: UInt32) -> UnsafePointer<vg_plugin>? {
    exportPlugin(
        VAD.self, Turn.self, Transcribe.self, Wake.self, Speaker.self, name: "listen", version: "1.0",
        license: "Apache-2.0",
        hostABI: hostABI)
}
