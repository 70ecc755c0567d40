// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// More channels than this are taken for a slip of the pen.
let channelRange = 1...64

extension Key where Value == Int {
    /// The `channels` setting of a node.
    static func channels(_ doc: String = "audio channels in and out", default count: Int = 1) -> Key {
        .integer("channels", doc, default: count, in: channelRange)
    }
}

extension Layout {
    /// As many audio outputs as inputs; `output` says what comes out.
    static func through(channels: Int, output: String? = nil, parameters: [Parameter] = []) -> Layout {
        Layout(
            ports: Port.audio(VG_INPUT, channels: channels)
                + Port.audio(VG_OUTPUT, channels: channels, doc: output),
            parameters: parameters)
    }

    /// For nodes that look at their input and pass it on.
    static func unchanged(channels: Int) -> Layout { through(channels: channels, output: "the input, unchanged") }
}
