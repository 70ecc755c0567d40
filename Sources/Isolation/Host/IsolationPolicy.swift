// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import System

/// How isolated nodes are run and looked after. Times are in seconds.
public struct IsolationPolicy: Sendable, Equatable {
    /// What is run: a program that calls `IsolatedChild.serve`, with the id of this process as its last argument.
    public var command: [String]
    /// The share of a block that the audio thread waits for a child.
    public var blockShare = 1.0 / 3
    /// How long a block is waited for when nobody listens.
    public var offlineWait = 10.0
    /// A child that owes a block for so long hangs, where it had a processor to work on it.
    public var hangTime = 0.15
    /// A child that does not come back from any other call for so long hangs.
    public var patience = 10.0
    /// After so long a saved state holds what was set before: until then plugins may still be at work on it.
    public var settling = 5.0
    /// Between two times that the state of a node is kept.
    public var saveInterval = 2.0
    /// Before the second restart; each later one waits twice as long, up to `longestPause`. The first waits not at all.
    public var firstPause = 0.1
    /// The longest time before a restart.
    public var longestPause = 5.0
    /// A child that lasts so long is restarted at once again.
    public var calm = 10.0
    /// All the memory that a child may have, in bytes.
    public var memory: UInt64 = 2 << 30
    /// Computing without a pause at realtime priority, after which the kernel ends a child.
    public var realtimeLimit = 0.15

    /// How long to wait before a restart, after so many failures without a long life between them.
    func pause(_ failures: Int) -> Double {
        failures < 2 ? 0 : min(longestPause, firstPause * Double(1 << min(16, failures - 2)))
    }

    /// The usual times.
    public init(command: [String]) { self.command = command }
}

/// How this program isolates nodes. Off until it is told what to run, so that a program that embeds the host decides.
public final class Isolation: Sendable {
    /// The one that graphs use.
    public static let shared = Isolation()

    private let current = Lock<IsolationPolicy?>(nil)

    /// One without a command.
    public init() {}

    /// From now on children run `policy.command`. [control]
    public func use(_ policy: IsolationPolicy) { current.withLock { $0 = policy } }

    /// What was chosen; nil: nothing yet. [any]
    public var policy: IsolationPolicy? { current.withLock { $0 } }
}
