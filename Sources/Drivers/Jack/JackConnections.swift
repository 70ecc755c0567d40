// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph

/// Which connections a graph wants. An input node's `connect` names sources, an output node's sinks; each entry is a
/// glob over full port names (`system:capture_*`), or the name of a client alone, which stands for all its ports. A name
/// that is there as it stands is meant before what it would mean as a glob; aliases of a port are names of it.
/// Where no client is called `system`, as under PipeWire, its names mean the physical ports in the server's order, so
/// that one file works with both.
///
/// One entry: what it matches, in the server's order, pairs up with the node's channels; the only channel of an output goes
/// to all of it, as a voice goes to both loudspeakers. Several entries: the first is for channel 1, the second for channel 2,
/// and so on, beginning anew when there are more entries than channels; each connects its channel to all that it matches.
package enum JackConnections {
    /// Two ports to join.
    struct Pair: Hashable {
        /// Our port, without the client's name.
        var own: String
        /// The full name of the other.
        var other: String
        /// Whether audio flows from the other to ours.
        var isCapture: Bool
    }

    /// Other clients' ports, full names in the server's order.
    struct Others {
        /// What else ports are called, by their names; by jackd's names too where PipeWire named the physical ones.
        var aliases: [String: [String]] = [:]
        var audioSources: [String] = []
        var audioSinks: [String] = []
        var midiSources: [String] = []
        var midiSinks: [String] = []

        func candidates(for port: ExternalPort) -> [String] {
            switch (port.isMIDI, port.isCapture) {
            case (false, true): audioSources
            case (false, false): audioSinks
            case (true, true): midiSources
            case (true, false): midiSinks
            }
        }
    }

    /// All connections that `ports` want and `others` can give.
    static func pairs(_ ports: [ExternalPort], _ others: Others) -> Set<Pair> {
        var channels: [String: Int] = [:]
        for port in ports { channels[port.node] = max(channels[port.node] ?? 0, port.number) }
        var result: Set<Pair> = []
        for port in ports where !port.connect.isEmpty {
            let candidates = others.candidates(for: port)
            for other in partners(of: port, channels: channels[port.node] ?? 1, among: candidates, others.aliases) {
                result.insert(Pair(own: port.name, other: other, isCapture: port.isCapture))
            }
        }
        return result
    }

    /// The entries of a port's `connect` that mean nothing which is there.
    static func unmatched(_ port: ExternalPort, _ others: Others) -> [String] {
        port.connect.filter { chosen(by: $0, among: others.candidates(for: port), others.aliases).isEmpty }
    }

    private static func partners(
        of port: ExternalPort, channels: Int, among candidates: [String], _ aliases: [String: [String]]
    ) -> [String] {
        if let only = port.connect.first, port.connect.count == 1 {
            let matching = chosen(by: only, among: candidates, aliases)
            if channels == 1, !port.isCapture, !port.isMIDI { return matching }
            return port.number <= matching.count ? [matching[port.number - 1]] : []
        }
        let globs = port.connect.enumerated().filter { $0.offset % channels == port.number - 1 }.map(\.element)
        let meant = Set(globs.flatMap { chosen(by: $0, among: candidates, aliases) })
        return candidates.filter(meant.contains)
    }

    /// The ports that an entry means: by the first of its readings that means any.
    private static func chosen(
        by entry: String, among candidates: [String], _ aliases: [String: [String]]
    ) -> [String] {
        for reading in Reading.allCases {
            let found = candidates.filter { name in
                ([name] + (aliases[name] ?? [])).contains { reading.matches($0, entry) }
            }
            if !found.isEmpty { return found }
        }
        return []
    }

    /// How an entry can be read, most literally first.
    private enum Reading: CaseIterable {
        /// The full name of a port, or the name of a client.
        case literal
        /// The name of a client, and a glob for its ports.
        case client
        /// A glob for both.
        case glob

        func matches(_ name: String, _ entry: String) -> Bool {
            switch self {
            case .literal: return name == entry || !entry.contains(":") && name.hasPrefix(entry + ":")
            case .client:
                // The name of a client has no colon.
                let colon = entry.firstIndex(of: ":") ?? entry.endIndex
                let head = entry[..<colon] + ":"
                return colon < entry.endIndex && name.hasPrefix(head)
                    && fnmatch(String(entry.dropFirst(head.count)), String(name.dropFirst(head.count)), 0) == 0
            case .glob: return fnmatch(entry.contains(":") ? entry : entry + ":*", name, 0) == 0
            }
        }
    }

    /// Whether a full port name is what an entry means, by one of its readings.
    package static func matches(_ name: String, glob: String) -> Bool {
        Reading.allCases.contains { $0.matches(name, glob) }
    }
}
