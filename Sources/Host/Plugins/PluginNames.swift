// SPDX-License-Identifier: Apache-2.0
import GraphFile
import LV2

/// What an LV2 plugin calls itself; nil: it is not installed. [control]
public func pluginName(_ plugin: String) -> String? { try? World.shared.describe(plugin).name }

extension GraphDescription {
    /// What the plugins of LV2 nodes call themselves, by node. [control]
    public var pluginNames: [String: String] {
        let named = nodes.filter { $0.type == StandardType.lv2 }.compactMap { node -> (String, String)? in
            guard case .string(let plugin)? = node.entries["plugin"]?.value else { return nil }
            return pluginName(plugin).map { (node.name, $0) }
        }
        return Dictionary(named, uniquingKeysWith: { $1 })
    }
}
