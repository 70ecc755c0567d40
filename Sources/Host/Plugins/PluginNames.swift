// SPDX-License-Identifier: Apache-2.0
import GraphFile
import LV2
import System

/// Those that were asked for: a page draws the graph at each of its changes.
private let known = Lock<[String: String]>([:])

/// What an LV2 plugin calls itself; nil: it is not installed. [control]
private func pluginName(_ plugin: String) -> String? {
    if let name = known.withLock({ $0[plugin] }) { return name }
    guard let name = try? World.shared.describe(plugin).name else { return nil }
    known.withLock { $0[plugin] = name }
    return name
}

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
