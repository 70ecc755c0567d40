// SPDX-License-Identifier: Apache-2.0
import API
import NodeKit

/// The call that tells whose sound can be streamed.
enum StreamsCall {
    static let call = HostCall(
        "streams", "nodes that take or give sound over the WebSocket", change: false, right: .visitor,
        results: [Field("streams", VG_LIST, "node, direction, channels, rate, taken and clients of each")]
    ) { host, _ in
        let streams = await host.streams.map { stream in
            SettingValue.table([
                "node": .string(stream.node), "direction": .string(stream.direction == VG_INPUT ? "input" : "output"),
                "channels": .integer(Int64(stream.state.channels)), "rate": .number(stream.state.rate),
                "taken": .bool(stream.state.isFull), "clients": .integer(Int64(stream.state.clients)),
            ])
        }
        return [("streams", .list(streams))]
    }
}
