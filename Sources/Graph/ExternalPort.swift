// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A port that the driver provides: one audio or MIDI port of an `input`, `output`, `midi-input` or `midi-output` node.
public struct ExternalPort: Sendable, Hashable {
    /// The node's name.
    public var node: String
    /// Counted from 1 within the node.
    public var number: Int
    /// Whether it carries MIDI; otherwise audio.
    public var isMIDI: Bool
    /// Whether the driver fills it; otherwise the driver takes it.
    public var isCapture: Bool
    /// Globs of the ports it wants to be connected to.
    public var connect: [String]

    /// Describes a port.
    public init(node: String, number: Int, isMIDI: Bool = false, isCapture: Bool, connect: [String] = []) {
        self.node = node
        self.number = number
        self.isMIDI = isMIDI
        self.isCapture = isCapture
        self.connect = connect
    }

    /// The name that other programs see after the client's name and a colon.
    public var name: String { "\(node)_\(number)" }
}
