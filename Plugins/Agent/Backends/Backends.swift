// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Who may answer, by the names that the file uses.
enum Backends {
    static let names = ["rules", CommandBackend.name, OpenAIBackend.name]

    /// Makes the one that the settings name. [control]
    static func make(_ settings: Settings, _ host: NodeHost, _ tools: Tools) throws(NodeError) -> any Backend {
        switch settings.string("backend") {
        case CommandBackend.name: try CommandBackend(settings, host)
        case OpenAIBackend.name: try OpenAIBackend(settings, host, tools)
        default: try RulesBackend(settings, host, tools)
        }
    }
}
