// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Who may answer, by the names that the file uses.
enum Backends {
    static let names = ["rules"]

    /// Makes the one that the settings name. [control]
    static func make(_ settings: Settings, _ host: NodeHost) throws(NodeError) -> any Backend {
        switch settings.string("backend") {
        default: try RulesBackend(settings, host)
        }
    }
}
