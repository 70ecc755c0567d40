// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit
import Realtime
import Synchronization
import System

/// What a guard has seen of one node, for both sides; lives as long as the node, since schedules come and go.
struct GuardFindings: ~Copyable {
    /// First, where `vg_guard.attention` points to: why good blocks are looked at thoroughly too; see `GuardAttention`.
    let attention = Atomic<UInt32>(0)
    /// Blocks that were not fit to be heard.
    let badBlocks = Atomic<UInt64>(0)
    /// Of the last of them, the largest sample as bits: what is above infinity's is no number.
    let worst = Atomic<UInt32>(0)
    /// Whether the node is silenced now.
    let isClosed = Atomic<Bool>(false)
    /// The loudest sample since somebody looked, as bits; `nothing`: no block was measured.
    let loudest = Atomic<UInt32>(nothing)

    /// More than the bits of any sample without its sign.
    static var nothing: UInt32 { @_noLocks get { .max } }
}

/// The reasons why more than a check of the block is needed. The step in C sees only whether there is any.
enum GuardAttention {
    /// The node is not, or not wholly, heard. Left by the audio thread.
    static var closed: UInt32 { @_noLocks get { 1 } }
    /// Somebody wants to know how loud the node is. Left by the control side.
    static var measured: UInt32 { @_noLocks get { 2 } }
    /// Whether there is anything.
    static var any: UInt32 { @_noLocks get { UInt32(VG_ATTENTION) } }
}

/// What the audio thread alone keeps of a guard. It is a type of its own because changing one part of a structure
/// counts as changing all of it.
struct GuardState: ~Copyable {
    let findings: UnsafeMutablePointer<GuardFindings>
    /// The last sample that was heard of each channel, from which a bad block decays.
    let last: UnsafeMutablePointer<Float>
    /// Frames of the fade until the node is wholly heard; 0: it is.
    var closed = 0
    /// Frames for which `last` still decays.
    var rest = 0
    /// Good frames that are still wanted before the node is heard again.
    var wait = 0

    private let channels: Int

    init(_ findings: UnsafeMutablePointer<GuardFindings>, channels: Int) {
        self.findings = findings
        self.channels = channels
        last = AudioMemory.make(count: channels)
        last.initialize(repeating: 0, count: channels)
    }

    deinit { AudioMemory.free(last, count: channels) }
}

/// What a guard found.
public struct GuardReading: Sendable, Equatable {
    /// Blocks that were not fit to be heard.
    public var badBlocks: UInt64
    /// Whether the node is silenced now.
    public var isClosed: Bool
    /// What was wrong with the last bad block.
    public var reason: String
}

extension NodeInstance {
    /// What the guard behind this node found. [any]
    public var guardReading: GuardReading {
        let worst = Float(bitPattern: guardFindings.pointee.worst.load(ordering: .relaxed))
        let reason =
            worst.isNaN
            ? "its output is not a number"
            : worst.isInfinite ? "its output is infinite" : "its output is above +24 dBFS"
        return GuardReading(
            badBlocks: guardFindings.pointee.badBlocks.load(ordering: .relaxed),
            isClosed: guardFindings.pointee.isClosed.load(ordering: .relaxed), reason: reason)
    }
}

/// A guard in a schedule: what it needs for blocks that it has to change. For others `vg_guard` is enough.
struct GuardStepState: BitwiseCopyable {
    var isUnfit: vg_unfit_function
    var node: UnsafeMutablePointer<GuardState>
    /// One pointer to samples per channel.
    var channels: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
    var silent: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>
    /// Of a capture node, whose buffers are not ours to write: the driver's ports, and buffers to use instead.
    var slots: UnsafeMutablePointer<UnsafeMutablePointer<ExternalSlot>?>
    var count: Int
    var spare: UnsafeMutablePointer<Float>?
    var stride: Int
    var rate: Double

    /// The part that the step in C begins with; this guard must stay where it is.
    static func code(_ state: UnsafeMutablePointer<GuardStepState>) -> vg_guard {
        let node = state.pointee.node
        return vg_guard(
            is_unfit: state.pointee.isUnfit, thorough: guardBlock, owner: state,
            attention: UnsafeRawPointer(node.pointee.findings).assumingMemoryBound(to: UInt32.self),
            channels: UnsafePointer(state.pointee.channels),
            silent: UnsafeRawPointer(state.pointee.silent).assumingMemoryBound(to: UnsafePointer<UInt8>?.self),
            last: node.pointee.last, count: state.pointee.count)
    }
}

/// Silences a node from the first frame that is not a number, infinite, or above +24 dBFS until a tenth of a second after
/// the last. What was heard last decays within 10 ms, and what comes then rises as long: frame by frame, so that it is the
/// same at any block.
@_noLocks
func guardBlock(_ memory: UnsafeMutableRawPointer, _ frames: UInt32) {
    let state = memory.assumingMemoryBound(to: GuardStepState.self)
    let node = state.pointee.node
    let attention = node.pointee.findings.pointee.attention.load(ordering: .relaxed)
    var isBad = false
    for channel in 0..<state.pointee.count where state.pointee.silent[channel].unsafelyUnwrapped.pointee == 0 {
        let samples = state.pointee.channels[channel].unsafelyUnwrapped
        if vg_call_unfit(state.pointee.isUnfit, samples, frames) { isBad = true }
    }
    if !isBad, node.pointee.closed == 0 {
        for channel in 0..<state.pointee.count {
            node.pointee.last[channel] = state.pointee.channels[channel].unsafelyUnwrapped[Int(frames) &- 1]
        }
    } else {
        replace(state, isBad, Int(frames))
        tell(node)
    }
    if attention & GuardAttention.measured != 0 { measure(state, Int(frames)) }
}

