// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit
import Realtime

/// Blocks in which parameters follow controls. A control has one value a block, so what follows it would depend on how long
/// blocks are. Therefore a move of such a parameter begins only where the graph's time is a multiple of the schedule's
/// `grid`, and a block that goes beyond such a point is run in pieces that do not.
extension AudioEngine {
    /// Runs a block piece by piece. [audio]
    @_noLocks
    func runPieces(_ header: UnsafeMutablePointer<ScheduleHeader>, _ frames: Int, detailed: Bool) -> Timed {
        let cycle = state.pointee.cycle
        let position = cycle.pointee.position
        let clock = cycle.pointee.clock
        let transport = cycle.pointee.transport
        var length = piece(position, frames, header.pointee.grid)
        if length == frames { return runPiece(header, frames, detailed: detailed) }
        takeExternals(header)
        let stampCount = detailed ? header.pointee.stepCount : header.pointee.segmentCount
        for index in 0..<stampCount { header.pointee.lengths[index] = 0 }
        var timed = Timed(stamps: 0, detailed: false)
        var start = 0
        while true {
            cycle.pointee.frames = UInt32(truncatingIfNeeded: length)
            cycle.pointee.position = position &+ UInt64(start)
            cycle.pointee.clock = clock &+ UInt64(start)
            cycle.pointee.transport = later(transport, by: start, rate: header.pointee.rate)
            state.pointee.shared.pointee.position.store(cycle.pointee.position, ordering: .relaxed)
            // Parameters have moved since the piece before, and buffers lie elsewhere.
            state.pointee.revision &+= 1
            place(header, start, length)
            let began = vg_ticks()
            timed = runPiece(header, length, detailed: detailed)
            addLengths(header, timed, began)
            collect(header, start)
            cycle.pointee.skipped = 0
            start &+= length
            if start >= frames { break }
            length = piece(position &+ UInt64(start), frames &- start, header.pointee.grid)
        }
        giveExternals(header)
        for index in 0..<stampCount { header.pointee.stamps[index] = header.pointee.lengths[index] }
        timed.hasLengths = true
        return timed
    }

    /// The frames until the grid's next point, or until the block ends.
    @_noLocks
    private func piece(_ position: UInt64, _ frames: Int, _ grid: Int) -> Int {
        let rest = grid &- Int(truncatingIfNeeded: position & UInt64(truncatingIfNeeded: grid &- 1))
        return rest < frames ? rest : frames
    }

    /// The transport so many frames later.
    @_noLocks
    private func later(_ transport: vg_transport, by frames: Int, rate: Double) -> vg_transport {
        guard transport.rolling else { return transport }
        var moved = transport
        moved.frame &+= UInt64(frames)
        moved.beat += Double(frames) / rate * transport.bpm / 60
        return moved
    }

    /// Adds up what each part took in this piece.
    @_noLocks
    private func addLengths(_ header: UnsafeMutablePointer<ScheduleHeader>, _ timed: Timed, _ began: UInt64) {
        let (stamps, lengths) = (header.pointee.stamps, header.pointee.lengths)
        if timed.hasLengths {
            for index in 0..<timed.stamps { lengths[index] &+= stamps[index] }
            return
        }
        if timed.stamps > 0 { stamps[timed.stamps &- 1] = vg_ticks() }
        var before = began
        for index in 0..<timed.stamps {
            lengths[index] &+= stamps[index] &- before
            before = stamps[index]
        }
    }
}

/// Buffers of the driver, of which each piece sees its part.
extension AudioEngine {
    /// Remembers where they are.
    @_noLocks
    private func takeExternals(_ header: UnsafeMutablePointer<ScheduleHeader>) {
        for index in 0..<header.pointee.externalCount {
            let slot = header.pointee.externals + index
            slot.pointee.whole = slot.pointee.bound
            if let midi = slot.pointee.midi { slot.pointee.wholeMIDI = midi.pointee }
            slot.pointee.events = 0
            slot.pointee.bytes = 0
        }
    }

    /// Shows the nodes `length` frames from `start` on.
    @_noLocks
    private func place(_ header: UnsafeMutablePointer<ScheduleHeader>, _ start: Int, _ length: Int) {
        for index in 0..<header.pointee.externalCount {
            let slot = header.pointee.externals + index
            if let midi = slot.pointee.midi {
                show(slot, midi, start, length)
            } else if let whole = slot.pointee.whole {
                point(slot, to: whole + start)
            }
        }
    }

    @_noLocks
    private func point(_ slot: UnsafeMutablePointer<ExternalSlot>, to buffer: UnsafeMutablePointer<Float>) {
        slot.pointee.bound = buffer
        for follower in 0..<slot.pointee.followerCount { slot.pointee.followers[follower].pointee = buffer }
    }

    /// What comes in: the events of these frames. What goes out: room behind what went out before.
    @_noLocks
    private func show(
        _ slot: UnsafeMutablePointer<ExternalSlot>, _ midi: UnsafeMutablePointer<vg_midi>, _ start: Int, _ length: Int
    ) {
        let first = slot.pointee.events
        midi.pointee.events = slot.pointee.wholeMIDI.events + Int(first)
        if !slot.pointee.isCapture {
            midi.pointee.capacity = slot.pointee.wholeMIDI.capacity &- first
            midi.pointee.bytes = slot.pointee.wholeMIDI.bytes + Int(slot.pointee.bytes)
            midi.pointee.byte_capacity = slot.pointee.wholeMIDI.byte_capacity &- slot.pointee.bytes
            return
        }
        let end = UInt32(truncatingIfNeeded: start &+ length)
        var count: UInt32 = 0
        while first &+ count < slot.pointee.wholeMIDI.count, midi.pointee.events[Int(count)].frame < end {
            midi.pointee.events[Int(count)].frame &-= UInt32(truncatingIfNeeded: start)
            count &+= 1
        }
        midi.pointee.count = count
        slot.pointee.events = first &+ count
    }

    /// Keeps what went out in this piece.
    @_noLocks
    private func collect(_ header: UnsafeMutablePointer<ScheduleHeader>, _ start: Int) {
        for index in 0..<header.pointee.externalCount {
            let slot = header.pointee.externals + index
            guard let midi = slot.pointee.midi, !slot.pointee.isCapture else { continue }
            for event in 0..<Int(midi.pointee.count) {
                midi.pointee.events[event].frame &+= UInt32(truncatingIfNeeded: start)
                midi.pointee.events[event].offset &+= slot.pointee.bytes
            }
            slot.pointee.events &+= midi.pointee.count
            slot.pointee.bytes &+= midi.pointee.used
        }
    }

    /// Shows the driver its whole buffers again.
    @_noLocks
    private func giveExternals(_ header: UnsafeMutablePointer<ScheduleHeader>) {
        for index in 0..<header.pointee.externalCount {
            let slot = header.pointee.externals + index
            if let whole = slot.pointee.whole { point(slot, to: whole) }
            guard let midi = slot.pointee.midi else { continue }
            let dropped = midi.pointee.dropped
            midi.pointee = slot.pointee.wholeMIDI
            midi.pointee.dropped = dropped
            if !slot.pointee.isCapture {
                midi.pointee.count = slot.pointee.events
                midi.pointee.used = slot.pointee.bytes
            }
        }
    }
}
