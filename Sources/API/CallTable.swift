// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// The calls that a transport offers: those of every host, and more where there is more to ask, as of an archive.
public struct CallTable: Sendable {
    /// All of them, in an order for people.
    public let calls: [HostCall]
    private let places: [String: Int]

    /// Those of every host, and `more`.
    public init(_ more: [HostCall] = []) {
        calls = HostCall.all + more
        places = Dictionary(
            calls.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

    /// A call by name; what there is not is told with what there is.
    public func named(_ name: String) throws(Fault) -> HostCall {
        if let place = places[name] { return calls[place] }
        var suggester = Suggester()
        let names = calls.map(\.name) + [HostCall.events.name]
        throw Fault(
            "there is no call '\(name.prefix(60))'",
            hint: suggester.hint(name, among: names, otherwise: "calls: \(names.sorted().joined(separator: ", "))"))
    }
}
