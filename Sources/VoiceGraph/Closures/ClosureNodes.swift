// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What a closure does with one block, on the audio thread: no allocation, no lock, no system call, nothing that waits. It may
/// read constants that it captures. A function marked `@_noLocks` in its place is held to that by the compiler;
/// `libvoicegraph-realtime.so`, which comes with voicegraph, ends a program that breaks it and names the place:
///
///     LD_PRELOAD=/usr/local/lib/voicegraph/preload/libvoicegraph-realtime.so ./player
public typealias RealtimeProcess = @Sendable (_ block: borrowing Block) -> Void

/// The same with what it keeps from block to block: a value without references. A graph that is prepared again begins with
/// what the node was given.
public typealias RealtimeUpdate<State> = @Sendable (_ state: inout State, _ block: borrowing Block) -> Void

/// Makes sound on the audio thread, by a closure of this program.
///
///     let tone = SourceNode("tone", state: 0.0) { phase, block in
///         let output = block.output(0)
///         for frame in 0..<block.frames {
///             output[frame] = 0.1 * vg_sin(Float(phase) * 2 * .pi)
///             phase += 440 / block.rate
///             phase -= phase.rounded(.down)
///         }
///     }
public struct SourceNode: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// `body` writes every frame of `channels` outputs; `parameters` are turned as those of other nodes, and `block.parameter(0)` is
    /// the first.
    public init(
        _ name: String? = nil, channels: Int = 1, parameters: [Parameter] = [], file: String = #fileID,
        line: UInt = #line, column: UInt = #column, body: @escaping RealtimeProcess
    ) {
        node = Closure(RealtimeBody(body), inputs: 0, outputs: channels, parameters)
            .placed(name, file: file, line: line, column: column)
    }

    /// The same with what `body` keeps from block to block, which begins with `state`.
    public init<State: BitwiseCopyable & Sendable>(
        _ name: String? = nil, channels: Int = 1, parameters: [Parameter] = [], state: State, file: String = #fileID,
        line: UInt = #line, column: UInt = #column, body: @escaping RealtimeUpdate<State>
    ) {
        node = Closure(RealtimeBody(state, body), inputs: 0, outputs: channels, parameters)
            .placed(name, file: file, line: line, column: column)
    }
}

/// Changes sound on the audio thread, by a closure of this program.
///
///     let clip = EffectNode("clip", channels: 2, parameters: [Parameter("drive", "factor", 0...10, default: 1)]) { block in
///         let drive = block.parameter(0)
///         for channel in block.outputs {
///             let input = block.input(channel)
///             let output = block.output(channel)
///             for frame in 0..<block.frames { output[frame] = max(-1, min(1, drive[frame] * input[frame])) }
///         }
///     }
public struct EffectNode: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// `body` reads `channels` inputs and writes every frame of as many outputs; `parameters` are turned as those of other nodes, and `block.parameter(0)` is
    /// the first.
    public init(
        _ name: String? = nil, channels: Int = 1, parameters: [Parameter] = [], file: String = #fileID,
        line: UInt = #line, column: UInt = #column, body: @escaping RealtimeProcess
    ) {
        node = Closure(RealtimeBody(body), inputs: channels, outputs: channels, parameters)
            .placed(name, file: file, line: line, column: column)
    }

    /// The same with what `body` keeps from block to block, which begins with `state`.
    public init<State: BitwiseCopyable & Sendable>(
        _ name: String? = nil, channels: Int = 1, parameters: [Parameter] = [], state: State, file: String = #fileID,
        line: UInt = #line, column: UInt = #column, body: @escaping RealtimeUpdate<State>
    ) {
        node = Closure(RealtimeBody(state, body), inputs: channels, outputs: channels, parameters)
            .placed(name, file: file, line: line, column: column)
    }
}

/// Takes sound on the audio thread, by a closure of this program.
public struct SinkNode: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// `body` reads `channels` inputs; `parameters` are turned as those of other nodes, and `block.parameter(0)` is
    /// the first.
    public init(
        _ name: String? = nil, channels: Int = 1, parameters: [Parameter] = [], file: String = #fileID,
        line: UInt = #line, column: UInt = #column, body: @escaping RealtimeProcess
    ) {
        node = Closure(RealtimeBody(body), inputs: channels, outputs: 0, parameters)
            .placed(name, file: file, line: line, column: column)
    }

    /// The same with what `body` keeps from block to block, which begins with `state`.
    public init<State: BitwiseCopyable & Sendable>(
        _ name: String? = nil, channels: Int = 1, parameters: [Parameter] = [], state: State, file: String = #fileID,
        line: UInt = #line, column: UInt = #column, body: @escaping RealtimeUpdate<State>
    ) {
        node = Closure(RealtimeBody(state, body), inputs: channels, outputs: 0, parameters)
            .placed(name, file: file, line: line, column: column)
    }
}

/// Looks at sound, which goes on as it is on the audio thread, by a closure of this program.
public struct TapNode: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// `body` reads `channels` inputs; `parameters` are turned as those of other nodes, and `block.parameter(0)` is
    /// the first.
    public init(
        _ name: String? = nil, channels: Int = 1, parameters: [Parameter] = [], file: String = #fileID,
        line: UInt = #line, column: UInt = #column, body: @escaping RealtimeProcess
    ) {
        node = Closure(RealtimeBody(body), inputs: channels, outputs: channels, passes: true, parameters)
            .placed(name, file: file, line: line, column: column)
    }

    /// The same with what `body` keeps from block to block, which begins with `state`.
    public init<State: BitwiseCopyable & Sendable>(
        _ name: String? = nil, channels: Int = 1, parameters: [Parameter] = [], state: State, file: String = #fileID,
        line: UInt = #line, column: UInt = #column, body: @escaping RealtimeUpdate<State>
    ) {
        node = Closure(RealtimeBody(state, body), inputs: channels, outputs: channels, passes: true, parameters)
            .placed(name, file: file, line: line, column: column)
    }
}
