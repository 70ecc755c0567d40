// SPDX-License-Identifier: Apache-2.0
import CNode
import System

/// What a node is prepared for.
public struct Preparation: Sendable {
    /// Frames per second, in Hz.
    public var rate: Double
    /// The longest block, in frames; blocks may be shorter and vary.
    public var maxBlock: Int
    /// Whether the caller drives time, so that quality goes before speed.
    public var offline: Bool
    /// What the parameters begin with, in the order of the layout; empty: with their defaults.
    public var parameters: [Float]

    /// Describes a preparation.
    public init(rate: Double, maxBlock: Int, offline: Bool = false, parameters: [Float] = []) {
        self.rate = rate
        self.maxBlock = maxBlock
        self.offline = offline
        self.parameters = parameters
    }
}

/// Why a node cannot be created or prepared, or does not do what it is asked.
public typealias NodeError = Fault

/// The optional calls of `Node` that a type implements. The host is spared the others: a graph may have thousands of
/// nodes, and `poll` comes 60 to 120 times a second.
public struct NodeCalls: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt16

    /// Wraps bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `receive`
    public static let receive = NodeCalls(rawValue: 1)
    /// `poll`
    public static let poll = NodeCalls(rawValue: 2)
    /// `latency`
    public static let latency = NodeCalls(rawValue: 4)
    /// `wait`
    public static let wait = NodeCalls(rawValue: 8)
    /// `isIdle`
    public static let idle = NodeCalls(rawValue: 16)
    /// `perform`
    public static let perform = NodeCalls(rawValue: 32)
    /// `set`
    public static let settings = NodeCalls(rawValue: 64)
    /// `finish`
    public static let finish = NodeCalls(rawValue: 128)
    /// Every one of them.
    public static let all: NodeCalls = [.receive, .poll, .latency, .wait, .idle, .perform, .settings, .finish]
}

/// The control half of a node: ordinary Swift, never on the audio thread. The host's calls for one node come one after
/// another, on whatever thread is free; one that takes long delays this node alone.
///
/// The audio half is `Processor`, a struct that the compiler proves to be free of references, and `AudioNode.process`, which
/// the compiler proves to be free of locks and allocations. What the processor points to
/// belongs to the control half, which frees it when it goes away.
///
/// Life: `init` -> `prepare` -> `activate` -> (processing) -> `finish` -> `deactivate` -> (`prepare` again when rate or
/// block size change) -> `deinit`.
public protocol Node: AnyObject {
    /// The audio half's state. Use `NoProcessor` for nodes without one.
    associatedtype Processor: BitwiseCopyable

    /// What the type says of itself.
    static var descriptor: NodeDescriptor { get }

    /// Which of the optional calls the type implements; all of them unless it says so.
    static var calls: NodeCalls { get }

    /// Checks the settings; cheap, takes no device, starts no thread. [control]
    init(settings: Settings, host: NodeHost) throws(NodeError)

    /// Ports and parameters of this node; fixed for its life. [control]
    var layout: Layout { get }

    /// Makes everything the processor needs. [control]
    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor

    /// Processing is about to begin. [control]
    func activate()

    /// Processing has ended. [control]
    func deactivate()

    /// A message for the message input `port` (index among those). [control]
    func receive(_ message: Message, port: Int)

    /// Called 60 to 120 times a second while active: move what the processor left in rings. [control]
    func poll()

    /// Frames between an input and the output it causes. [control]
    var latency: Int { get }

    /// Offline only: returns when `frames` can be processed without a gap. [control]
    func wait(frames: Int)

    /// False while the node has something of its own left to play, also before it is prepared. [control]
    var isIdle: Bool { get }

    /// Does an action that the descriptor declares; the arguments were checked. What it returns goes into `call`, which
    /// may also be ended later. Throws when it cannot be done, and nothing has changed. [control]
    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError)

    /// Changes a setting that is declared live; the value was checked. [control]
    func set(_ setting: String, to value: SettingValue) throws(NodeError)

    /// How its streams are, of a type that declares some. [any]
    var streamState: StreamState { get }

    /// Opens a stream for a client that has so many channels at `rate` in Hz. [any]
    func openStream(rate: Double, channels: Int, client: String) throws(NodeError) -> any ClientStream

    /// The node's audio has ended for good: finish what it holds, such as the head of a file. Messages that it sends now
    /// still arrive. [control]
    func finish()
}

extension Node {
    /// All, to be safe.
    public static var calls: NodeCalls { .all }
    /// The type's own layout.
    public var layout: Layout { Self.descriptor.layout }
    /// Nothing to do.
    public func activate() {}
    /// Nothing to do.
    public func deactivate() {}
    /// Messages are ignored.
    public func receive(_ message: Message, port: Int) {}
    /// Nothing to do.
    public func poll() {}
    /// None.
    public var latency: Int { 0 }
    /// Always ready.
    public func wait(frames: Int) {}
    /// Always idle.
    public var isIdle: Bool { true }
    /// There are none.
    public func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        throw NodeError("there is no action '\(action)'")
    }
    /// None is live.
    public func set(_ setting: String, to value: SettingValue) throws(NodeError) {
        throw NodeError("'\(setting)' cannot be changed while it plays")
    }
    /// There are none.
    public var streamState: StreamState { StreamState() }
    /// There are none.
    public func openStream(rate: Double, channels: Int, client: String) throws(NodeError) -> any ClientStream {
        throw NodeError("it has no streams")
    }
    /// Nothing to do.
    public func finish() {}
}

/// A node with an audio half.
///
///     process: { Gain.process($0, $1, $2) }
///
/// in its descriptor tells the host of it: what C can call knows its type.
public protocol AudioNode: Node {
    /// Processes one block. Mark it `@_noLocks`, so that the compiler refuses whatever could block the audio thread. [audio]
    static func process(_ state: inout Processor, _ block: borrowing Block)
}

extension AudioNode {
    /// What `descriptor.process` calls; transparent, so that also a build for debugging calls the node's own function, not a
    /// generic one. [audio]
    @_transparent
    public static func process(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
        process(&memory.assumingMemoryBound(to: Processor.self).pointee, Block(io, cycle))
    }
}

/// An audio node that may close a feedback loop: there `process` is called before the input of the block is there, and
/// `absorb` when it is.
public protocol LoopNode: AudioNode {
    /// Takes the input of a block. Mark it `@_noLocks`. [audio]
    static func absorb(_ state: inout Processor, _ block: borrowing Block)
}

extension LoopNode {
    /// What `descriptor.absorb` calls. [audio]
    @_transparent
    public static func absorb(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
        absorb(&memory.assumingMemoryBound(to: Processor.self).pointee, Block(io, cycle))
    }
}

/// The processor of a node without an audio half.
public struct NoProcessor: BitwiseCopyable, Sendable {
    /// Nothing.
    public init() {}
}
