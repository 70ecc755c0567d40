// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import JSON
import System

/// What came of asking a server.
enum ServerAnswer: Sendable, Equatable {
    case answered(ServerLook)
    /// It said no, in its words.
    case refused(String)
    /// It said nothing in time.
    case silent

    /// Asks the JACK server of this name, or PipeWire, from a process that is ended where that takes too long: when neither
    /// it nor the server's process has done anything for so many seconds, and after `most` in any case. [control]
    package static func ask(
        server: String?, process: pid_t? = nil, pipewire: Bool = false, within seconds: Double, most: Double
    ) -> ServerAnswer {
        let command =
            [ownExecutable(), "doctor-probe"] + (server.map { ["--server", $0] } ?? [])
            + (pipewire ? ["--pipewire"] : [])
        var before = 0.0
        let output = outputOf(command, within: seconds, most: most) { own in
            // At the first time the one that asks has begun at least.
            let now = activity(of: own) + (process.map(activity) ?? 0)
            defer { before = now }
            return now > before
        }
        guard let output else { return .silent }
        let last = output.text.split(separator: "\n").last.map(String.init) ?? ""
        guard output.code == 0, let json = try? JSON(Array(last.utf8)), let look = ServerLook(json) else {
            return .refused(last.replacing("voicegraph: ", with: ""))
        }
        return .answered(look)
    }
}

extension ServerLook {
    /// As one process tells it to the other.
    package var json: JSON {
        let ports = ports.map { port in
            JSON.object([
                "name": .string(port.name), "alias": .string(port.alias), "input": .bool(port.isInput),
                "midi": .bool(port.isMIDI), "physical": .bool(port.isPhysical),
                "connections": .list(port.connections.map(JSON.string)),
            ])
        }
        return .object([
            "rate": .number(rate), "block": .integer(Int64(block)), "realtime": .bool(isRealtime),
            "ports": .list(ports),
        ])
    }

    /// Reads that; nil: it is something else.
    package init?(_ json: JSON) {
        guard let rate = json["rate"]?.double, let block = json["block"]?.integer,
            let isRealtime = json["realtime"]?.bool
        else { return nil }
        self.init(
            rate: rate, block: block, isRealtime: isRealtime,
            ports: (json["ports"]?.items ?? []).map { port in
                Port(
                    name: port["name"]?.string ?? "", alias: port["alias"]?.string ?? "",
                    isInput: port["input"]?.bool ?? false, isMIDI: port["midi"]?.bool ?? false,
                    isPhysical: port["physical"]?.bool ?? false,
                    connections: port["connections"]?.items.compactMap(\.string) ?? [])
            })
    }

    /// "48000 Hz in blocks of 256 (5.3 ms)"
    package var format: String {
        let tenths = rate > 0 ? Int((Double(block) / rate * 10_000).rounded()) : 0
        return "\(Int(rate)) Hz in blocks of \(block) (\(tenths / 10).\(tenths % 10) ms)"
    }
}
