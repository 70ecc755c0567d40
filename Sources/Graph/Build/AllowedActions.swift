// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// What nodes may call of others: a name that nothing has is a mistake in the file, which would be found only when
/// somebody needs the action.
public enum AllowedActions {
    /// The setting that names them, as "NODE.ACTION".
    public static let setting = "allow"

    /// How it is written with these names. [any]
    public static func written(_ names: some Sequence<String>) -> String {
        "\(setting) = [\(names.map { "\"\($0)\"" }.joined(separator: ", "))]"
    }

    /// Warns of names of nodes that are not there, and of actions that their types do not have. [control]
    static func check(_ description: GraphDescription, _ made: [MadeNode], _ report: inout Report) {
        let named = zip(description.nodes, made).map { ($0.0.name, $0) }
        let nodes = Dictionary(named, uniquingKeysWith: { first, _ in first })
        for (node, made) in zip(description.nodes, made) {
            guard case .instance = made, let entry = node.entries[setting] else { continue }
            for (index, name) in Settings([setting: entry.value]).strings(setting).enumerated() {
                let place = entry.inner["\(index)"]?.valueLocation ?? entry.valueLocation
                let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
                guard parts.count == 2 else { continue }
                guard let (target, instance) = nodes[parts[0]] else {
                    if description.isPartial { continue }
                    report.warning(
                        "'\(shortened(name))' is allowed to '\(node.name)', but there is no node '\(shortened(parts[0]))'",
                        at: place,
                        hint: report.suggester.hint(
                            parts[0], among: nodes.keys, otherwise: "it can be done when a node of this name is there"))
                    continue
                }
                // Of what is left out nothing is known.
                guard case .instance(let instance) = instance else { continue }
                let actions = instance.declarations.actions.map(\.name)
                if actions.contains(parts[1]) { continue }
                let otherwise = actions.isEmpty ? "it has none" : "it has \(actions.joined(separator: ", "))"
                report.warning(
                    "'\(shortened(name))' is allowed to '\(node.name)', but '\(target.name)' of type '\(target.type)' has no "
                        + "action '\(shortened(parts[1]))'", at: place,
                    hint: report.suggester.hint(parts[1], among: actions, otherwise: otherwise))
            }
        }
    }
}
