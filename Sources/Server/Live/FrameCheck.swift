// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOWebSocket

/// Lets only frames through that a client may send where no extension was agreed on: masked, with a known kind and without
/// reserved bits (RFC 6455, 5.1, 5.2).
final class FrameCheck: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame

    /// A frame that breaks the rules.
    struct Fault: Error {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        let known: [WebSocketOpcode] = [.continuation, .text, .binary, .connectionClose, .ping, .pong]
        guard frame.maskKey != nil, known.contains(frame.opcode), !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
            return context.fireErrorCaught(Fault())
        }
        guard frame.opcode != .connectionClose || Self.isClose(frame.unmaskedData) else {
            return context.fireErrorCaught(Fault())
        }
        context.fireChannelRead(data)
    }

    /// Whether a frame closes as it should: without a word, or with a code that may be sent and a text (5.5.1, 7.4).
    private static func isClose(_ data: ByteBuffer) -> Bool {
        var rest = data
        if rest.readableBytes == 0 { return true }
        guard let code = rest.readInteger(as: UInt16.self) else { return false }
        let isCode = (1000...1003).contains(code) || (1007...1014).contains(code) || (3000...4999).contains(code)
        return isCode && String(validating: rest.readableBytesView, as: UTF8.self) != nil
    }
}
