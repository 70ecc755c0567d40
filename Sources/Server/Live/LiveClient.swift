// SPDX-License-Identifier: Apache-2.0
import API
import GraphFile
import Host
import JSON
import NIOCore
import NIOWebSocket
import NodeKit

/// One WebSocket: calls as the control socket takes them, events with their numbers, and frames of levels and sound. The
/// loop's thread only.
final class LiveClient: ChannelInboundHandler, LiveListener {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let hub: LiveHub
    private let caller: Caller
    private var context: ChannelHandlerContext?
    /// What it is told of what happens; nil: nothing.
    private var events: EventReader?
    /// What it asks for of the levels, and has seen.
    private var reader = LevelFrames.Reader()
    /// Whether levels are on their way to it: newer ones wait.
    private var isBusy = false
    /// The edition of the names that it was told.
    private var namesTold = 0
    private var calls = CallQueue()
    /// What looks for answers, by number.
    private var looks: [Int: Task<Void, Never>] = [:]
    private var looksBegun = 0
    private var texts = Rate(burst: Limits.textBurst, perSecond: Limits.textRate)
    private var sounds = Rate(burst: Limits.soundBurst, perSecond: Limits.soundRate)
    private var heardAt = NIODeadline.now()
    private var isClosing = false
    /// Whether it is not read, since it sent too much.
    private var isPaused = false
    private var audio: ClientAudio?
    /// By which others are told of it.
    private(set) var name: String

    init(_ hub: LiveHub, _ caller: Caller, number: Int) {
        (self.hub, self.caller) = (hub, caller)
        name = "client \(number)"
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        audio = ClientAudio(self, context.eventLoop)
        if let address = context.remoteAddress?.ipAddress { name += " at \(address)" }
        hub.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    private func leave() {
        guard context != nil else { return }
        context = nil
        // Nobody reads what they see.
        for look in looks.values { look.cancel() }
        audio?.close()
        audio = nil
        hub.remove(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        heardAt = .now()
        let bytes = frame.unmaskedData
        switch frame.opcode {
        case .text:
            guard texts.take() else { return pause() }
            guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else {
                return close(.dataInconsistentWithMessage)
            }
            take(Array(text.utf8))
        case .binary: if sounds.take() { audio?.take(bytes) }
        case .ping: if hasRoom { send(WebSocketFrame(fin: true, opcode: .pong, data: bytes)) }
        case .connectionClose: close(.normalClosure)
        default: break
        }
    }

    /// Who reads nothing is not read, either, so that no answers pile up; after a while it passes for gone.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        setReading()
        if context.channel.isWritable { work() }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error as? NIOWebSocketFrameAggregator.Error {
        case .accumulatedFrameSizeIsTooLarge, .tooManyFragments: close(.messageTooLarge)
        default: close(.protocolError)
        }
    }

    // MARK: what it is sent

    /// A line of JSON. [loop]
    func send(_ line: String) { send(ByteBuffer(string: line)) }

    /// The same. [loop]
    func send(_ line: ByteBuffer) { send(WebSocketFrame(fin: true, opcode: .text, data: line)) }

    /// Bytes; `done` once they have left, or never will. [loop]
    func send(bytes: ByteBuffer, done: @escaping @Sendable () -> Void) {
        guard let context, !isClosing else { return done() }
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in done() }
        context.writeAndFlush(
            wrapOutboundOut(WebSocketFrame(fin: true, opcode: .binary, data: bytes)), promise: written)
    }

    private func send(_ frame: WebSocketFrame) {
        guard !isClosing else { return }
        context?.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }

    /// Whether it takes more now.
    var hasRoom: Bool { context?.channel.isWritable ?? false }

    var levels: Set<String>? { reader.wanted }

    func wants(_ name: String) -> Bool { events?.filter.wants(name) ?? false }

    func tellStatus(_ line: ByteBuffer) { if hasRoom, caller.right > .visitor { send(line) } }

