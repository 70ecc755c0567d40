// SPDX-License-Identifier: Apache-2.0
import Graph

/// Who calls the audio cycle: a JACK server, a timer, or the program itself (see `OfflineDriver`).
///
/// Life: open (initializer or `DriverChooser`) -> `register` -> `start` -> `register`/`retire` as the graph changes ->
/// `stop`. Every call but `start`'s events comes from the owner; calls may block for milliseconds, and those that ask
/// the server for as long as the server hangs. `info` and `status` never ask the server.
public protocol Driver: AnyObject, Sendable {
    /// What it is and how it runs; changes when a server comes back differently. [any]
    var info: DriverInfo { get }

    /// What is measured. [any]
    var status: DriverStatus { get }

    /// Frames from a sample that leaves the graph until it is heard, as far as the device tells. [any]
    var outputLatency: Int { get }

    /// The kernel's id of the audio thread; 0: there is none, or the program's own. [any]
    var audioThread: Int32 { get }

    /// Makes the ports that do not exist yet and returns a handle for each, in the order given. A port that exists
    /// with the same name, kind and direction is kept with its connections; of another kind it is replaced. Handles
    /// stay valid until the port is retired, also across the death of a server. [control]
    func register(_ ports: [ExternalPort]) throws(DriverError) -> [UnsafeMutableRawPointer?]

    /// Removes ports by name; the schedule that used them must be gone. Unknown ports are ignored. [control]
    func retire(_ ports: [ExternalPort])

    /// Tells how late what leaves is against what enters, for other programs to know; at any time, without waiting.
    /// [control]
    func setLatencies(_ routes: [LatencyRoute])

    /// What ports of a node, by their names, are connected to, as far as the driver knows; nil: it cannot tell just now, ask
    /// again. It may ask the server. [control]
    func connections(of ports: [String]) -> PortConnections?

    /// What other programs there are at the server, as far as the driver knows. [any]
    var otherPrograms: OtherPrograms { get }

    /// So many threads shall help the audio thread with what the engine shares, each scheduled as that is, from `start`
    /// on. [control]
    func setHelpers(_ count: Int)

    /// Keeps in memory what the audio thread is about to touch, where that is realtime: before a schedule with new nodes
    /// is handed over. [control]
    func lockMemory()

    /// Whether a block that is longer than a schedule was made for comes in pieces, so that another length is nothing to the
    /// nodes. [any]
    var dividesBlocks: Bool { get }

    /// Begins to call `engine`. `onEvent` is called from threads of the driver, never from the audio thread; for
    /// `rateOrBlockChanged` the audio waits until it returns. [control]
    func start(_ engine: AudioEngine, onEvent: @escaping @Sendable (DriverEvent) -> Void) throws(DriverError)

    /// Ends the calls: after the return `engine` is not used any more. A stopped driver cannot be started again.
    /// [control]
    func stop()
}

extension Driver {
    /// A driver without other programs has nobody to tell. [control]
    public func setLatencies(_ routes: [LatencyRoute]) {}

    /// A driver without other programs knows of none. [control]
    public func connections(of ports: [String]) -> PortConnections? { .unknown }

    /// A driver without a server has no other programs. [any]
    public var otherPrograms: OtherPrograms { OtherPrograms(exist: false, precede: false) }

    /// A driver that has no threads has no helpers either. [control]
    public func setHelpers(_ count: Int) {}

    /// Blocks come as they are.
    public var dividesBlocks: Bool { false }

    /// Without a realtime thread nothing has to stay. [control]
    public func lockMemory() {}

    /// Nobody listens. [any]
    public var outputLatency: Int { 0 }

    /// No thread of its own. [any]
    public var audioThread: Int32 { 0 }
}

/// What a node's ports are connected to.
public enum PortConnections: Sendable, Equatable {
    /// The driver cannot tell.
    case unknown
    /// The server has no port that could be connected to it.
    case missing
    /// Nothing is connected to any of them; `unmatched`: what `connect` names and is not there.
    case unconnected(unmatched: [String])
    /// Something is connected.
    case connected
}

