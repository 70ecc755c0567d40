// SPDX-License-Identifier: Apache-2.0
import CJack
import CNode
import Graph
import Realtime
import Synchronization

/// All that the JACK process callback touches, at one address that outlives the client.
struct JackCycle: ~Copyable {
    /// The client that calls; changed only while none is active.
    var client: OpaquePointer?
    /// What runs; changed only while no client is active.
    var engine: AudioEngine?
    /// Our ports.
    let slots: JackSlots
    /// Whether the engine may be called.
    let enabled = Atomic(false)
    /// True while the callback runs.
    let inside = Atomic(false)
    /// Whether the server goes as fast as its programs do.
    let isFreewheeling = Atomic(false)
    /// Whether it did in the cycle before. Audio thread only.
    var wasFreewheeling = false
    /// Callbacks since the driver was made.
    let count = Atomic<UInt64>(0)
    /// The kernel's id of the audio thread; 0 until it runs, and set back before each activation.
    let thread = Atomic<Int32>(0)
    /// What the next callback answers, once. Only tests make it anything but 0.
    let answer = Atomic<Int32>(0)
    /// JACK's frame time, carried on past 32 bits. Audio thread only.
    var clock: UInt64 = 0

    init(slots: JackSlots) { self.slots = slots }
}

/// The longest cycle that is served; longer ones are silent.
var maxFrames: UInt32 { @_noLocks get { 16384 } }

/// JACK's process callback. It returns 0: anything else would end the client's life in the graph. [audio]
@_noLocks
func jackProcess(_ frames: UInt32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    vg_denormals_off()
    let cycle = argument.unsafelyUnwrapped.assumingMemoryBound(to: JackCycle.self)
    // In freewheel nobody hears it in time, and whoever processes may wait.
    let isFree = cycle.pointee.isFreewheeling.load(ordering: .relaxed)
    if !isFree { vg_realtime_enter() }
    if isFree != cycle.pointee.wasFreewheeling {
        cycle.pointee.wasFreewheeling = isFree
        cycle.pointee.engine?.resume()
    }
    // JACK's own callback for new threads comes from threads that never process as well.
    if cycle.pointee.thread.load(ordering: .relaxed) == 0 {
        cycle.pointee.thread.store(vg_thread_id(), ordering: .relaxed)
        // Before this we were not active, or there was no server.
        cycle.pointee.engine?.resume()
    }
    cycle.pointee.inside.store(true, ordering: .sequentiallyConsistent)
    let number = cycle.pointee.count.load(ordering: .relaxed) + 1
    if cycle.pointee.enabled.load(ordering: .sequentiallyConsistent), frames <= maxFrames,
        let engine = cycle.pointee.engine, let client = cycle.pointee.client
    {
        runCycle(cycle, engine, client, frames: frames, number: number)
    }
    silenceUnused(cycle.pointee.slots, frames: frames, number: number)
    cycle.pointee.count.store(number, ordering: .releasing)
    cycle.pointee.inside.store(false, ordering: .releasing)
    if !isFree { vg_realtime_exit() }
    if cycle.pointee.answer.load(ordering: .relaxed) == 0 { return 0 }
    return cycle.pointee.answer.exchange(0, ordering: .relaxed)
}

/// One cycle of a driver that has no server: nothing comes in, and what leaves is dropped. [audio]
@_noLocks
func runWithoutServer(_ cycle: UnsafeMutablePointer<JackCycle>, _ frames: Int, _ clock: UInt64, delay: UInt32) {
    if cycle.pointee.thread.load(ordering: .relaxed) == 0 {
        cycle.pointee.thread.store(vg_thread_id(), ordering: .relaxed)
        cycle.pointee.engine?.resume()
    }
    let number = cycle.pointee.count.load(ordering: .relaxed) + 1
    if cycle.pointee.enabled.load(ordering: .sequentiallyConsistent), let engine = cycle.pointee.engine {
        let schedule = engine.begin()
        let all = UInt32(truncatingIfNeeded: frames)
        bindPorts(schedule, Piece(start: 0, frames: all, block: all), number: number)
        engine.run(schedule, frames: frames, clock: clock, flags: 0, transport: vg_transport(), delay: delay)
    }
    cycle.pointee.count.store(number, ordering: .releasing)
}

/// A block that is longer than the nodes were prepared for is played in pieces, so that they go on as they are.
@_noLocks
private func runCycle(
    _ cycle: UnsafeMutablePointer<JackCycle>, _ engine: AudioEngine, _ client: OpaquePointer, frames: UInt32,
    number: UInt64
) {
    let delay = vg_jack_delay(client)
    let time = vg_jack_frame_time(client)
    cycle.pointee.clock &+= UInt64(time &- UInt32(truncatingIfNeeded: cycle.pointee.clock))
    let flags = cycle.pointee.wasFreewheeling ? UInt32(VG_CYCLE_FREEWHEEL) : 0
    var transport = jackTransport(client)
    var start: UInt32 = 0
    while start < frames {
        let schedule = engine.begin()
        let most = UInt32(truncatingIfNeeded: max(1, min(schedule.maxBlock, Int(maxFrames))))
        let piece = Piece(start: start, frames: min(frames &- start, most), block: frames)
        bindPorts(schedule, piece, number: number)
        engine.run(
            schedule, frames: Int(piece.frames), clock: cycle.pointee.clock &+ UInt64(start), flags: flags,
            transport: transport, delay: start == 0 ? delay : 0, block: frames)
        for port in 0..<schedule.externalCount where schedule.isMIDI(port) && !schedule.isCapture(port) {
            if let slot = jackSlot(schedule.handle(port)) { sendMIDI(slot, schedule.midi(port), piece) }
        }
        if transport.rolling { transport.frame &+= UInt64(piece.frames) }
        start &+= piece.frames
    }
}

