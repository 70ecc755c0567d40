// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// More channels than this are taken for a slip of the pen.
let channelRange = 1...64

extension Setting {
    /// The `channels` setting of a node.
    static func channels(_ doc: String = "audio channels in and out", default count: Int = 1) -> Setting {
        Setting(
            "channels", VG_SET_INTEGER, doc, default: "\(count)",
            range: Double(channelRange.lowerBound)...Double(channelRange.upperBound))
    }
}

extension Settings {
    /// The `channels` setting. Checked again because not every host reads files.
    func channels(default count: Int = 1) throws(NodeError) -> Int {
        try whole("channels", default: count, in: channelRange)
    }

    /// A whole number within `range`.
    func whole(_ key: String, default number: Int, in range: ClosedRange<Int>) throws(NodeError) -> Int {
        let value = integer(key) ?? number
        guard range.contains(value) else {
            throw NodeError(
                "\(key) is \(value)", hint: "use \(range.lowerBound) to \(range.upperBound)", key: key)
        }
        return value
    }

    /// A finite number within `range`.
    func finite(_ key: String, default number: Double, in range: ClosedRange<Double>) throws(NodeError) -> Double {
        let value = self.number(key) ?? number
        guard range.contains(value) else {  // not for NaN either
            throw NodeError(
                "\(key) is \(value)", hint: "use \(range.lowerBound) to \(range.upperBound)", key: key)
        }
        return value
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
