// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit
import Synchronization

/// One entry of the flat list that the audio thread walks.
struct ScheduleStep: BitwiseCopyable {
    var process: vg_process_function
    var state: UnsafeMutableRawPointer
    var io: UnsafePointer<vg_io>
    /// Where to leave when it ended, if it is the last of its segment.
    var stamp: UnsafeMutablePointer<UInt64>?
}

/// A driver's port in a schedule.
struct ExternalSlot: BitwiseCopyable {
    /// What the driver returned for the port.
    var handle: UnsafeMutableRawPointer?
    /// The buffer that the slots point to now.
    var bound: UnsafeMutablePointer<Float>?
    /// Pointers that must follow the buffer.
    var followers: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<Float>?>>
    var followerCount: Int
    var midi: UnsafeMutablePointer<vg_midi>?
    var isCapture: Bool
    /// While a block is run in pieces: the whole buffers, and the events and bytes of them that pieces have had.
    var whole: UnsafeMutablePointer<Float>?
    var wholeMIDI = vg_midi()
    var events: UInt32 = 0
    var bytes: UInt32 = 0
}

/// Everything the audio thread reads of a schedule, in one place.
struct ScheduleHeader: BitwiseCopyable {
    var steps: UnsafeMutablePointer<ScheduleStep>
    var stepCount: Int
    /// Where each segment ends: the index after its last step.
    var segmentEnds: UnsafeMutablePointer<Int>
    var segmentCount: Int
    /// Whether single steps are timed now and then, because some segments have several.
    var hasDetails: Bool
    /// What can be shared with helpers, if it has been found to pay.
    var tasks: ScheduleTasks
    var sharing = Sharing()
    /// The record of the cycle that runs, and right after it when each of its segments or steps ended.
    var record: UnsafeMutablePointer<CycleLine>
    var stamps: UnsafeMutablePointer<UInt64>
    /// The schedule's number, as records name it.
    var number: UInt32 = 0
    /// Of the processor's counter, per frame.
    var ticksPerFrame = 0.0
    /// Ticks of work in a block that are worth sharing.
    var leastShared = 0.0
    var externals: UnsafeMutablePointer<ExternalSlot>
    var externalCount: Int
    /// One per value, cleared before each cycle.
    var silenceFlags: UnsafeMutablePointer<UInt8>
    var silenceCount: Int
    /// All MIDI buffers; first those that nodes write, emptied before each cycle.
    var midi: UnsafeMutablePointer<UnsafeMutablePointer<vg_midi>>
    var midiCount: Int
    var writtenMIDICount: Int
    /// Parameters that follow controls.
    var driven: UnsafeMutablePointer<UnsafeMutablePointer<vg_ramp>>
    var drivenCount: Int
    /// Frames from one point of time at which they may begin to move to the next, a power of two; 0: there are none.
    var grid: Int
    /// As many as `stamps`, if there is a grid: what parts have taken in the pieces of a block.
    var lengths: UnsafeMutablePointer<UInt64>
    var maxBlock: Int
    var rate: Double
    /// The `Schedule` that owns all this, to be handed back when it is replaced.
    var owner: UnsafeMutableRawPointer
    /// Parameters of nodes that the schedule before had and this one has not, by address: their ramps end.
    var forgotten: UnsafeMutablePointer<RampRange>
    var forgottenCount: Int
    /// A driver's buffer lies elsewhere since the last cycle.
    var boundAnew = false
}

/// The parameters of one node.
struct RampRange: BitwiseCopyable {
    var start: UnsafeMutablePointer<vg_ramp>
    var count: Int
}

/// A compiled graph: flat memory, fixed when made, freed when nobody runs it any more. Keeps its nodes alive.
public final class Schedule: @unchecked Sendable {
    // Sendable: after init only the audio thread touches the memory, until the schedule comes back.

    /// Frames per second it was made for.
    public let rate: Double
    /// The longest block it can run.
    public let maxBlock: Int
    /// The driver's ports it needs, in the order in which `handles` were given.
    public let externals: [ExternalPort]
    /// The nodes, in the order of the file.
    public let nodes: [NodeInstance]
    /// Steps that the audio thread walks.
    public let stepCount: Int
    /// Samples buffers of its own.
    public let bufferCount: Int
    /// Threads that it can use, with the audio thread; 1: its nodes run one after the other.
    public let threads: Int
    /// Delay lines that align parallel paths.
    public var delayLines: Int { lines.count }

    /// The graph that it runs, with the frames that each of its links waits.
    public let graph: ResolvedGraph
    let waits: [Int]
    /// Frames by which each node lags behind the graph's inputs.
    let arrival: [Int]
    let lines: [Plan.Line: DelayLine]
    private let settled: UnsafeMutablePointer<Atomic<Bool>>?
    /// What sounds through its MIDI links, and through those that end with it.
    private let notes: [NoteLink: HeldNotes]
    private let endedLinks: [NoteLink]
    /// MIDI inputs at which something is still to end; nil: none.
    private let unended: UnsafeMutablePointer<Atomic<Int>>?

