// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit

/// What is more than turning a number.
extension RunningGraph {
    /// Goes over to a preset of a node, by label or URI, without a click: parameters that may ramp do, and what cannot
    /// be changed while it is heard is changed while the node is faded to silence, some 30 ms in all. [control]
    public func loadPreset(_ node: String, _ preset: String) throws(HostError) {
        let instance = try instance(node)
        do throws(NodeError) { try instance.loadPreset(preset) } catch { throw HostError(node, error) }
    }

    /// Sets a property of a node: a file, a text or another value that it takes by message. [control]
    public func setProperty(_ node: String, _ key: String, to value: SettingValue) throws(HostError) {
        let instance = try instance(node)
        do throws(NodeError) { try instance.setProperty(key, to: value) } catch { throw HostError(node, error) }
    }

    /// Asks for a property's value, which the node then publishes as the event "property" with the fields "key",
    /// "uri", "label" and "value". [control]
    public func askProperty(_ node: String, _ key: String) throws(HostError) {
        let instance = try instance(node)
        do throws(NodeError) { try instance.askProperty(key) } catch { throw HostError(node, error) }
    }
}

extension HostError {
    fileprivate init(_ node: String, _ error: NodeError) {
        self.init("node '\(node)': \(error.message)", hint: error.hint)
    }
}

extension Event {
    /// The value that it tells of a property called `key`: by URI, or by name or label in any capitals.
    func property(_ key: String) -> SettingValue? {
        let lowered = key.lowercased()
        for name in ["uri", "key", "label"] {
            if case .string(let text)? = fields[name], text == key || (name != "uri" && text.lowercased() == lowered) {
                return fields["value"]
            }
        }
        return nil
    }
}
