// SPDX-License-Identifier: Apache-2.0

/// A node that cannot be made, of which the file does not say whether the graph may run without it.
struct AbsentNode {
    var name: String
    /// Why it cannot be made, where that is told, and what helps.
    var message: String
    var location: SourceLocation
    var hint: String

    /// Says that the graph runs without it.
    func warn(_ report: inout Report) {
        report.warning("\(message); '\(name)' is left out", at: location, hint: hint)
    }

    /// Says that the graph cannot run, since nothing can take its place at an end of `link`.
    func fail(neededBy link: LinkDescription, isControl: Bool, _ report: inout Report) {
        let way = isControl ? "" : "required = false on the node plays without it"
        report.error(
            "\(message); '\(link.from) -> \(link.to)' needs it", at: location,
            hint: [hint, way].filter { !$0.isEmpty }.joined(separator: "; "))
    }
}
