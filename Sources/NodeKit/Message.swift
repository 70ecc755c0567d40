// SPDX-License-Identifier: Apache-2.0
import CNode

/// What travels over message links.
public struct Message: Sendable, Equatable {
    /// What a message holds.
    public enum Content: Sendable, Equatable {
        case text(String)
        case number(Double)
        case bytes([UInt8])
    }

    /// What it holds.
    public var content: Content
    /// What belongs together: an utterance, a reply; 0: this message alone.
    public var item: UInt64
    /// The frame of the graph that it is about; 0: none.
    public var position: UInt64
    /// Whether more of its item follows, or a better version of it.
    public var isPartial: Bool
    /// Whether it overtakes what waits for the receiver and is not urgent.
    public var isUrgent: Bool

    /// Makes a message.
    public init(
        _ content: Content, item: UInt64 = 0, position: UInt64 = 0, partial isPartial: Bool = false,
        urgent isUrgent: Bool = false
    ) {
        self.content = content
        self.item = item
        self.position = position
        self.isPartial = isPartial
        self.isUrgent = isUrgent
    }

    /// A text that is whole.
    public static func text(_ text: String) -> Message { Message(.text(text)) }
    /// A number.
    public static func number(_ number: Double) -> Message { Message(.number(number)) }
    /// Bytes.
    public static func bytes(_ bytes: [UInt8]) -> Message { Message(.bytes(bytes)) }

    /// "text", "number" or "bytes".
    public var kind: String {
        switch content {
        case .text: "text"
        case .number: "number"
        case .bytes: "bytes"
        }
    }

    /// Calls `body` with the same message as a C struct, valid during the call.
    public func withCMessage<R>(_ body: (UnsafePointer<vg_message>) -> R) -> R {
        var message = vg_message()
        message.size = UInt32(MemoryLayout<vg_message>.size)
        message.item = item
        message.position = position
        message.flags = UInt32((isPartial ? VG_MESSAGE_PARTIAL : 0) | (isUrgent ? VG_MESSAGE_URGENT : 0))
        switch content {
        case .text(let text):
            return text.withCString {
                message.kind = VG_MESSAGE_TEXT
                message.text = $0
                message.length = text.utf8.count
                return withUnsafePointer(to: message, body)
            }
        case .number(let number):
            message.kind = VG_MESSAGE_NUMBER
            message.number = number
            return withUnsafePointer(to: message, body)
        case .bytes(let bytes):
            return bytes.withUnsafeBufferPointer { buffer in
                message.kind = VG_MESSAGE_BYTES
                message.length = buffer.count
                return buffer.withMemoryRebound(to: CChar.self) {
                    message.text = $0.baseAddress
                    return withUnsafePointer(to: message, body)
                }
            }
        }
    }

    /// Copies a C message.
    public init(_ message: vg_message) {
        let bytes = UnsafeRawBufferPointer(start: message.text, count: message.text == nil ? 0 : message.length)
        switch message.kind {
        case VG_MESSAGE_TEXT: content = .text(String(decoding: bytes, as: UTF8.self))
        case VG_MESSAGE_NUMBER: content = .number(message.number)
        default: content = .bytes(Array(bytes))
        }
        item = message.item
        position = message.position
        isPartial = message.flags & UInt32(VG_MESSAGE_PARTIAL) != 0
        isUrgent = message.flags & UInt32(VG_MESSAGE_URGENT) != 0
    }
}
