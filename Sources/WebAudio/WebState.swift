// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Tells how the streams of a node are: at once when somebody comes or goes, else once a second at most, and only what
/// changed. On the control thread of the node.
struct WebState {
    static let name = "web.state"

    /// What makes it worth telling again.
    struct Summary: Equatable {
        var clients: [String] = []
        /// In ms.
        var latency = 0.0
        /// In ms.
        var target = 0.0
        var counts: [Int] = []

        /// Latency wavers by a millisecond or two.
        func differs(from other: Summary) -> Bool {
            clients != other.clients || counts != other.counts || abs(latency - other.latency) >= 3
                || (latency == 0) != (other.latency == 0) || abs(target - other.target) >= 3
        }
    }

    private let host: NodeHost
    private let clock: WebClock
    private var told: Summary?
    private var time = 0.0
    private var fillTime = 0.0

    init(host: NodeHost, clock: WebClock) {
        self.host = host
        self.clock = clock
    }

    /// Publishes the fields if they are news.
    mutating func tell(_ summary: Summary, fields: (Summary) -> [(String, SettingValue)]) {
        let now = clock.seconds
        if let told {
            guard summary.differs(from: told), summary.clients != told.clients || now - time >= 1 else { return }
        }
        told = summary
        time = now
        host.publish(Self.name, fields(summary))
    }

    /// Publishes the first series, ten times a second, if somebody reads it.
    mutating func publishFill(_ values: [Float], at position: UInt64) {
        let now = clock.seconds
        guard !values.isEmpty, now - fillTime >= 0.1, host.wants(series: 0) else { return }
        fillTime = now
        host.publish([(series: 0, values: values)], at: position)
    }
}

extension Series {
    /// The series of how long streams wait.
    static func webFill(_ what: String, width: Int = 0) -> Series {
        Series("fill", "how late it is by \(what)", unit: "ms", rate: 10, width: width, onRequest: true)
    }
}

extension Key where Value == Int {
    /// The `channels` setting.
    static func webChannels(default count: Int) -> Key {
        .integer("channels", "audio channels", default: count, in: StreamLimits.channels)
    }
}

extension Key where Value == Double? {
    /// The `buffer_ms` setting.
    static func webBuffer(_ doc: String) -> Key { .number("buffer_ms", doc, in: 5...500, unit: "ms") }
}

extension NodeHost {
    /// Loads what streams need, so that no client waits for that; says what does not work without it.
    func webHealth(_ failure: String) {
        guard case .failure(let error) = SoxrFunctions.loaded else { return }
        health(.degraded("\(failure): \(error.message) (\(error.hint))"))
    }
}
