// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// What people call parameters, in files and in calls alike.
extension NodeInstance {
    /// The parameter that is called so: by its key, also behind "params." as in a file, or else its label in any
    /// capitals. Throws where there is none, or where several have the label. [any]
    public func parameter(called word: String) throws(NodeError) -> Int {
        if let index = parameterIndex(word) { return index }
        if word.hasPrefix("params."), let index = parameterIndex(String(word.dropFirst("params.".count))) {
            return index
        }
        let lowered = word.lowercased()
        let labelled = parameters.indices.filter { !word.isEmpty && parameters[$0].label.lowercased() == lowered }
        if labelled.count == 1 { return labelled[0] }
        guard labelled.isEmpty else {
            let keys = labelled.map { parameters[$0].key }.joined(separator: ", ")
            throw NodeError(
                "node '\(name)' has \(labelled.count) parameters called '\(shortened(word))'",
                hint: "use a key: \(keys)")
        }
        throw noParameter(word)
    }

    /// Why a word is no parameter's name.
    private func noParameter(_ word: String) -> NodeError {
        let live = declarations.settings.filter(\.isLive).map(\.key)
        if ["bypass", "mute"].contains(word) {
            return NodeError("'\(word)' is no parameter of node '\(name)'", hint: "the call '\(word)' switches it")
        }
        if NodeDescription.commonKeys.contains(word) || declarations.settings.contains(where: { $0.key == word }) {
            let rest = live.isEmpty ? "" : "; live are \(live.joined(separator: ", "))"
            return NodeError(
                "'\(word)' of node '\(name)' is fixed while it plays",
                hint: "change it in the file and reload\(rest)")
        }
        var suggester = Suggester()
        let keys = parameters.map(\.key) + live
        let all = keys.isEmpty ? "it has none" : "it has: \(keys.joined(separator: ", "))"
        return NodeError(
            "node '\(name)' has no parameter '\(shortened(word))'",
            hint: suggester.hint(
                word, among: keys + declarations.settings.map(\.key) + parameters.map(\.label).filter { !$0.isEmpty },
                otherwise: all))
    }
}
