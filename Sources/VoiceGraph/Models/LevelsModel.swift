// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import Observation

/// How loud what passes the meters of a graph is, for views.
@MainActor @Observable public final class LevelsModel {
    /// What a meter tells, some sixty times a second; silence is -200 dBFS.
    public struct Level: Sendable, Equatable {
        /// Effective level of each channel, in dBFS.
        public var rms: [Double]
        /// Largest sample of each channel since the last one, in dBFS.
        public var peak: [Double]
    }

    /// The newest of each node that measures, by its name.
    public private(set) var levels: [String: Level] = [:]
    /// The newest of the loudest channel of each node, in dBFS, oldest first: 100 at most.
    public private(set) var history: [String: [Double]] = [:]
    @ObservationIgnored private var reader: HostReader?

    /// Follows the node `meter`, by default all that measure levels. The graph may be loaded later.
    public init(_ host: any GraphHost, meter: String? = nil) {
        reader = HostReader(host) { published in
            guard case .frame(let frame) = published, meter == nil || frame.node == meter else { return false }
            return !frame["rms"].isEmpty && !frame["peak"].isEmpty
        } take: { [weak self] published in
            if case .frame(let frame) = published { self?.take(frame) }
            return self != nil
        }
    }

    private func take(_ frame: SeriesFrame) {
        func decibels(_ row: String) -> [Double] { frame[row].map { Double(vg_amplitude_db(max($0, 1e-10))) } }
        let level = Level(rms: decibels("rms"), peak: decibels("peak"))
        levels[frame.node] = level
        history[frame.node, default: []].append(level.rms.max() ?? -200)
        if let count = history[frame.node]?.count, count > 100 { history[frame.node]?.removeFirst(count - 100) }
    }
}