/// What other programs there are at a server. Sound cards and what stands for them are none.
public struct OtherPrograms: Sendable, Equatable {
    /// Whether there are any.
    public var exist: Bool
    /// Whether this one hears any of them, so that the server calls it after that.
    public var precede: Bool

    /// Describes the others; where nothing is known of them, there may be some.
    public init(exist: Bool = true, precede: Bool = true) {
        self.exist = exist
        self.precede = precede
    }
}

/// What a driver is and how it runs.
public struct DriverInfo: Sendable, Equatable {
    /// What calls the cycle.
    public enum Kind: String, Sendable {
        /// A JACK server that was there before us.
        case jack
        /// PipeWire, through its libjack.
        case pipewire
        /// Our own `jackd -d alsa`.
        case alsa
        /// Our own `jackd -d dummy`.
        case dummy
        /// A thread of ours by the clock, without JACK.
        case timer
        /// The program, as fast as it can.
        case offline
    }

    /// What calls the cycle.
    public var kind: Kind
    /// The name of the JACK server, or of PipeWire's socket; empty without one.
    public var server = ""
    /// Whether the server is a child of this process.
    public var ownServer = false
    /// The JACK client's name as the server gave it; without a server as it was asked for.
    public var client = ""
    /// Hz.
    public var rate: Double
    /// Frames of a block; the largest, where it varies.
    public var block: Int
    /// What the user should know of the choice, such as that nothing will be heard, and what to do; may be empty.
    public var notice = ""

    /// Describes a driver.
    public init(
        kind: Kind, server: String = "", ownServer: Bool = false, client: String = "", rate: Double, block: Int,
        notice: String = ""
    ) {
        self.kind = kind
        self.server = server
        self.ownServer = ownServer
        self.client = client
        self.rate = rate
        self.block = block
        self.notice = notice
    }
}

/// How a driver does.
public struct DriverStatus: Sendable, Equatable {
    /// Whether audio flows.
    public enum State: String, Sendable {
        /// Not started yet, or stopped.
        case stopped
        /// Cycles come.
        case running
        /// No cycle for half a second, though the server is there.
        case stalled
        /// The server is gone; it is being looked for.
        case lost
        /// There has been no server yet; it is being looked for.
        case waiting
    }

    /// Whether audio flows.
    public var state: State = .stopped
    /// Cycles since the start.
    public var cycles: UInt64 = 0
    /// Dropouts since the start, as the server reports them or the timer sees them.
    public var xruns = 0
    /// The server's DSP load, 0...1; 0 without a server.
    public var load = 0.0
    /// How the audio thread is really scheduled.
    public var scheduling = Scheduling()

    /// A driver that has not started.
    public init() {}
}

/// What happens to a driver.
public enum DriverEvent: Sendable, Equatable {
    /// Cycles of another rate (Hz) or length (frames) will follow; audio waits until the event is handled, and whoever
    /// handles it must not call the driver.
    case rateOrBlockChanged(rate: Double, block: Int)
    /// A dropout. `delay`: seconds the driver was late; 0: a client was late.
    case xrun(delay: Double)
    /// No cycle for half a second, though the server is there.
    case stalled
    /// Cycles come again after `stalled`.
    case resumed
    /// The server is gone; the driver looks for it until it is back.
    case serverLost(reason: String)
    /// Audio flows again after `serverLost`.
    case serverBack
    /// A server that was not there at the start is, and audio flows through it.
    case serverFound
    /// The server had stopped calling us; we are active again.
    case reactivated
    /// A desired connection stands.
    case connected(from: String, to: String)
    /// The server did not make a desired connection; `isIgnored`: it said that it did.
    case connectionRefused(from: String, to: String, isIgnored: Bool)
    /// Nothing is connected any more to the ports that bring a node audio, or something is again.
    case source(node: String, isThere: Bool)
}
