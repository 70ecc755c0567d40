// SPDX-License-Identifier: Apache-2.0
import API
import Host
import JSON
import NIOCore
import NIOHTTP1

/// The answer to `GET /api/events`, which goes on as long as its client stays: lines of JSON as the control socket tells
/// them, and empty lines, so that both ends notice when the other is gone. The loop's thread only.
final class EventStream: LiveListener {
    private let hub: LiveHub
    private let caller: Caller
    private let context: ChannelHandlerContext
    private var events: EventReader
    /// What nodes measure, the newest of each.
    private let series: Subscription
    /// When it took something last, or would have.
    private var tookAt = NIODeadline.now()

    /// Begins; what the head of the answer says is written already.
    init(_ hub: LiveHub, _ caller: Caller, _ events: EventReader, _ context: ChannelHandlerContext) {
        (self.hub, self.caller, self.events, self.context) = (hub, caller, events, context)
        let filter = events.filter
        series = hub.host.subscribe(.latest, series: filter.series) {
            if case .frame = $0 { filter.wants($0) } else { false }
        }
        hub.add(self)
        send(JSONText.object([("ok", "true")] + events.answer + hub.rights(of: caller)))
        step()
    }

    /// What it takes of levels comes in lines of its own.
    var levels: Set<String>? { nil }

    func wants(_ name: String) -> Bool { events.filter.wants(name) }

    func step() {
        if hasRoom { tookAt = .now() }
        while hasRoom, let line = events.next() { send(line) }
        while hasRoom, let frame = series.pollShared() {
            if let line = events.filter.line(frame) { send(line) }
        }
        context.flush()
    }

    func tellStatus(_ line: ByteBuffer) {
        guard hasRoom, caller.right > .visitor else { return }
        send(line)
        context.flush()
    }

    func ping(_ now: NIODeadline) {
        if now - tookAt > Limits.silence { return context.close(promise: nil) }
        guard hasRoom else { return }
        send("")
        context.flush()
    }

    func end() {
        hub.remove(self)
        series.cancel()
        let bound = context.loopBound
        context.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil)))
            .whenComplete { _ in bound.value.close(promise: nil) }
        // One that reads nothing does not take that either.
        context.eventLoop.scheduleTask(in: .seconds(2)) { bound.value.close(promise: nil) }
    }

    /// The client is gone.
    func leave() {
        series.cancel()
        hub.remove(self)
    }

    private var hasRoom: Bool { context.channel.isActive && context.channel.isWritable }

    private func send(_ line: String) { send(ByteBuffer(string: line)) }

    private func send(_ line: ByteBuffer) {
        var line = line
        line.writeInteger(UInt8(ascii: "\n"))
        context.write(NIOAny(HTTPServerResponsePart.body(.byteBuffer(line))), promise: nil)
    }
}
