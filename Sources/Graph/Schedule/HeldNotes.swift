// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit
import Synchronization

/// A MIDI link by what it joins, whichever graph it is in.
struct NoteLink: Hashable, Comparable {
    /// Numbers of the nodes, which no other node ever has.
    var from: UInt32
    var to: UInt32
    /// Ranks among the MIDI outputs and inputs.
    var output: Int
    var input: Int
    /// Whether the source is bypassed, so that other events come.
    var passes: Bool

    static func < (a: Self, b: Self) -> Bool {
        (a.to, a.input, a.from, a.output, a.passes ? 1 : 0) < (b.to, b.input, b.from, b.output, b.passes ? 1 : 0)
    }
}

/// The notes that sound through a link, and the pedals that are down. Schedules that follow each other share it.
final class HeldNotes: @unchecked Sendable {
    // Sendable: only the audio thread touches the table, in whichever schedule it runs.
    let table = NoteTable.make()

    deinit { NoteTable.free(table) }
}

/// Follows the notes of one link.
struct FollowTerm: BitwiseCopyable {
    var source: UnsafeMutablePointer<vg_midi>
    var table: UnsafeMutablePointer<NoteTable>
}

struct FollowState: BitwiseCopyable {
    var terms: UnsafeMutablePointer<FollowTerm>
    var count: Int
}

/// Notes what the links into one input leave sounding.
@_noLocks
func followStep(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: FollowState.self)
    for index in 0..<state.pointee.count {
        let term = state.pointee.terms + index
        NoteTable.follow(term.pointee.table, term.pointee.source)
    }
}

/// Links into one input that have ended, and those that go on.
struct EndingState: BitwiseCopyable {
    var ended: UnsafeMutablePointer<UnsafeMutablePointer<NoteTable>>
    var endedCount: Int
    var live: UnsafeMutablePointer<UnsafeMutablePointer<NoteTable>>
    var liveCount: Int
    /// Inputs of this schedule at which something is still to end.
    var left: UnsafeMutablePointer<Atomic<Int>>
    var isDone = false
}

/// Ends the notes that sound through links that are gone, unless another link into the same input holds them too.
/// Events that do not fit into half a buffer follow in the next blocks.
@_noLocks
func endNotes(_ state: UnsafeMutablePointer<EndingState>, _ target: UnsafeMutablePointer<vg_midi>) {
    if state.pointee.isDone { return }
    for index in 0..<state.pointee.endedCount {
        if !NoteTable.end(
            state.pointee.ended[index], but: state.pointee.live, state.pointee.liveCount, in: target,
            room: target.pointee.capacity / 2)
        {
            return
        }
    }
    state.pointee.isDone = true
    state.pointee.left.pointee.subtract(1, ordering: .releasing)
}

extension ResolvedGraph {
    /// Whether a MIDI link carries anything.
    func carries(_ link: Link) -> Bool {
        if nodes[link.fromNode].outputMode == .muted { return false }
        // A node that has only inputs is muted by giving it nothing.
        let to = nodes[link.toNode]
        guard to.outputMode == .muted else { return true }
        return to.instance.count(VG_AUDIO_PORT, VG_OUTPUT) + to.instance.count(VG_MIDI_PORT, VG_OUTPUT) > 0
    }

    /// The name of a MIDI link.
    func noteLink(_ link: Link) -> NoteLink? {
        guard link.portKind == VG_MIDI_PORT, case .port(let port) = link.target else { return nil }
        let (from, to) = (nodes[link.fromNode], nodes[link.toNode])
        return NoteLink(
            from: from.instance.number, to: to.instance.number, output: from.instance.rank(ofOutput: link.fromPort),
            input: to.instance.ports[..<port].count { $0.kind == VG_MIDI_PORT && $0.direction == VG_INPUT },
            passes: from.outputMode == .bypassed)
    }

    /// The links of the previous graph that this one does not have; their receivers go on without them.
    func ended(of before: some Sequence<NoteLink>) -> [NoteLink] {
        let before = Set(before)
        if before.isEmpty { return [] }
        let live = Set(links.lazy.filter { carries($0) }.compactMap { noteLink($0) })
        let receivers = Set(nodes.lazy.map(\.instance.number))
        return before.filter { !live.contains($0) && receivers.contains($0.to) }.sorted()
    }
}
