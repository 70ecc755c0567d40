// SPDX-License-Identifier: Apache-2.0
import NodeKit

extension Need {
    /// Whether this node needs the models; nil: it does not use them. [any]
    public func isNeeded(by node: NodeDescription) -> Bool? {
        var given: String?
        if case .string(let text)? = node.entries[setting]?.value { given = text }
        // Without a setting every node uses them.
        return isNeeded(setting.isEmpty ? value : given)
    }
}
