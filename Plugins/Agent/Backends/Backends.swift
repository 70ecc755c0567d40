// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Who may answer, by the names that the file uses.
enum Backends: String, CaseIterable {
    case rules, command, openai

    static let key = Key.choice("backend", "who answers", default: Backends.rules)

    /// Makes the one that the settings name. [control]
    static func make(_ settings: Settings, _ host: NodeHost, _ tools: Tools) throws(NodeError) -> any Backend {
        switch try settings[key] {
        case .rules: try RulesBackend(settings, host, tools)
        case .command: try CommandBackend(settings, host)
        case .openai: try OpenAIBackend(settings, host, tools)
        }
    }
}
