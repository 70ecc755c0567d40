// SPDX-License-Identifier: Apache-2.0
import NodeKit

// Made from what the types of nodes declare; a test compares the two, and says how to make it again.

/// `input`: audio from outside: a microphone or another program. Offline it reads the file given with --input, or
/// silence.
public struct Input: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `channels`: audio channels, each a port that other programs can connect to; 1 to 64, 1 without it
    /// - `connect`: ports to connect to whenever they appear: names or globs, in order; for example
    ///   "system:capture_1"; [] without it
    public init(
        _ called: String? = nil, channels: Int? = nil, connect: [String]? = nil, inFile: String = #fileID,
        atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "input", [("channels", said(channels)), ("connect", said(connect))], file: inFile,
            line: atLine, column: atColumn)
    }
}

/// `midi-input`: MIDI from outside: a keyboard or another program.
public struct MIDIInput: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `connect`: MIDI ports to connect to whenever they appear: names or globs, in order; for example
    ///   "system:midi_capture_1"; [] without it
    public init(
        _ called: String? = nil, connect: [String]? = nil, inFile: String = #fileID, atLine: UInt = #line,
        atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "midi-input", [("connect", said(connect))], file: inFile, line: atLine, column: atColumn)
    }
}

/// `midi-output`: MIDI to the outside: a synthesizer or another program.
public struct MIDIOutput: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `connect`: MIDI ports to connect to whenever they appear: names or globs, in order; for example
    ///   "system:midi_playback_1"; [] without it
    public init(
        _ called: String? = nil, connect: [String]? = nil, inFile: String = #fileID, atLine: UInt = #line,
        atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "midi-output", [("connect", said(connect))], file: inFile, line: atLine, column: atColumn)
    }
}

/// `output`: audio to the outside: loudspeakers or another program. Offline it is what is written to the file.
public struct Output: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `channels`: audio channels, each a port that other programs can connect to; 1 to 64, 2 without it
    /// - `connect`: ports to connect to whenever they appear: names or globs, in order; for example
    ///   "system:playback_*"; [] without it
    public init(
        _ called: String? = nil, channels: Int? = nil, connect: [String]? = nil, inFile: String = #fileID,
        atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "output", [("channels", said(channels)), ("connect", said(connect))], file: inFile,
            line: atLine, column: atColumn)
    }
}

/// `web-input`: the microphone of a browser. Run the graph with `voicegraph run FILE --web` and open the link that it
/// prints: the page asks for the microphone. One client at a time; without one there is silence, and so there is
/// offline. Its clock is not the graph's: what it sends is resampled, so that as much waits as its jitter asks for.
public struct WebInput: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `channels`: audio channels; 1 to 8, 1 without it
    /// - `bufferMs`: what should wait before it is heard; without it, as much as the arrivals ask for, from 15 ms and
    ///   a block on; in ms, 5 to 500
    public init(
        _ called: String? = nil, channels: Int? = nil, bufferMs: Double? = nil, inFile: String = #fileID,
        atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "web-input", [("channels", said(channels)), ("buffer_ms", said(bufferMs))], file: inFile,
            line: atLine, column: atColumn)
    }
}

/// `web-output`: the speakers of browsers. Run the graph with `voicegraph run FILE --web` and open the link that it
/// prints: the page plays what goes out. Up to 16 clients hear it, each at its own rate and clock; a client that does
/// not take it in time loses the oldest. Offline nobody hears it.
public struct WebOutput: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `channels`: audio channels; 1 to 8, 2 without it
    /// - `bufferMs`: what should wait at a client; without it, as much as its jitter asks for, from 30 ms on; in ms,
    ///   5 to 500
    public init(
        _ called: String? = nil, channels: Int? = nil, bufferMs: Double? = nil, inFile: String = #fileID,
        atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "web-output", [("channels", said(channels)), ("buffer_ms", said(bufferMs))], file: inFile,
            line: atLine, column: atColumn)
    }
}
