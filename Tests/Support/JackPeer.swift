// SPDX-License-Identifier: Apache-2.0
import CJack
import Drivers
import Glibc
import Synchronization

/// Another JACK program, for tests: it plays a signal once on its outputs and records what comes to its inputs.
public final class JackPeer: @unchecked Sendable {
    // Sendable: the callback and the test meet in atomics; buffers are fixed before the callback runs.

    private struct State: ~Copyable {
        var inputs: UnsafeMutableBufferPointer<OpaquePointer?>
        var outputs: UnsafeMutableBufferPointer<OpaquePointer?>
        /// Planar: channel by channel.
        var signal: UnsafeMutableBufferPointer<Float>
        var signalFrames = 0
        var recording: UnsafeMutableBufferPointer<Float>
        var recordingFrames = 0
        let playing = Atomic(false)
        let played = Atomic(0)
        let recorded = Atomic(0)
        let cycles = Atomic(0)
        /// Microseconds for which the next cycle sleeps.
        let stall = Atomic<UInt32>(0)
    }

    /// The name the server gave.
    public let name: String
    private let client: OpaquePointer
    private let state: UnsafeMutablePointer<State>
    private var closed = false

    /// Opens a client with ports `in_1`... and `out_1`..., one output per channel of `plays`, and starts it.
    public init(
        _ name: String, server: Jackd, plays: [[Float]] = [], inputs: Int = 0, recordingFrames: Int = 0
    ) throws {
        client = try JackLibrary.open(name: name, server: server.name)
        self.name = String(cString: jack_get_client_name(client))
        let frames = plays.first?.count ?? 0
        state = .allocate(capacity: 1)
        state.initialize(
            to: State(
                inputs: .allocate(capacity: inputs), outputs: .allocate(capacity: plays.count),
                signal: .allocate(capacity: frames * plays.count), signalFrames: frames,
                recording: .allocate(capacity: recordingFrames * inputs), recordingFrames: recordingFrames))
        _ = state.pointee.signal.initialize(from: plays.joined())
        state.pointee.recording.initialize(repeating: 0)
        for index in 0..<inputs { state.pointee.inputs.initializeElement(at: index, to: port("in_\(index + 1)", true)) }
        for index in plays.indices {
            state.pointee.outputs.initializeElement(at: index, to: port("out_\(index + 1)", false))
        }
        jack_set_process_callback(
            client,
            { @Sendable frames, argument in
                JackPeer.process(argument!.assumingMemoryBound(to: State.self), Int(frames))
                return 0
            }, state)
        jack_on_shutdown(client, { @Sendable client in JackLibrary.markLost(OpaquePointer(client!)) }, .init(client))
        jack_activate(client)
    }

    deinit {
        close()
        state.pointee.inputs.deallocate()
        state.pointee.outputs.deallocate()
        state.pointee.signal.deallocate()
        state.pointee.recording.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Leaves the server.
    public func close() {
        if !closed { JackLibrary.close(client) }
        closed = true
    }

    /// Begins to play the signal from its start.
    public func play() {
        state.pointee.played.store(0, ordering: .relaxed)
        state.pointee.playing.store(true, ordering: .releasing)
    }

    /// Holds up the server's next cycle, as a program does that waits for something.
    public func stall(milliseconds: Int) {
        state.pointee.stall.store(UInt32(milliseconds) * 1000, ordering: .releasing)
    }

    /// Whether the signal has been played to its end.
    public var hasPlayed: Bool { state.pointee.played.load(ordering: .acquiring) >= state.pointee.signalFrames }

    /// Frames recorded so far; recording starts with the client and ends when its buffer is full.
    public var recordedFrames: Int { state.pointee.recorded.load(ordering: .acquiring) }

    /// Cycles so far.
    public var cycles: Int { state.pointee.cycles.load(ordering: .acquiring) }

    /// What came to input `index` (from 0) so far.
    public func recording(_ index: Int) -> [Float] {
        let start = index * state.pointee.recordingFrames
        return Array(state.pointee.recording[start..<start + recordedFrames])
    }

    /// Connects two ports by their full names.
    public func connect(_ from: String, _ to: String) -> Bool {
        let result = jack_connect(client, from, to)
        return result == 0 || result == EEXIST
    }

    /// The full names of the ports that the port `name` is connected to.
    public func connections(of name: String) -> [String] {
        guard let port = jack_port_by_name(client, name), let list = jack_port_get_all_connections(client, port) else {
            return []
        }
        defer { jack_free(list) }
        var result: [String] = []
        var next = list
        while let name = next.pointee {
            result.append(String(cString: name))
            next += 1
        }
        return result.sorted()
    }

    /// Asks the server for another block size.
    public func setBlock(_ frames: Int) -> Bool { jack_set_buffer_size(client, UInt32(frames)) == 0 }

    /// Gives output `index` (from 0) another name, or a further one; whether it has it.
    public func call(_ index: Int, _ name: String, isAlias: Bool) -> Bool {
        typealias Rename = @convention(c) (OpaquePointer, OpaquePointer?, UnsafePointer<CChar>) -> Int32
        typealias Alias = @convention(c) (OpaquePointer?, UnsafePointer<CChar>) -> Int32
        // The command calls neither, so that only the library knows them.
        let library = dlopen("libjack.so.0", RTLD_NOW)
        let port = state.pointee.outputs[index]
        guard let function = dlsym(library, isAlias ? "jack_port_set_alias" : "jack_port_rename") else { return false }
        return isAlias
            ? unsafeBitCast(function, to: Alias.self)(port, name) == 0
            : unsafeBitCast(function, to: Rename.self)(client, port, name) == 0
    }

    private func port(_ name: String, _ isInput: Bool) -> OpaquePointer? {
        let flags = isInput ? JackPortIsInput : JackPortIsOutput
        return jack_port_register(client, name, JACK_DEFAULT_AUDIO_TYPE, UInt(flags.rawValue), 0)
    }

    private static func process(_ state: UnsafeMutablePointer<State>, _ frames: Int) {
        let stall = state.pointee.stall.exchange(0, ordering: .acquiring)
        if stall > 0 { usleep(stall) }
        let position = state.pointee.played.load(ordering: .relaxed)
        let total = state.pointee.signalFrames
        let now = state.pointee.playing.load(ordering: .acquiring) ? max(0, min(frames, total - position)) : 0
        for (channel, port) in state.pointee.outputs.enumerated() {
            let buffer = samples(port, frames)
            for frame in 0..<now { buffer[frame] = state.pointee.signal[channel * total + position + frame] }
            for frame in now..<frames { buffer[frame] = 0 }
        }
        if now > 0 { state.pointee.played.store(position + now, ordering: .releasing) }
        let recorded = state.pointee.recorded.load(ordering: .relaxed)
        let room = min(frames, state.pointee.recordingFrames - recorded)
        for (channel, port) in state.pointee.inputs.enumerated() {
            let buffer = samples(port, frames)
            let start = channel * state.pointee.recordingFrames + recorded
            for frame in 0..<room { state.pointee.recording[start + frame] = buffer[frame] }
        }
        state.pointee.recorded.store(recorded + room, ordering: .releasing)
        state.pointee.cycles.add(1, ordering: .releasing)
    }

    private static func samples(_ port: OpaquePointer?, _ frames: Int) -> UnsafeMutablePointer<Float> {
        jack_port_get_buffer(port, UInt32(frames)).assumingMemoryBound(to: Float.self)
    }
}
