// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph

/// Which connections a graph wants. An input node's `connect` names sources, an output node's sinks; each entry is a
/// glob over full port names (`system:capture_*`), or the name of a client alone, which stands for all its ports.
/// Where no client is called `system`, as under PipeWire, its names mean the physical ports in the server's order, so
/// that one file works with both.
///
/// One entry: what it matches, in the server's order, pairs up with the node's channels. Several entries: the first is
/// for channel 1, the second for channel 2, and so on, beginning anew when there are more entries than channels; each
/// connects its channel to all that it matches.
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
        /// What the physical ports would be called by jackd, by their names; empty where jackd named them.
        var systemNames: [String: String] = [:]
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
            for other in partners(
                of: port, channels: channels[port.node] ?? 1, among: candidates, others.systemNames)
            {
                result.insert(Pair(own: port.name, other: other, isCapture: port.isCapture))
            }
        }
        return result
    }

    private static func partners(
        of port: ExternalPort, channels: Int, among candidates: [String], _ systemNames: [String: String]
    ) -> [String] {
        func matches(_ name: String, _ glob: String) -> Bool {
            Self.matches(name, glob: glob) || systemNames[name].map { Self.matches($0, glob: glob) } ?? false
        }
        if let only = port.connect.first, port.connect.count == 1 {
            let matching = candidates.filter { matches($0, only) }
            return port.number <= matching.count ? [matching[port.number - 1]] : []
        }
        let globs = port.connect.enumerated().filter { $0.offset % channels == port.number - 1 }.map(\.element)
        return candidates.filter { candidate in globs.contains { matches(candidate, $0) } }
    }

    /// Whether a full port name is what `glob` means.
    package static func matches(_ name: String, glob: String) -> Bool {
        if name == glob { return true }
        let pattern = glob.contains(":") ? glob : glob + ":*"
        return fnmatch(pattern, name, 0) == 0
    }
}
