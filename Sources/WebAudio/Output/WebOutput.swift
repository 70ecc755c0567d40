// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The speakers of browsers, or of whoever else plays what comes through the web server of a run.
final class WebOutput: AudioNode {
    static let calls: NodeCalls = [.poll, .finish]
    static let descriptor = NodeDescriptor(
        "web-output", "the speakers of browsers",
        doc:
            "Run the graph with `voicegraph run FILE --web` and open the link that it prints: the page plays what goes "
            + "out. Up to \(OutputFeed.slots) clients hear it, each at its own rate and clock; a client that does not take "
            + "it in time loses the oldest. Offline nobody hears it.",
        ports: Port.audio(VG_INPUT, channels: 2, doc: "what goes out"),
        settings: [channels, buffer],
        events: [
            EventType(
                WebState.name, "who listens, and how late",
                fields: [
                    Field("listeners", VG_INTEGER, "how many"),
                    Field("clients", VG_LIST, "who"),
                    Field(
                        "latency", VG_NUMBER, "of the latest, until it leaves the client's buffer; 0: not known",
                        unit: "ms"),
                    Field("buffer", VG_NUMBER, "what should wait at that client", unit: "ms"),
                    Field(
                        "dropped", VG_INTEGER, "what was not taken in time, by all who ever listened", unit: "frames"),
                ], retained: true)
        ],
        series: [.webFill("what waits at each client, and the resampler")],
        streams: VG_OUTPUT, process: { WebOutput.process($0, $1, $2) })

    private static let channels = Key.webChannels(default: 2)
    private static let buffer = Key.webBuffer(
        "what should wait at a client; without it, as much as its jitter asks for, from 30 ms on")

    struct Processor: BitwiseCopyable {
        var feed: OutputFeed
    }

    let layout: Layout
    private let host: NodeHost
    private let clock: WebClock
    private let channels: Int
    private let endpoint: OutputEndpoint
    private var pipe: OutputPipe?
    private var dropped = 0
    private var state: WebState

    convenience init(settings: Settings, host: NodeHost) throws(NodeError) {
        try self.init(settings, host, .system) { _ in }
    }

    /// With a clock, and what is told of the endpoint that clients reach.
    init(
        _ settings: Settings, _ host: NodeHost, _ clock: WebClock, _ tell: (OutputEndpoint) -> Void
    ) throws(NodeError) {
        self.host = host
        self.clock = clock
        channels = try settings[Self.channels]
        layout = Layout(ports: Port.audio(VG_INPUT, channels: channels, doc: "what goes out"))
        endpoint = OutputEndpoint(
            node: host.nodeName, channels: channels, buffer: try settings[Self.buffer].map { $0 / 1000 }, clock: clock)
        state = WebState(host: host, clock: clock)
        tell(endpoint)
    }

    deinit { endpoint.end() }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let pipe = OutputPipe(channels: channels, preparation: preparation, clock: clock)
        self.pipe = pipe
        guard !preparation.offline else { return Processor(feed: pipe.feed) }
        endpoint.use(pipe)
        host.webHealth("nobody can hear it")
        return Processor(feed: pipe.feed)
    }

    func poll() {
        let (listeners, dropped) = endpoint.status
        host.count("dropped", dropped - self.dropped)
        self.dropped = dropped
        let latest = listeners.max { ($0.latency ?? 0) < ($1.latency ?? 0) }
        let latency = ((latest?.latency ?? 0) * 1000).rounded()
        state.tell(
            WebState.Summary(
                clients: listeners.map(\.client), latency: latency, target: ((latest?.target ?? 0) * 1000).rounded(),
                counts: [dropped])
        ) { summary in
            [
                ("listeners", .integer(Int64(listeners.count))),
                ("clients", .list(listeners.map { .string($0.client) })), ("latency", .number(latency)),
                ("buffer", .number(summary.target)), ("dropped", .integer(Int64(dropped))),
            ]
        }
        state.publishFill(listeners.compactMap { $0.latency.map { Float($0 * 1000) } }, at: pipe?.position ?? 0)
    }

    func finish() { endpoint.end() }

    var streamState: StreamState { endpoint.streamState }

    func openStream(rate: Double, channels: Int, client: String) throws(NodeError) -> any ClientStream {
        try endpoint.open(rate: rate, channels: channels, client: client)
    }

    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) { state.feed.take(block) }
}
