// SPDX-License-Identifier: Apache-2.0
import CJack
import Drivers
import Synchronization

/// A MIDI message at a frame.
public struct MIDIMoment: Sendable, Equatable {
    /// Frames since the peer began to play.
    public var frame: Int
    /// The message.
    public var bytes: [UInt8]

    /// Describes a moment.
    public init(_ frame: Int, _ bytes: [UInt8]) {
        self.frame = frame
        self.bytes = bytes
    }
}

/// Another JACK program, for tests: it plays MIDI messages on `out` and records what comes to `in`.
public final class JackMIDIPeer: @unchecked Sendable {
    // Sendable: the callback and the test share only what the mutex holds; a test's client may lock.

    private final class State: Sendable {
        struct Content {
            var toPlay: [MIDIMoment] = []
            var heard: [MIDIMoment] = []
            var playing = false
            var frame = 0
        }
        let content = Mutex(Content())
        let cycles = Atomic(0)
        nonisolated(unsafe) var input: OpaquePointer?
        nonisolated(unsafe) var output: OpaquePointer?
    }

    /// The name the server gave.
    public let name: String
    private let client: OpaquePointer
    private let state = State()
    private var closed = false

    /// Opens a client with a port `in` and a port `out`, and starts it.
    public init(_ name: String, server: Jackd) throws {
        client = try JackLibrary.open(name: name, server: server.name)
        self.name = String(cString: jack_get_client_name(client))
        state.input = jack_port_register(client, "in", JACK_DEFAULT_MIDI_TYPE, UInt(JackPortIsInput.rawValue), 0)
        state.output = jack_port_register(client, "out", JACK_DEFAULT_MIDI_TYPE, UInt(JackPortIsOutput.rawValue), 0)
        jack_set_process_callback(
            client,
            { @Sendable frames, argument in
                JackMIDIPeer.process(Unmanaged<State>.fromOpaque(argument!).takeUnretainedValue(), frames)
                return 0
            }, Unmanaged.passUnretained(state).toOpaque())
        jack_on_shutdown(client, { @Sendable client in JackLibrary.markLost(OpaquePointer(client!)) }, .init(client))
        jack_activate(client)
    }

    deinit { close() }

    /// Leaves the server.
    public func close() {
        if !closed { JackLibrary.close(client) }
        closed = true
    }

    /// Plays `moments`, which are in order, from now on.
    public func play(_ moments: [MIDIMoment]) {
        state.content.withLock { content in
            content.toPlay = moments
            content.heard = []
            content.frame = 0
            content.playing = true
        }
    }

    /// What came since `play`.
    public var heard: [MIDIMoment] { state.content.withLock(\.heard) }
    /// Cycles so far.
    public var cycles: Int { state.cycles.load(ordering: .acquiring) }

    /// Connects two ports by their full names.
    public func connect(_ from: String, _ to: String) -> Bool { jack_connect(client, from, to) == 0 }

    private static func process(_ state: State, _ frames: UInt32) {
        let output = jack_port_get_buffer(state.output, frames)
        let input = jack_port_get_buffer(state.input, frames)
        jack_midi_clear_buffer(output)
        state.content.withLock { content in
            guard content.playing else { return }
            while let next = content.toPlay.first, next.frame < content.frame + Int(frames) {
                jack_midi_event_write(output, UInt32(next.frame - content.frame), next.bytes, next.bytes.count)
                content.toPlay.removeFirst()
            }
            var event = jack_midi_event_t()
            for index in 0..<jack_midi_get_event_count(input) where jack_midi_event_get(&event, input, index) == 0 {
                content.heard.append(
                    MIDIMoment(
                        content.frame + Int(event.time),
                        Array(UnsafeBufferPointer(start: event.buffer, count: event.size))))
            }
            content.frame += Int(frames)
        }
        state.cycles.add(1, ordering: .releasing)
    }
}
