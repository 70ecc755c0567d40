// SPDX-License-Identifier: Apache-2.0
import Drivers
import Graph
import Host
import JSON

extension Status {
    /// Reads what `EventJSON` wrote; what is missing stays empty.
    public init(_ json: JSON) {
        self.init()
        func text(_ key: String) -> String { json[key]?.string ?? "" }
        driver = text("driver")
        notice = text("notice")
        server = text("server")
        client = text("client")
        ownServer = json["own_server"]?.bool ?? false
        rate = json["rate"]?.double ?? 0
        block = json["block"]?.integer ?? 0
        threads = max(1, json["threads"]?.integer ?? 1)
        load = json["load"]?.double ?? 0
        xruns = json["xruns"]?.integer ?? 0
        blocks = UInt64(max(0, json["blocks"]?.integer ?? 0))
        time = json["time"]?.double ?? 0
        state = text("state")
        for (cause, number) in json["dropouts"]?.fields ?? [:] {
            if let cause = Dropout.Cause(rawValue: cause) { dropouts[cause] = number.integer ?? 0 }
        }
        lastChange = json["last_change"].flatMap(ChangeTimes.init)
        scheduling = Scheduling(json["scheduling"] ?? .null)
        unconnected = (json["unconnected"]?.fields ?? [:]).compactMapValues(\.string)
        lostMIDI = UInt64(clamping: json["lost_midi"]?.integer ?? 0)
        degraded = (json["degraded"]?.fields ?? [:]).compactMapValues(\.string)
    }
}

extension ChangeTimes {
    /// Reads what was written as `fields`; nil: it is not that.
    public init?(_ json: JSON) {
        guard let done = json["done_ms"]?.double else { return nil }
        self.init(firstBlock: json["first_block_ms"]?.double.map { $0 * 1e-3 }, done: done * 1e-3)
    }
}

extension Scheduling {
    fileprivate init(_ json: JSON) {
        self.init()
        policy = json["policy"]?.string.flatMap(Policy.init) ?? .unknown
        priority = json["priority"]?.integer ?? 0
        isPermitted = json["permitted"]?.bool ?? false
        lockedMemory = json["locked_bytes"]?.integer ?? 0
        sharedMemory = json["locked_shared_bytes"]?.integer ?? 0
        let limit = json["lockable_bytes"]?.integer ?? 0
        lockableMemory = limit < 0 ? nil : limit
    }
}

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
