// SPDX-License-Identifier: Apache-2.0
import API
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import NodeKit
import System

/// One connection as long as it speaks HTTP: takes a request, has it answered, and takes the next. The loop's thread only.
final class HTTPHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// What is under way.
    private enum Stage {
        case head
        case body(HTTPRequestHead, Target, Access.Origin)
        /// It was answered before its end, which is not read.
        case refused
        case answering
    }

    private let router: Router
    private let hub: LiveHub
    private let connections: Connections
    private let connection: Connection
    /// Lets the next request ask for a WebSocket, too.
    private let offerUpgrade: (ChannelHandlerContext) -> Void
    private var stage = Stage.head
    private var body = ByteBuffer()
    private var deadline: Scheduled<Void>?
    /// What looks for an answer.
    private var look: Task<Response, Never>?
    /// The answer that goes on.
    private var stream: EventStream?

    init(
        _ router: Router, _ hub: LiveHub, _ connections: Connections, _ connection: Connection,
        offerUpgrade: @escaping (ChannelHandlerContext) -> Void
    ) {
        (self.router, self.hub, self.connections, self.connection) = (router, hub, connections, connection)
        self.offerUpgrade = offerUpgrade
    }

    func handlerAdded(context: ChannelHandlerContext) { wait(Limits.head, context) }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        // Nobody reads what it sees.
        look?.cancel()
        stream?.leave()
        stream = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), stage) {
        case (.head(let head), .head): begin(head, context)
        case (.body(var bytes), .body(let head, _, let origin)):
            guard body.readableBytes + bytes.readableBytes <= Limits.body else {
                stage = .refused
                let error = Fault("the body is longer than 1 MB", hint: "send less")
                return send(Response(.payloadTooLarge, error).last, for: head, origin, context)
            }
            body.writeBuffer(&bytes)
        case (.end, .body(let head, let target, let origin)): answer(head, target, origin, context)
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Who may not have a WebSocket is answered like anybody else.
        if error is NIOWebSocketUpgradeError || error is HTTPServerUpgradeErrors { return }
        context.close(promise: nil)
    }

    /// Looks at a head as soon as it is there: what is refused is not read.
    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let head = head
        body.clear()
        wait(Limits.rest, context)
        do throws(Access.Refusal) {
            try Self.checkForm(head)
            let origin = try router.access.check(head.headers)
            guard let target = Target(head.uri) else {
                throw Access.Refusal(.badRequest, "this is no path", hint: "see /api/openapi.json")
            }
            let caller = router.access.caller(head.headers)
            connection.begin(caller?.right)
            if caller == nil,
                head.headers.contains(name: "transfer-encoding")
                    || ![nil, "0"].contains(head.headers.first(name: "content-length"))
            {
                // A stranger's body takes no memory.
                throw Access.unknown
            }
            stage = .body(head, target, origin)
        } catch {
            stage = .refused
            send(Response(error).last, for: head, .own, context)
        }
    }

    /// What could be read in two ways is read in none (RFC 9112, 6.3).
    private static func checkForm(_ head: HTTPRequestHead) throws(Access.Refusal) {
        func refuse(_ status: HTTPResponseStatus, _ message: String) -> Access.Refusal {
            Access.Refusal(status, message, hint: "send a request as browsers do")
        }
        guard head.version == .http1_1 || head.version == .http1_0 else {
            throw refuse(.httpVersionNotSupported, "this is not HTTP/1.1")
        }
        guard head.uri.utf8.count <= Limits.target else { throw refuse(.uriTooLong, "the target is too long") }
        let lengths = head.headers["content-length"]
        let codings = head.headers["transfer-encoding"]
        guard lengths.count <= 1, codings.count <= 1, lengths.isEmpty || codings.isEmpty else {
            throw refuse(.badRequest, "the length of the body is told twice")
        }
        if let coding = codings.first, coding.lowercased() != "chunked" {
            throw refuse(.notImplemented, "the only transfer coding here is chunked")
        }
        if let length = lengths.first {
            guard let bytes = Int(length), bytes >= 0 else { throw refuse(.badRequest, "the length is no number") }
            guard bytes <= Limits.body else { throw refuse(.payloadTooLarge, "the body is longer than 1 MB") }
        }
    }

    private func answer(
        _ head: HTTPRequestHead, _ target: Target, _ origin: Access.Origin, _ context: ChannelHandlerContext
    ) {
        stage = .answering
        deadline?.cancel()
        let request = Router.HTTPRequest(
            head: head, target: target, origin: origin, caller: router.access.caller(head.headers),
            party: connection.party, body: Array(body.readableBytesView))
        switch router.route(request) {
        case .now(let response): send(response, for: head, origin, context)
        case .events(let caller, let arguments): tell(caller, arguments, head, origin, context)
        case .later(let work, let isLook):
            if isLook { look = work }
            let (bound, loop) = (context.loopBound, context.eventLoop)
            nonisolated(unsafe) let handler = self  // touched on the loop only
            Task {
                let response = await work.value
                loop.execute {
                    handler.look = nil
                    guard bound.value.channel.isActive else { return }
                    handler.send(response, for: head, origin, bound.value)
                }
            }
        }
    }

    /// Begins an answer that goes on, if there is a place for it.
    private func tell(
        _ caller: Caller, _ arguments: [String: SettingValue], _ head: HTTPRequestHead, _ origin: Access.Origin,
        _ context: ChannelHandlerContext
    ) {
        guard connections.hasSocketRoom(for: connection.party) else {
            return send(Router.tooMany("too many are told what happens", "try later"), for: head, origin, context)
        }
        let events: EventReader
        do throws(Fault) { events = try EventReader(hub.feed, for: caller, arguments) } catch {
            return send(Response(.badRequest, error), for: head, origin, context)
        }
        connection.isSocket = true
        var response = Response(.ok, "application/jsonl", "")
        response.headers.add(name: "Cache-Control", value: "no-store")
        // A proxy shall not wait for its end.
        response.headers.add(name: "X-Accel-Buffering", value: "no")
        var answer = response.head(head.version, origin: origin, keepAlive: false)
        answer.headers.remove(name: "Content-Length")
        context.write(wrapOutboundOut(.head(answer)), promise: nil)
        stream = EventStream(hub, caller, events, context)
    }

    // MARK: the answer

    private func send(
        _ response: Response, for request: HTTPRequestHead, _ origin: Access.Origin, _ context: ChannelHandlerContext
    ) {
        // Who offers another protocol, which is not taken, waits for it on this connection, and so does what took the offer.
        let goesOn = request.isKeepAlive && !response.isLast && !request.headers.contains(name: "upgrade")
        let head = response.head(request.version, origin: origin, keepAlive: goesOn)
        // Whoever does not read an answer does not keep the connection.
        wait(Limits.rest, context)
        // The end comes after all has left: only then the next request is looked at, which may wait already.
        let left = context.eventLoop.makePromise(of: Void.self)
        let bound = context.loopBound
        nonisolated(unsafe) let handler = self  // touched on the loop only
        switch response.body {
        case .file(let file) where request.method != .HEAD:
            left.futureResult.whenSuccess { handler.send(file, 0, goesOn, bound.value) }
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: left)
        case .bytes(let bytes) where request.method != .HEAD && bytes.readableBytes > 0:
            left.futureResult.whenSuccess { handler.finish(goesOn, bound.value) }
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: left)
        default:
            left.futureResult.whenSuccess { handler.finish(goesOn, bound.value) }
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: left)
        }
    }

    /// One piece of a file after another, the next when the last was taken.
    private func send(_ file: TakeFile, _ place: Int, _ goesOn: Bool, _ context: ChannelHandlerContext) {
        guard place < file.length else { return finish(goesOn, context) }
        let bound = context.loopBound
        nonisolated(unsafe) let handler = self  // touched on the loop only
        NIOThreadPool.singleton.runIfActive(eventLoop: context.eventLoop) { file.read(place, 128 << 10) }
            .whenComplete { result in
                let context = bound.value
                guard case .success(let bytes) = result, bytes.readableBytes > 0, context.channel.isActive else {
                    return context.close(promise: nil)
                }
                let written = context.eventLoop.makePromise(of: Void.self)
                written.futureResult.whenSuccess {
                    handler.wait(Limits.rest, bound.value)
                    handler.send(file, place + bytes.readableBytes, goesOn, bound.value)
                }
                context.writeAndFlush(handler.wrapOutboundOut(.body(.byteBuffer(bytes))), promise: written)
            }
    }

    private func finish(_ goesOn: Bool, _ context: ChannelHandlerContext) {
        let bound = context.loopBound
        nonisolated(unsafe) let handler = self  // touched on the loop only
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in
            guard goesOn else { return handler.closeGently(bound.value) }
            handler.wait(Limits.rest, bound.value)
        }
        if case .answering = stage { stage = .head }
        connection.finish()
        // Before the end of the answer: the next request may wait behind it.
        if goesOn { offerUpgrade(context) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }

    /// What a client still sends is read for a moment: a socket that is closed before would throw away the answer too.
    private func closeGently(_ context: ChannelHandlerContext) {
        let bound = context.loopBound
        stage = .refused
        context.close(mode: .output, promise: nil)
        deadline?.cancel()
        deadline = context.eventLoop.scheduleTask(in: .milliseconds(500)) { bound.value.close(promise: nil) }
    }

    /// Ends the connection unless something happens in time.
    private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        let bound = context.loopBound
        deadline = context.eventLoop.scheduleTask(in: time) { bound.value.close(promise: nil) }
    }
}

extension Response {
    /// The same, with which the connection ends.
    var last: Response {
        var response = self
        response.isLast = true
        return response
    }
}
