// SPDX-License-Identifier: Apache-2.0
import API
import GraphFile
import Host
import JSON
import NIOCore
import NodeKit

/// Sound of one client's microphone and speakers. The loop's thread only.
///
///     byte 0: 2, byte 1: the stream, then little-endian: u16 channels, u32 position of the first frame, f32 each sample
///     byte 0: 3, byte 1: the stream, u16 0, u32 frames that wait with who plays
final class ClientAudio {
    private enum Stream {
        case input(NodeStream)
        case output(Output)
    }

    /// What a client hears, and how many messages of it are on their way.
    private final class Output {
        let stream: NodeStream
        var underWay = 0

        init(_ stream: NodeStream) { self.stream = stream }
    }

    private unowned let client: LiveClient
    private let loop: any EventLoop
    private var streams: [UInt8: Stream] = [:]
    private var turns: RepeatedTask?
    /// Streams that are being opened.
    private var opening = 0
    private var isClosed = false

    private static let arguments = [
        Setting("node", VG_SET_STRING, "one that takes or gives sound over the WebSocket", required: true),
        Setting("rate", VG_SET_NUMBER, "of the client", default: "48000", range: StreamLimits.rates, unit: "Hz"),
        Setting(
            "channels", VG_SET_INTEGER, "of the client", default: "1",
            range: Double(StreamLimits.channels.lowerBound)...Double(StreamLimits.channels.upperBound)),
    ]
    private static let closing = [Setting("stream", VG_SET_INTEGER, "its number", required: true, range: 0...255)]
    /// Streams of a client.
    private static let limit = 8
    /// Frames of a message.
    private static let frames = 2048
    /// Messages that a client has not taken yet: what comes then is lost, since late sound is worse than none.
    private static let waiting = 6
    private static let turn = TimeAmount.milliseconds(10)
    private static let sound = UInt8(2)
    private static let report = UInt8(3)

    init(_ client: LiveClient, _ loop: any EventLoop) { (self.client, self.loop) = (client, loop) }

    /// Opens or closes a stream, and answers.
    func take(_ request: Request, of host: Host, isReadOnly: Bool) throws(Fault) {
        let given = try request.arguments()
        let isOpening = request.call == "audio"
        let arguments = isOpening ? Self.arguments : Self.closing
        try checkValues(given, against: arguments, of: "'\(request.call)'", noun: "argument")
        let settings = Settings(given)
        if isOpening { return try open(request, settings, of: host, isReadOnly) }
        let number = UInt8(clamping: settings.integer("stream") ?? 0)
        guard streams.removeValue(forKey: number) != nil else { throw Fault("there is no stream \(number)") }
        client.send(JSONText.object([("id", request.id.text), ("ok", "true")]))
    }

    private func open(_ request: Request, _ given: Settings, of host: Host, _ isReadOnly: Bool) throws(Fault) {
        guard streams.count + opening < Self.limit else {
            throw Fault("too many streams", hint: "close one first")
        }
        let (node, rate, channels) = (
            given.string("node") ?? "", given.number("rate") ?? 48_000, given.integer("channels") ?? 1
        )
        opening += 1
        nonisolated(unsafe) let audio = self  // touched on the loop only
        Task { [loop, name = client.name, id = request.id] in
            let opened: Result<(NodeStream, vg_direction), Fault>
            do throws(Fault) {
                let direction = try await host.streamDirection(of: node)
                guard direction == VG_OUTPUT || !isReadOnly else { throw readOnlyError }
                opened = .success(
                    (try await host.openStream(node, rate: rate, channels: channels, client: name), direction))
            } catch { opened = .failure(error) }
            loop.execute { audio.opened(opened, rate: rate, answering: id) }
        }
    }

    private func opened(_ opened: Result<(NodeStream, vg_direction), Fault>, rate: Double, answering id: JSON) {
        opening -= 1
        guard !isClosed else { return }
        do throws(Fault) {
            let (stream, direction) = try opened.get()
            let number = (1...UInt8(Self.limit)).first { streams[$0] == nil }!  // as many as there may be were counted
            streams[number] = direction == VG_OUTPUT ? .output(Output(stream)) : .input(stream)
            if direction == VG_OUTPUT { begin() }
            client.send(
                JSONText.object([
                    ("id", id.text), ("ok", "true"), ("stream", String(number)),
                    ("direction", direction == VG_OUTPUT ? "\"output\"" : "\"input\""),
                    ("channels", String(stream.channels)), ("rate", JSONText.number(rate)),
                ]))
        } catch { client.send(error.answer(id)) }
    }

    /// A message of the client; one that is none is left out.
    func take(_ bytes: ByteBuffer) {
        var bytes = bytes
        guard let kind = bytes.readInteger(as: UInt8.self), let number = bytes.readInteger(as: UInt8.self),
            let channels = bytes.readInteger(endianness: .little, as: UInt16.self),
            let count = bytes.readInteger(endianness: .little, as: UInt32.self)
        else { return }
        switch (kind, streams[number]) {
        case (Self.sound, .input(let stream)):
            let samples = bytes.readableBytes / 4
            guard Int(channels) == stream.channels, samples % stream.channels == 0,
                samples / stream.channels <= Self.frames
            else { return }
            // Where the bytes lie need not be where floats may.
            let frames = [Float](unsafeUninitializedCapacity: samples) { memory, written in
                bytes.withUnsafeReadableBytes { UnsafeMutableRawBufferPointer(memory).copyMemory(from: $0) }
                written = samples
            }
            if !frames.withUnsafeBufferPointer({ stream.push(position: count, frames: $0) }) { end(number) }
        case (Self.report, .output(let output)): output.stream.report(waiting: count)
        default: break
        }
    }

    /// What is heard goes out in short turns while somebody listens.
    private func begin() {
        guard turns == nil else { return }
        nonisolated(unsafe) weak let audio = self  // touched on the loop only
        turns = loop.scheduleRepeatedTask(initialDelay: Self.turn, delay: Self.turn) { _ in audio?.step() }
    }

    private func step() {
        var isHeard = false
        for case (let number, .output(let output)) in streams {
            isHeard = true
            while client.hasRoom, output.underWay < Self.waiting {
                guard let message = pull(output.stream, number) else {
                    end(number)
                    break
                }
                guard message.readableBytes > 8 else { break }
                output.underWay += 1
                nonisolated(unsafe) let output = output  // touched on the loop only
                client.send(bytes: message) { output.underWay -= 1 }
            }
        }
        if !isHeard {
            turns?.cancel()
            turns = nil
        }
    }

    /// The next message; without frames: there are none now; nil: the node has ended.
    private func pull(_ stream: NodeStream, _ number: UInt8) -> ByteBuffer? {
        var samples = [Float](repeating: 0, count: Self.frames * stream.channels)
        guard let pulled = samples.withUnsafeMutableBufferPointer({ stream.pull(into: $0) }) else { return nil }
        var message = ByteBuffer()
        message.reserveCapacity(8 + pulled.frames * stream.channels * 4)
        message.writeMultipleIntegers(Self.sound, number)
        message.writeInteger(UInt16(stream.channels), endianness: .little)
        message.writeInteger(pulled.position, endianness: .little)
        samples[..<(pulled.frames * stream.channels)].withUnsafeBytes { _ = message.writeBytes($0) }
        return message
    }

    /// A stream whose node is gone.
    private func end(_ number: UInt8) {
        streams[number] = nil
        client.send("{\"event\":\"audio.closed\",\"stream\":\(number)}")
    }

    /// The client is gone.
    func close() {
        isClosed = true
        streams = [:]
        turns?.cancel()
        turns = nil
    }
}