/// Whether the next block needs this function too, or the short check is enough.
@_noLocks
private func tell(_ node: UnsafeMutablePointer<GuardState>) {
    let findings = node.pointee.findings
    if node.pointee.closed != 0 {
        _ = findings.pointee.attention.bitwiseOr(GuardAttention.any | GuardAttention.closed, ordering: .relaxed)
        return
    }
    var attention = findings.pointee.attention.load(ordering: .relaxed)
    while true {
        let left = attention & GuardAttention.measured
        let wanted = left == 0 ? 0 : left | GuardAttention.any
        let (exchanged, now) = findings.pointee.attention.weakCompareExchange(
            expected: attention, desired: wanted, ordering: .relaxed)
        if exchanged { return }
        attention = now
    }
}

/// A block in which the node is not, or not wholly, heard.
@_noLocks
private func replace(_ state: UnsafeMutablePointer<GuardStepState>, _ isBad: Bool, _ frames: Int) {
    let node = state.pointee.node
    if isBad { note(state, frames) }
    let fade = max(1, Int(state.pointee.rate / 100))
    let scale = 1 / Double(fade)
    for frame in 0..<frames {
        if isBad, isUnfit(state, frame) {
            // What is still heard begins to decay.
            if node.pointee.closed < fade { node.pointee.rest = fade }
            node.pointee.closed = fade
            node.pointee.wait = Int(state.pointee.rate / 10)
        } else if node.pointee.wait > 0 {
            node.pointee.wait &-= 1
        } else if node.pointee.closed > 0 {
            node.pointee.closed &-= 1
        }
        if node.pointee.rest > 0 { node.pointee.rest &-= 1 }
        let (closed, rest) = (node.pointee.closed, node.pointee.rest)
        let open = closed == fade ? 0 : closed == 0 ? 1 : Float(raisedCosine(Double(fade &- closed) * scale))
        let decay = rest == 0 ? 0 : Float(raisedCosine(Double(rest) * scale))
        for channel in 0..<state.pointee.count {
            let source = state.pointee.channels[channel].unsafelyUnwrapped
            let heard = closed == fade ? 0 : source[frame] * open
            let sample = heard + node.pointee.last[channel] * decay
            let target = state.pointee.slots[channel] == nil ? source : target(state, channel)
            target[frame] = sample
            if closed < fade, rest == 0 { node.pointee.last[channel] = sample }
        }
    }
    for channel in 0..<state.pointee.count {
        state.pointee.silent[channel].unsafelyUnwrapped.pointee = 0
        // From here on the buffer takes the place of the driver's.
        guard let slot = state.pointee.slots[channel] else { continue }
        let target = target(state, channel)
        slot.pointee.bound = target
        for follower in 0..<slot.pointee.followerCount { slot.pointee.followers[follower].pointee = target }
    }
    if node.pointee.closed == 0 { node.pointee.findings.pointee.isClosed.store(false, ordering: .relaxed) }
}

/// Where a channel of a capture node is written.
@_noLocks
private func target(_ state: UnsafeMutablePointer<GuardStepState>, _ channel: Int) -> UnsafeMutablePointer<Float> {
    state.pointee.spare.map { $0 + channel &* state.pointee.stride }
        ?? state.pointee.channels[channel].unsafelyUnwrapped
}

/// Whether a frame may not be heard.
@_noLocks
private func isUnfit(_ state: UnsafeMutablePointer<GuardStepState>, _ frame: Int) -> Bool {
    for channel in 0..<state.pointee.count where state.pointee.silent[channel].unsafelyUnwrapped.pointee == 0 {
        let bits = state.pointee.channels[channel].unsafelyUnwrapped[frame].bitPattern & 0x7FFF_FFFF
        if bits > UInt32(VG_LOUDEST_BITS) { return true }
    }
    return false
}

/// Keeps what was wrong with a block.
@_noLocks
private func note(_ state: UnsafeMutablePointer<GuardStepState>, _ frames: Int) {
    let findings = state.pointee.node.pointee.findings
    var worst: UInt32 = 0
    for channel in 0..<state.pointee.count where state.pointee.silent[channel].unsafelyUnwrapped.pointee == 0 {
        worst = max(worst, largestBits(state.pointee.channels[channel].unsafelyUnwrapped, frames))
    }
    findings.pointee.worst.store(worst, ordering: .relaxed)
    findings.pointee.badBlocks.store(findings.pointee.badBlocks.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    findings.pointee.isClosed.store(true, ordering: .relaxed)
}

extension ResolvedGraph.Node {
    /// The audio ports that are guarded, by rank: what a node gives, or what a port of the driver is given; not control
    /// voltages, and nothing of nodes that only make louder or quieter.
    var guarded: [Int] {
        guard description.isGuarded, instance.isExternal || instance.runs && !instance.isLight else { return [] }
        return audible
    }

    /// Those of a node without a guard that are measured while somebody listens.
    var measured: [Int] { guarded.isEmpty && instance.runs ? audible : [] }

    private var audible: [Int] {
        let direction = instance.count(VG_AUDIO_PORT, VG_OUTPUT) == 0 && instance.isExternal ? VG_INPUT : VG_OUTPUT
        let ports = instance.ports.filter { $0.kind == VG_AUDIO_PORT && $0.direction == direction }
        return ports.indices.filter { ports[$0].bus != "cv" }
    }

    /// Whether it and its guard can be one step: all that it gives is guarded, and its code has a short way.
    var joinsGuard: Bool {
        guard let foreign = instance.foreign else { return false }
        return guarded.count == instance.count(VG_AUDIO_PORT, VG_OUTPUT)
            && unsafeBitCast(foreign.pointee.steady, to: UInt.self)
                == unsafeBitCast(vg_foreign_choose(), to: UInt.self)
    }
}
