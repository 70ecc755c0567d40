// SPDX-License-Identifier: Apache-2.0
import NodeKit

extension GraphDescription {
    /// The variables of the environment that nodes name because they hold keys, as `key_env` does: what their types declare
    /// as such, and before the types are known whatever stands behind a key that ends in `_env`.
    package func keyVariables(_ catalog: NodeCatalog? = nil) -> Set<String> {
        var names: Set<String> = []
        var keysOfType: [String: Set<String>] = [:]
        for node in nodes {
            if let catalog, keysOfType[node.type] == nil, let type = catalog.types[node.type]?.type {
                let declared = [Setting](type.pointee.settings).filter { $0.reach == .variable }
                keysOfType[node.type] = Set(declared.map(\.key))
            }
            for (key, entry) in node.entries where key.hasSuffix("_env") || keysOfType[node.type]?.contains(key) == true
            {
                if case .string(let name) = entry.value { names.insert(name) }
            }
        }
        return names
    }
}