    let header: UnsafeMutablePointer<ScheduleHeader>
    /// Counts schedules in the order in which they are published; the engine's, under its lock.
    public internal(set) var number = 0
    /// How its steps are timed.
    let segments: [Segment]
    /// What each step does for which node; nil: work between nodes.
    let roles: [Plan.Role?]
    private let arena: Arena
    private let ios: [UnsafePointer<vg_io>]

    init(
        _ planned: Plan, _ graph: ResolvedGraph, rate: Double, maxBlock: Int, handles: [UnsafeMutableRawPointer?],
        after previous: Schedule? = nil
    ) {
        let plan = planned.joiningGuards(graph)
        self.graph = graph
        waits = plan.waits
        arrival = plan.arrival
        self.rate = rate
        self.maxBlock = maxBlock
        externals = plan.externals
        nodes = graph.nodes.map(\.instance)
        stepCount = plan.steps.count
        bufferCount = plan.poolCount
        threads = plan.tasks?.threads ?? 1
        arena = Arena()
        segments = plan.segments(graph)
        roles = plan.steps.map(\.role)
        lines = plan.lines.values.reduce(into: [:]) { made, line in
            made[line] = previous?.lines[line] ?? DelayLine(frames: line.frames)
        }
        var clock: UnsafeMutablePointer<FadeClock>?
        var settled: UnsafeMutablePointer<Atomic<Bool>>?
        if let fades = graph.fades {
            let flag = arena.make(Atomic<Bool>.self, 1)
            flag.initialize(to: Atomic(false))
            clock = arena.copy([FadeClock(fades, ramp: Int(rate * Schedule.fadeTime), settled: flag)])
            settled = flag
        }
        self.settled = settled
        notes = plan.inlets.reduce(into: [:]) { made, inlet in
            for link in inlet.live.map(\.link) + inlet.ended {
                made[link] = made[link] ?? previous?.notes[link] ?? HeldNotes()
            }
        }
        endedLinks = plan.inlets.flatMap(\.ended)
        var unended: UnsafeMutablePointer<Atomic<Int>>?
        if !endedLinks.isEmpty {
            let count = arena.make(Atomic<Int>.self, 1)
            count.initialize(to: Atomic(plan.inlets.count { !$0.ended.isEmpty }))
            unended = count
        }
        self.unended = unended
        var builder = ScheduleBuilder(
            plan, graph, arena, rate: rate, maxBlock: maxBlock, clock: clock, lines: lines, notes: notes,
            unended: unended)
        header = builder.build(segments, handles: handles)
        ios = builder.ios
        header.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
    }

    /// How long links fade, in seconds.
    static let fadeTime = 0.01

    /// Frames that a parameter takes to go where a control wants it: the first power of two that lasts 5 ms or longer, so
    /// that a step of a control is no click, as fast as an attack has to be.
    static func grid(_ rate: Double) -> Int {
        var frames = 16
        while Double(frames) < rate / 200 { frames *= 2 }
        return frames
    }

    /// Work per block that is worth sharing, in seconds: waking a helper takes some microseconds.
    static let leastShared = 15e-6

    /// How long a thread that waits for the others' part of a block goes on looking before it sleeps, in seconds.
    static let patience = 25e-6

    /// Whether no fade is under way any more. [control]
    public var isSettled: Bool { settled?.pointee.load(ordering: .acquiring) ?? true }

    /// MIDI links through which notes may sound, those that ended with it among them until they did. [control]
    var soundingLinks: [NoteLink] {
        let isOver = unended?.pointee.load(ordering: .acquiring) ?? 0 == 0
        return notes.keys.filter { link in !isOver || !endedLinks.contains(link) }
    }

    /// Replaces the driver's handles, before the schedule runs. [control]
    public func setHandles(_ handles: [UnsafeMutableRawPointer?]) {
        for (index, handle) in handles.enumerated() where index < header.pointee.externalCount {
            header.pointee.externals[index].handle = handle
        }
    }

    /// Shares every block, however little there is to do, before it runs; for tests. [control]
    func forceSharing() { header.pointee.sharing.isForced = true }

    /// Where processors leave their notes, before it runs. [control]
    func setNotes(_ sink: UnsafePointer<vg_notice_sink>) {
        for io in ios { UnsafeMutablePointer(mutating: io).pointee.notices = sink }
    }

    /// Tells which nodes the schedule before had and this one has not, before it runs. [control]
    func forget(_ ramps: [RampRange]) {
        header.pointee.forgotten = arena.copy(ramps)
        header.pointee.forgottenCount = ramps.count
    }
}

/// Memory that is made piece by piece and freed at once.
final class Arena {
    private var pieces: [UnsafeMutableRawPointer] = []

    deinit { for piece in pieces { piece.deallocate() } }

    /// Zeroed memory, aligned for vectors.
    func make<T>(_ type: T.Type, _ count: Int) -> UnsafeMutablePointer<T> where T: ~Copyable {
        let bytes = max(1, count) * MemoryLayout<T>.stride
        let piece = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
        piece.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
        pieces.append(piece)
        return piece.bindMemory(to: T.self, capacity: max(1, count))
    }

    func copy<T: BitwiseCopyable>(_ items: [T]) -> UnsafeMutablePointer<T> {
        let memory = make(T.self, items.count)
        memory.initialize(from: items, count: items.count)
        return memory
    }
}