    /// Events that have come, as far as it takes them, and the newest levels. [loop]
    func step() {
        while hasRoom, let line = events?.next() { send(line) }
        guard wants("series"), let frames = hub.frames else { return }
        if frames.edition != namesTold, hasRoom {
            namesTold = frames.edition
            send(frames.namesLine)
        }
        guard !isBusy, hasRoom, namesTold == frames.edition, let message = frames.message(for: reader) else {
            return
        }
        reader.seen = frames.round
        isBusy = true
        nonisolated(unsafe) let client = self  // touched on the loop only
        send(bytes: message) { client.isBusy = false }
    }

    /// Asks whether it is there; one that has not been heard of for long is not. [loop]
    func ping(_ now: NIODeadline) {
        if now - heardAt > Limits.silence { context?.close(promise: nil) }
        send(WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer()))
    }

    func end() { close(.goingAway) }

    /// Ends it with a reason. [loop]
    private func close(_ code: WebSocketErrorCode) {
        guard let context, !isClosing else { return }
        isClosing = true
        var data = ByteBuffer()
        data.write(webSocketErrorCode: code)
        let bound = context.loopBound
        context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: .connectionClose, data: data)))
            .whenComplete { _ in bound.value.close(promise: nil) }
        // One that reads nothing does not take that either.
        context.eventLoop.scheduleTask(in: .seconds(2)) { bound.value.close(promise: nil) }
    }

    // MARK: what it asks

    private func take(_ text: [UInt8]) {
        var request = Request()
        do throws(Fault) {
            try request.read(text)
            switch request.call {
            case HostCall.events.name: try subscribe(request)
            case "ask": try ask(request)
            case "audio", "audio.close":
                try audio?.take(request, of: hub.host, isReadOnly: hub.access.isReadOnly)
            default: try begin(request)
            }
        } catch {
            send(error.answer(request.id))
        }
    }

    /// It sends too much: it is told so, and not read for a moment. What has come already is passed over.
    private func pause() {
        guard !isPaused, let context else { return }
        isPaused = true
        if hasRoom { send(Fault("too many messages", hint: "send fewer of them").answer(.null)) }
        setReading()
        nonisolated(unsafe) let client = self  // touched on the loop only
        context.eventLoop.scheduleTask(in: Limits.pause) {
            client.isPaused = false
            client.setReading()
        }
    }

    private func setReading() {
        _ = context?.channel.setOption(.autoRead, value: hasRoom && !isPaused)
    }

    private func begin(_ request: Request) throws(Fault) {
        let call = try hub.calls.named(request.call)
        guard caller.right >= call.right else { throw Fault(missing: call.right, caller) }
        let isChange = call.isChange
        guard !isChange || !hub.access.isReadOnly else { throw readOnlyError }
        guard calls.add(request, isChange: isChange) else {
            throw Fault("too many calls wait", hint: "wait for the answers")
        }
        work()
    }

    private func work() {
        guard let loop = context?.eventLoop else { return }
        while hasRoom, let (request, isChange) = calls.next() {
            nonisolated(unsafe) let client = self  // touched on the loop only
            looksBegun += isChange ? 0 : 1
            let task = Task { [hub, caller, number = looksBegun] in
                let answer = await request.answer(hub.host, hub.calls, by: caller) { _ in [] }
                loop.execute {
                    if !isChange { client.looks[number] = nil }
                    client.calls.done(isChange: isChange)
                    client.send(answer)
                    client.work()
                }
            }
            if !isChange { looks[looksBegun] = task }
        }
    }

    private func subscribe(_ request: Request) throws(Fault) {
        let events = try EventReader(hub.feed, for: caller, try request.arguments())
        self.events = events
        namesTold = 0
        reader = LevelFrames.Reader(wanted: reader.wanted.union(events.filter.series), seen: 0)
        hub.wishesChanged()
        send(JSONText.object([("id", request.id.text), ("ok", "true")] + events.answer + hub.rights(of: caller)))
        step()
    }

    private func ask(_ request: Request) throws(Fault) {
        let given = try request.arguments()
        try checkValues(given, against: [HostCall.events.arguments[1]], of: "'ask'", noun: "argument")
        let series = Settings(given).strings("series")
        guard series.count <= 1000 else { throw Fault("too many series", hint: "ask for those that are shown") }
        reader = LevelFrames.Reader(wanted: Set(series), seen: 0)
        hub.wishesChanged()
        send(JSONText.object([("id", request.id.text), ("ok", "true")]))
    }
}