/// A part of the server's block.
struct Piece: BitwiseCopyable {
    /// Where it begins.
    var start: UInt32
    var frames: UInt32
    /// Frames of the whole.
    var block: UInt32

    @_noLocks
    init(start: UInt32, frames: UInt32, block: UInt32) {
        self.start = start
        self.frames = frames
        self.block = block
    }
}

/// Gives the schedule the buffers of this cycle, and what came.
@_noLocks
private func bindPorts(_ schedule: ActiveSchedule, _ piece: Piece, number: UInt64) {
    for port in 0..<schedule.externalCount {
        guard let slot = jackSlot(schedule.handle(port)) else { continue }
        slot.pointee.usedIn = number
        if schedule.isMIDI(port) {
            if schedule.isCapture(port) { receiveMIDI(slot, schedule.midi(port), piece) }
        } else {
            schedule.bind(port, audioBuffer(slot, frames: piece.block) + Int(piece.start))
        }
    }
}

@_noLocks
private func jackSlot(_ handle: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<JackSlot>? {
    handle?.assumingMemoryBound(to: JackSlot.self)
}

/// The port's buffer of this cycle, or the slot's own where there is no port.
@_noLocks
private func audioBuffer(_ slot: UnsafeMutablePointer<JackSlot>, frames: UInt32) -> UnsafeMutablePointer<Float> {
    if let port = OpaquePointer(bitPattern: slot.pointee.port.load(ordering: .sequentiallyConsistent)),
        let buffer = vg_jack_buffer(port, frames)
    {
        return buffer.assumingMemoryBound(to: Float.self)
    }
    if slot.pointee.isCapture.load(ordering: .relaxed) { vg_zero(slot.pointee.spare, frames) }
    return slot.pointee.spare
}

@_noLocks
private func receiveMIDI(
    _ slot: UnsafeMutablePointer<JackSlot>, _ midi: UnsafeMutablePointer<vg_midi>, _ piece: Piece
) {
    midi.pointee.count = 0
    midi.pointee.used = 0
    defer { NoteTable.follow(slot.pointee.notes, midi) }
    if slot.pointee.endsNotes.load(ordering: .relaxed), slot.pointee.endsNotes.exchange(false, ordering: .acquiring) {
        slot.pointee.isEnding = true
    }
    if slot.pointee.isEnding {
        let room = midi.pointee.capacity / 2
        slot.pointee.isEnding = !NoteTable.end(slot.pointee.notes, but: nil, 0, in: midi, room: room)
    }
    guard let port = OpaquePointer(bitPattern: slot.pointee.port.load(ordering: .sequentiallyConsistent)),
        let buffer = vg_jack_buffer(port, piece.block)
    else { return }
    var event = jack_midi_event_t()
    for index in 0..<vg_jack_midi_count(buffer) where vg_jack_midi_get(&event, buffer, index) == 0 {
        guard let bytes = event.buffer, event.time >= piece.start, event.time &- piece.start < piece.frames else {
            continue
        }
        // A full buffer counts what it drops.
        _ = vg_midi_write(midi, event.time &- piece.start, bytes, UInt32(truncatingIfNeeded: event.size))
    }
}

@_noLocks
private func sendMIDI(
    _ slot: UnsafeMutablePointer<JackSlot>, _ midi: UnsafeMutablePointer<vg_midi>, _ piece: Piece
) {
    guard let port = OpaquePointer(bitPattern: slot.pointee.port.load(ordering: .sequentiallyConsistent)),
        let buffer = vg_jack_buffer(port, piece.block)
    else { return }
    if piece.start == 0 { vg_jack_midi_clear(buffer) }
    for index in 0..<Int(midi.pointee.count) {
        let event = midi.pointee.events[index]
        let bytes = midi.pointee.bytes + Int(event.offset)
        if vg_jack_midi_write(buffer, piece.start &+ min(event.frame, piece.frames &- 1), bytes, Int(event.size)) != 0 {
            midi.pointee.dropped &+= 1
        }
    }
}

/// Ports that no schedule wrote in this cycle would go on playing what is left in their buffers.
@_noLocks
private func silenceUnused(_ slots: JackSlots, frames: UInt32, number: UInt64) {
    for index in 0..<slots.count.pointee.load(ordering: .acquiring) {
        let slot = slots.first + index
        guard slot.pointee.usedIn != number, !slot.pointee.isCapture.load(ordering: .relaxed),
            let port = OpaquePointer(bitPattern: slot.pointee.port.load(ordering: .sequentiallyConsistent)),
            let buffer = vg_jack_buffer(port, frames)
        else { continue }
        if slot.pointee.isMIDI.load(ordering: .relaxed) {
            vg_jack_midi_clear(buffer)
        } else {
            vg_zero(buffer.assumingMemoryBound(to: Float.self), frames)
        }
    }
}

@_noLocks
private func jackTransport(_ client: OpaquePointer) -> vg_transport {
    var position = jack_position_t()
    let rolling = vg_jack_transport(client, &position) == JackTransportRolling
    var transport = vg_transport()
    transport.rolling = rolling
    transport.frame = UInt64(position.frame)
    if vg_jack_has_beat(&position) {
        transport.bpm = vg_jack_tempo(&position)
        transport.beat = vg_jack_beat(&position)
        transport.beats_per_bar = vg_jack_beats_per_bar(&position)
        transport.beat_type = vg_jack_beat_type(&position)
    }
    return transport
}
