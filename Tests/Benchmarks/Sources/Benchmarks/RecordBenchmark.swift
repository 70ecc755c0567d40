// SPDX-License-Identifier: Apache-2.0
import CJack
import CRealtime
import Glibc
import Synchronization

/// Channels that are recorded.
private let channels = 64
/// A sample holds its channel, times this, and the frame, modulo this: with 64 channels it is exact in 32-bit float.
private let span = 1 << 17

/// 64 channels to a file, for ten minutes, beside jack-record, one after the other on the same server: whether each frame is
/// there, and the processor time.
func recordBenchmark(_ effort: Effort) throws -> [Row] {
    let seconds = effort.isQuick ? 15 : 600
    let item = "64 channels, \(seconds) s"
    guard program("jackd") != nil else { return [.missing(item, "jackd")] }
    let scratch = try Scratch()
    let graph = try scratch.file(
        "record.conf",
        """
        [graph]
        name = "vg-record"
        links = ["in -> take"]
        [node.in]
        type = "input"
        channels = \(channels)
        connect = ["vg-source:out_*"]
        [node.take]
        type = "record"
        channels = \(channels)
        path = "own.wav"
        """)
    func file(_ name: String) -> String { graph.replacing("record.conf", with: name) }
    var rows: [Row] = []
    _ = try withServer(effort, block: 256) { server, _ in
        let source = try Counter(server)
        defer { source.close() }
        progress("record: voicegraph, \(seconds) s")
        let own = try Child(
            [
                effort.command, "run", graph, "--driver", "jack", "--server", server.name, "--json", "--duration",
                "\(seconds)",
            ])
        let ownTake = try recorded(own, file("own.wav"), seconds: seconds)
        rows = ownTake.rows(item, "voicegraph", own)
        guard let peer = program("jack-record") else { return rows.append(.missing(item, "jack-record")) }
        progress("record: jack-record, \(seconds) s")
        // RF64 with 32-bit float, and five seconds between its audio thread and the disk.
        let other = try Child(
            [
                peer, "-f", "0x220006", "-b", "262144", "-n", "\(channels)", "-o", "0", "-p", "vg-source:out_%d", "-t",
                "\(seconds)", file("other.wav"),
            ], environment: ["JACK_DEFAULT_SERVER": server.name])
        let otherTake = try recorded(other, file("other.wav"), seconds: seconds)
        let ratio = [own.processorTime / Double(ownTake.frames)]
        let peers = [other.processorTime / Double(otherTake.frames)]
        rows[1] = rows[1].compared(ratio, with: peers, "jack-record")
        rows += otherTake.rows(item, "jack-record", other)
    }
    return rows
}

/// Waits for a recorder's end, and looks at its file, which is deleted then.
private func recorded(_ child: Child, _ path: String, seconds: Int) throws -> CountedTake {
    defer { unlink(path) }
    guard child.waitForEnd(seconds: Double(seconds) + 60) != nil else {
        child.stop()
        throw BenchmarkError("\(path) is recorded for ever: \(child.lastLines)")
    }
    child.stop()
    return try CountedTake(path)
}

// MARK: What is recorded

/// A JACK client whose 64 outputs count frames.
private final class Counter {
    struct State: ~Copyable {
        let ports = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: channels)
        var frame = 0
    }

    private let client: OpaquePointer
    private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

    init(_ server: Server) throws {
        var status = JackStatus(rawValue: 0)
        guard let client = vg_jack_open("vg-source", server.name, false, &status) else {
            throw BenchmarkError("the JACK server '\(server.name)' does not answer")
        }
        self.client = client
        state.initialize(to: State())
        for channel in 0..<channels {
            state.pointee.ports[channel] = jack_port_register(
                client, "out_\(channel + 1)", JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsOutput.rawValue), 0)
        }
        jack_set_process_callback(client, count, state)
        guard jack_activate(client) == 0 else { throw BenchmarkError("the JACK server does not activate a client") }
    }

    func close() {
        jack_client_close(client)
        state.pointee.ports.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }
}

/// [audio]
private func count(_ frames: UInt32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let state = argument?.assumingMemoryBound(to: Counter.State.self) else { return 0 }
    let first = state.pointee.frame
    for channel in 0..<channels {
        guard let port = state.pointee.ports[channel], let buffer = jack_port_get_buffer(port, frames) else { continue }
        let samples = buffer.assumingMemoryBound(to: Float.self)
        for frame in 0..<Int(frames) {
            samples[frame] = Float(channel * span + (first + frame) & (span - 1)) / Float(channels * span)
        }
    }
    state.pointee.frame = first + Int(frames)
    return 0
}

// MARK: What is on disk

/// What a file of counted frames has.
private struct CountedTake {
    var frames = 0
    /// Frames that are not the next of the one before, from the first at which all channels were connected.
    var lost = 0
    /// Frames in which channels do not belong together.
    var torn = 0

    /// Reads a file of 32-bit float: WAV, RF64.
    init(_ path: String) throws {
        guard let file = fopen(path, "rb") else { throw BenchmarkError("there is no \(path)") }
        defer { fclose(file) }
        var head = [UInt8](repeating: 0, count: 65536)
        head.removeLast(head.count - fread(&head, 1, head.count, file))
        guard let data = head.firstRange(of: Array("data".utf8)) else { throw BenchmarkError("\(path) has no data") }
        fseek(file, data.upperBound + 4, SEEK_SET)
        var samples = [Float](repeating: 0, count: 4096 * channels)
        var before: Int?
        while true {
            let count = fread(&samples, 4 * channels, 4096, file)
            if count == 0 { break }
            for frame in 0..<count { take(&before, samples[(frame * channels)..<((frame + 1) * channels)]) }
            frames += count
        }
    }

    private mutating func take(_ before: inout Int?, _ samples: ArraySlice<Float>) {
        // The order of the channels is the recorder's.
        var seen: UInt64 = 0
        var (least, most) = (span, 0)
        for sample in samples {
            let number = Int(sample * Float(channels * span))
            seen |= 1 << UInt64(number / span & (channels - 1))
            least = min(least, number % span)
            most = max(most, number % span)
        }
        guard seen == .max, least == most else {
            if before != nil { torn += 1 }
            return
        }
        if let before { lost += (most - before - 1) & (span - 1) }
        before = most
    }

    func rows(_ item: String, _ subject: String, _ child: Child) -> [Row] {
        [
            Row("\(item): frames lost or torn", subject, [Double(lost + torn)], "").aiming("0", lost + torn == 0),
            Row("\(item): processor", subject, [child.processorTime / Double(frames) * 48000 * 100], "%"),
            Row("\(item): most memory", subject, [child.peakMemory], "MiB"),
        ]
    }
}
