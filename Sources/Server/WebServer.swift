// SPDX-License-Identifier: Apache-2.0
import API
import Glibc
import GraphFile
import Host
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import NodeKit

/// Shows a host to browsers and to programs that speak HTTP: a page, the calls, and what happens. One thread serves all
/// clients and waits for none of them; the calls are done by the host's actor. The audio thread knows nothing of it.
public final class WebServer: Sendable {
    /// Where it is.
    public let url: String
    private let tokens: Tokens
    /// Whether other machines reach it.
    public let isRemote: Bool

    /// Calls that it has beside those of every host.
    static func ownCalls(_ tokens: Tokens, _ look: Look) -> [HostCall] {
        [LayoutCall.call, StreamsCall.call, TicketCall.call(tokens), look.call]
    }

    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    private let state: State

    /// What the loop's thread keeps.
    private final class State: @unchecked Sendable {
        // Sendable: the loop's thread alone touches it after `init`.
        let hub: LiveHub
        let router: Router
        let connections = Connections()
        var clients = 0

        init(_ hub: LiveHub, _ router: Router) { (self.hub, self.router) = (hub, router) }
    }

    /// Begins to listen. `more`: calls beside those of every host; `kept` finds what may be downloaded; `feed`: what
    /// happens, as other transports tell it, too. [control]
    public init(
        _ host: Host, _ web: WebDescription, calls more: [HostCall] = [], feed: EventFeed? = nil,
        kept: KeptFiles = KeptFiles()
    ) throws(Fault) {
        guard let address = ListenAddress(web.listen) else {
            throw Fault("'\(web.listen.prefix(80))' is no address to listen at", hint: "write \(ListenAddress.usage)")
        }
        isRemote = !address.isLoopback
        guard !isRemote || web.allowsRemote else {
            throw Fault(
                "\(web.listen) can be reached from other machines, and nothing that is sent is encrypted",
                hint: "say --web-remote, or remote = true in [web], if that is meant; see docs/web.md for TLS")
        }
        tokens = if let path = web.tokens { try Tokens(keptIn: path) } else { Tokens() }
        let look = try Look(web)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let box = NIOLockedValueBox<State?>(nil)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Limits.headBytes))
            .childChannelOption(
                .writeBufferWaterMark, value: .init(low: Limits.outbound / 4, high: Limits.outbound)
            )
            .childChannelInitializer { channel in
                guard let state = box.withLockedValue({ $0 }) else {
                    return channel.eventLoop.makeFailedFuture(ChannelError.alreadyClosed)
                }
                return channel.eventLoop.makeCompletedFuture { try Self.set(up: channel, state) }
            }
        do { channel = try bootstrap.bind(host: address.host, port: address.port).wait() } catch {
            try? group.syncShutdownGracefully()
            throw Self.fault(error, web.listen)
        }
        let port = channel.localAddress?.port ?? address.port
        let addresses = Self.addresses(address)
        let access = Access(web, addresses: addresses, port: port, tokens: tokens)
        let calls = CallTable(more + Self.ownCalls(tokens, look))
        state = State(
            LiveHub(host, calls, access, feed ?? EventFeed(host), loop),
            Router(host, calls, access, kept: kept, logo: look.logo))
        self.group = group
        let shown = address.isAny ? addresses.last { $0 != "::1" } ?? "localhost" : address.host
        url = "http://\(shown.contains(":") ? "[\(shown)]" : shown):\(port)/"
        box.withLockedValue { $0 = state }
        loop.execute { [state] in state.hub.begin() }
    }

    /// The same with the token of a right, which lets whoever has it in.
    public func link(_ right: Right) -> String { "\(url)?token=\(tokens[right].text)" }

    /// Ends all connections; to be called once. [control]
    public func close() {
        channel.close(mode: .all, promise: nil)
        let (state, loop) = (state, group.next())
        let isAlone = try? loop.submit {
            state.hub.close()
            return state.connections.isEmpty
        }.wait()
        if isAlone == false {
            // The words of parting have a moment.
            try? loop.scheduleTask(in: .milliseconds(300)) { state.connections.closeAll() }.futureResult.wait()
        }
        try? group.syncShutdownGracefully()
    }

    /// What a connection goes through. [loop]
    private static func set(up channel: any Channel, _ state: State) throws {
        guard let connection = state.connections.add(channel) else { throw ChannelError.connectPending }
        let box = NIOLoopBound((state, connection), eventLoop: channel.eventLoop)
        channel.closeFuture.whenComplete { _ in
            let (state, connection) = box.value
            state.connections.remove(connection)
        }
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = Limits.headBytes
        limits.maxHeaderListSize = Limits.headBytes
        limits.maxHeaderFieldCount = Limits.fields
        let encoder = HTTPResponseEncoder()
        let decoder = ByteToMessageHandler(
            HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits),
            maximumBufferSize: 4 * Limits.headBytes)
        let handlers: [any RemovableChannelHandler] = [
            HTTPServerPipelineHandler(), NIOHTTPResponseHeadersValidator(), HTTPServerProtocolErrorHandler(),
        ]
        weak var answering: HTTPHandler?
        func offer() -> HTTPServerUpgradeHandler {
            HTTPServerUpgradeHandler(
                upgraders: [upgrader(state, connection)], httpEncoder: encoder,
                extraHTTPHandlers: [decoder] + handlers + (answering.map { [$0] } ?? []),
                upgradeCompletionHandler: { _ in
                    let (_, connection) = box.value
                    connection.isSocket = true
                })
        }
        // What decides about upgrades leaves with the first request that asks for none.
        let http = HTTPHandler(state.router, state.hub, state.connections, connection) { context in
            guard let handler = answering else { return }
            try? context.pipeline.syncOperations.addHandler(offer(), position: .before(handler))
        }
        answering = http
        try channel.pipeline.syncOperations.addHandlers([encoder, decoder] + handlers)
        try channel.pipeline.syncOperations.addHandlers(offer(), http)
    }

    /// Who may have a WebSocket; any other request for one goes on as if it had not asked.
    private static func upgrader(_ state: State, _ connection: Connection) -> NIOWebSocketServerUpgrader {
        NIOWebSocketServerUpgrader(
            maxFrameSize: Limits.message,
            shouldUpgrade: { channel, head in
                let access = state.router.access
                guard Target(head.uri)?.path == "/api/live", head.method == .GET,
                    (try? access.check(head.headers)) != nil, let caller = access.caller(head.headers),
                    state.connections.hasSocketRoom(
                        for: Party(address: connection.party.address, right: caller.right))
                else { return channel.eventLoop.makeSucceededFuture(nil) }
                let offers = head.headers[canonicalForm: "sec-websocket-protocol"]
                let chosen: HTTPHeaders =
                    offers.contains("voicegraph") ? ["Sec-WebSocket-Protocol": "voicegraph"] : [:]
                return channel.eventLoop.makeSucceededFuture(chosen)
            },
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    guard let caller = state.router.access.caller(head.headers) else {
                        throw ChannelError.alreadyClosed
                    }
                    connection.begin(caller.right)
                    state.clients += 1
                    let gather = NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 64,
                        maxAccumulatedFrameSize: Limits.message)
                    try channel.pipeline.syncOperations.addHandlers(
                        FrameCheck(), gather, LiveClient(state.hub, caller, number: state.clients))
                }
            })
    }

    /// Under which addresses it is reached.
    private static func addresses(_ address: ListenAddress) -> [String] {
        let own = ["localhost", "127.0.0.1", "::1"]
        if address.isLoopback { return own + (own.contains(address.host.lowercased()) ? [] : [address.host]) }
        guard address.isAny else { return [address.host] }
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        let host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let devices = (try? System.enumerateDevices()) ?? []
        let others = devices.compactMap { $0.address?.ipAddress }.filter { !own.contains($0) }
        // The one that is shown stands last.
        return own + [host, "\(host).local"] + others.filter { $0.contains(":") } + others.filter { !$0.contains(":") }
    }

    private static func fault(_ error: any Error, _ listen: String) -> Fault {
        let code = (error as? IOError)?.errnoCode
        let hint =
            switch code {
            case EADDRINUSE: "another program listens there; port 0 takes any that is free"
            case EACCES: "ports below 1024 are for root; choose a higher one"
            case EADDRNOTAVAIL: "no network card of this machine has that address"
            default: "write \(ListenAddress.usage)"
            }
        let reason = code.map { String(cString: strerror($0)) } ?? "\(error)"
        return Fault("cannot listen at \(listen): \(reason)", hint: hint)
    }
}
