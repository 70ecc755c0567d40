// SPDX-License-Identifier: Apache-2.0
import GraphFile
import System

/// A node that cannot be made, of which the file does not say whether the graph may run without it.
struct AbsentNode {
    var name: String
    /// Why it cannot be made, where that is told, and what helps.
    var fault: Fault
    var location: SourceLocation

    /// Says that the graph runs without it.
    func warn(_ report: inout Report) {
        report.warning("\(fault.message); '\(name)' is left out", at: location, hint: fault.hint)
    }

    /// Says that the graph cannot run, since nothing can take its place at an end of `link`.
    func fail(neededBy link: LinkDescription, isControl: Bool, _ report: inout Report) {
        let way = isControl ? "" : "required = false on the node plays without it"
        report.error(
            "\(fault.message); '\(link.from) -> \(link.to)' needs it", at: location,
            hint: [fault.hint, way].filter { !$0.isEmpty }.joined(separator: "; "))
    }
}
