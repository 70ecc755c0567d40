// SPDX-License-Identifier: Apache-2.0
import API
import NodeKit
import WebAudio

/// The call that tells whose sound can be streamed.
enum StreamsCall {
    static let call = HostCall(
        "streams", "nodes that take or give sound over the WebSocket", change: false, right: .visitor,
        results: [Field("streams", VG_LIST, "node, direction, channels, rate, taken and clients of each")]
    ) { host, _ in
        let graph = await host.description?.name
        let streams = WebStreams.shared.list().filter { $0.graph == graph }.map { stream in
            SettingValue.table([
                "node": .string(stream.node), "direction": .string(stream.direction.rawValue),
                "channels": .integer(Int64(stream.channels)), "rate": .number(stream.rate),
                "taken": .bool(stream.direction == .input && !stream.clients.isEmpty),
                "clients": .integer(Int64(stream.clients.count)),
            ])
        }
        return [("streams", .list(streams))]
    }
}
