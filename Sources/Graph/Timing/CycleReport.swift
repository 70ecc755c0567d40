// SPDX-License-Identifier: Apache-2.0

/// What one cycle did, kept because it was late or the slowest of its time. Times are in seconds.
public struct CycleReport: Sendable, Equatable {
    /// A node, or several light ones in a row that are timed together.
    public struct Part: Sendable, Equatable {
        /// The nodes' names; none for sums and delays between nodes.
        public var nodes: [String]
        /// Time in this cycle.
        public var took: Double
        /// Mean of the cycles before; 0 if there were none.
        public var average: Double
        /// What 99 of 100 cycles before did not exceed.
        public var p99: Double

        /// Describes a part.
        public init(nodes: [String], took: Double, average: Double, p99: Double) {
            self.nodes = nodes
            self.took = took
            self.average = average
            self.p99 = p99
        }

        /// Time beyond the mean.
        public var excess: Double { took - average }
    }

    /// Of the first frame, in frames since the start.
    public var position: UInt64
    /// Frames in the cycle.
    public var frames: Int
    /// When the engine was called, in ticks of the processor's counter.
    public var started: UInt64
    /// When it was done, in ticks.
    public var ended: UInt64
    /// Time in the engine.
    public var busy: Double
    /// The time that the frames last.
    public var period: Double
    /// How much later than it should have the call came, by what the cycle before took and lasted.
    public var lateness: Double
    /// Time between the beginning of the driver's cycle and the call; 0: the driver does not say.
    public var delay: Double
    /// Frames by which the driver's time went on without us before this cycle.
    public var skipped: Int
    /// What took longest beyond its mean first, then what took longest at all: some, not all.
    public var parts: [Part]
    /// The sum of all parts' means.
    public var usual: Double

    /// Describes a cycle.
    public init(
        position: UInt64 = 0, frames: Int, started: UInt64 = 0, ended: UInt64 = 0, busy: Double, period: Double,
        lateness: Double = 0, delay: Double = 0, skipped: Int = 0, parts: [Part] = [], usual: Double = 0
    ) {
        self.position = position
        self.frames = frames
        self.started = started
        self.ended = ended
        self.busy = busy
        self.period = period
        self.lateness = lateness
        self.delay = delay
        self.skipped = skipped
        self.parts = parts
        self.usual = usual
    }

    /// Whether it took longer than its frames last.
    public var isOverrun: Bool { busy > period }
    /// Whether it was called a period or more after it should have been.
    public var isCalledLate: Bool { lateness > period }
    /// When it was done, as a share of the period, from when the driver's cycle began.
    public var finish: Double { period > 0 ? (delay + busy) / period : 0 }
}
