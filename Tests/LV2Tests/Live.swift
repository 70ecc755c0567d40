// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit
import Synchronization
import TestSupport

/// What the tests do to a plugin that plays.
extension NodeInstance {
    func loadPreset(_ preset: String) throws(NodeError) {
        _ = try performAndWait("preset", ["preset": .string(preset)])
    }

    func setProperty(_ key: String, to value: SettingValue) throws(NodeError) {
        _ = try performAndWait("property", ["key": .string(key), "value": value])
    }

    func save(to folder: String) throws(NodeError) { _ = try performAndWait("save", ["folder": .string(folder)]) }

    func has(_ action: String) -> Bool { declarations.actions.contains { $0.name == action } }
}

extension NodeHarness {
    /// Asks for a property and plays until there is an answer, or until it is said that there is none. `playing` false:
    /// the plugin does not play meanwhile.
    func property(_ key: String, playing: Bool = true) throws -> SettingValue? {
        let answer = Mutex<ActionResult?>(nil)
        instance.perform("property", ["key": .string(key)]) { result in answer.withLock { $0 = result } }
        while true {
            if let result = answer.withLock({ $0 }) { return try result.get()["value"] }
            if playing { _ = run(256) } else { instance.poll() }
            instance.expireActions()
        }
    }
}
