// SPDX-License-Identifier: Apache-2.0
import Graph
import JSON

extension NodeTiming {
    /// Reads one of the answer to `timings`.
    public init(node: String, _ json: JSON) {
        func known(_ key: String) -> Double? { json[key]?.double.map { $0 * 1e-6 } }
        func seconds(_ key: String) -> Double { known(key) ?? 0 }
        self.init(
            node: node, count: UInt64(max(0, json["blocks"]?.integer ?? 0)), minimum: seconds("minimum_us"),
            average: seconds("average_us"), p99: seconds("p99_us"), maximum: seconds("maximum_us"),
            recent: known("recent_average_us"), recentMaximum: known("recent_maximum_us"))
    }
}
