// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime

/// The microphone of a browser, or whatever sends audio through the web server of a run.
final class WebInput: AudioNode {
    static let calls: NodeCalls = [.poll, .finish]
    static let descriptor = NodeDescriptor(
        "web-input", "the microphone of a browser",
        doc: "Run the graph with `voicegraph run FILE --web` and open the link that it prints: the page asks for the "
            + "microphone. One client at a time; without one there is silence, and so there is offline. Its clock is not "
            + "the graph's: what it sends is resampled, so that as much waits as its jitter asks for.",
        ports: Port.audio(VG_OUTPUT, channels: 1, doc: "what comes in"),
        settings: [channels, buffer],
        events: [
            EventType(
                WebState.name, "who sends, and how what comes is heard",
                fields: [
                    Field("connected", VG_BOOL, "whether somebody sends"),
                    Field("client", VG_STRING, "who; empty: nobody"),
                    Field("rate", VG_NUMBER, "of the client", unit: "Hz"),
                    Field(
                        "latency", VG_NUMBER, "from when it arrives until it is heard; 0: nothing is heard", unit: "ms"),
                    Field("buffer", VG_NUMBER, "what should wait", unit: "ms"),
                    Field("drift", VG_NUMBER, "how much faster the clock of the client is", unit: "ppm"),
                    Field("underruns", VG_INTEGER, "how often nothing was there in time"),
                    Field("lost", VG_INTEGER, "what did not arrive", unit: "frames"),
                    Field("dropped", VG_INTEGER, "what was not played, because too much waited", unit: "frames"),
                ], retained: true)
        ],
        series: [.webFill("what waits, and the resampler", width: 1)], streams: VG_INPUT,
        process: { WebInput.process($0, $1, $2) })

    private static let channels = Key.webChannels(default: 1)
    private static let buffer = Key.webBuffer(
        "what should wait before it is heard; without it, as much as the arrivals ask for, from 15 ms and a block on")

    struct Processor: BitwiseCopyable {
        var player: InputPlayer
    }

    let layout: Layout
    private let host: NodeHost
    private let clock: WebClock
    private let channels: Int
    private let endpoint: InputEndpoint
    private var pipe: InputPipe?
    private var told = WebInputStatus()
    private var state: WebState

    convenience init(settings: Settings, host: NodeHost) throws(NodeError) {
        try self.init(settings, host, .system) { _ in }
    }

    /// With a clock, and what is told of the endpoint that clients reach.
    init(
        _ settings: Settings, _ host: NodeHost, _ clock: WebClock, _ tell: (InputEndpoint) -> Void
    ) throws(NodeError) {
        self.host = host
        self.clock = clock
        channels = try settings[Self.channels]
        layout = Layout(ports: Port.audio(VG_OUTPUT, channels: channels, doc: "what comes in"))
        endpoint = InputEndpoint(
            node: host.nodeName, channels: channels, buffer: try settings[Self.buffer].map { $0 / 1000 }, clock: clock)
        state = WebState(host: host, clock: clock)
        tell(endpoint)
    }

    deinit { endpoint.end() }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let pipe = InputPipe(channels: channels, preparation: preparation, clock: clock)
        self.pipe = pipe
        guard !preparation.offline else { return Processor(player: pipe.player) }
        endpoint.use(pipe)
        host.webHealth("nobody can be heard")
        return Processor(player: pipe.player)
    }

    func poll() {
        let status = endpoint.status
        host.count("underruns", status.underruns - told.underruns)
        host.count("lost", status.lost - told.lost)
        host.count("dropped", status.dropped - told.dropped)
        host.count("unfit", status.unfit - told.unfit)
        told = status
        let latency = status.latency.map { ($0 * 1000).rounded() } ?? 0
        state.tell(
            WebState.Summary(
                clients: status.client.map { [$0] } ?? [], latency: latency, target: (status.target * 1000).rounded(),
                counts: [status.underruns, status.lost, status.dropped])
        ) { summary in
            [
                ("connected", .bool(status.client != nil)), ("client", .string(status.client ?? "")),
                ("rate", .number(status.rate)), ("latency", .number(latency)), ("buffer", .number(summary.target)),
                ("drift", .number(status.drift.rounded())), ("underruns", .integer(Int64(status.underruns))),
                ("lost", .integer(Int64(status.lost))), ("dropped", .integer(Int64(status.dropped))),
            ]
        }
        state.publishFill(status.latency.map { [Float($0 * 1000)] } ?? [], at: pipe?.position ?? 0)
    }

    func finish() { endpoint.end() }

    var streamState: StreamState { endpoint.streamState }

    func openStream(rate: Double, channels: Int, client: String) throws(NodeError) -> any ClientStream {
        try endpoint.open(rate: rate, channels: channels, client: client)
    }

    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) { state.player.play(block) }
}
