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
    vg_realtime_enter()
    vg_denormals_off()
    let cycle = argument.unsafelyUnwrapped.assumingMemoryBound(to: JackCycle.self)
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
    vg_realtime_exit()
    if cycle.pointee.answer.load(ordering: .relaxed) == 0 { return 0 }
    return cycle.pointee.answer.exchange(0, ordering: .relaxed)
}

@_noLocks
private func runCycle(
    _ cycle: UnsafeMutablePointer<JackCycle>, _ engine: AudioEngine, _ client: OpaquePointer, frames: UInt32,
    number: UInt64
) {
    let delay = vg_jack_delay(client)
    let schedule = engine.begin()
    for port in 0..<schedule.externalCount {
        guard let slot = jackSlot(schedule.handle(port)) else { continue }
        slot.pointee.usedIn = number
        if schedule.isMIDI(port) {
            if schedule.isCapture(port) { receiveMIDI(slot, schedule.midi(port), frames: frames) }
        } else {
            schedule.bind(port, audioBuffer(slot, frames: frames))
        }
    }
    let time = vg_jack_frame_time(client)
    cycle.pointee.clock &+= UInt64(time &- UInt32(truncatingIfNeeded: cycle.pointee.clock))
    engine.run(
        schedule, frames: Int(frames), clock: cycle.pointee.clock, flags: 0, transport: jackTransport(client),
        delay: delay)
    for port in 0..<schedule.externalCount where schedule.isMIDI(port) && !schedule.isCapture(port) {
        if let slot = jackSlot(schedule.handle(port)) { sendMIDI(slot, schedule.midi(port), frames: frames) }
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
    _ slot: UnsafeMutablePointer<JackSlot>, _ midi: UnsafeMutablePointer<vg_midi>, frames: UInt32
) {
    midi.pointee.count = 0
    midi.pointee.used = 0
    guard let port = OpaquePointer(bitPattern: slot.pointee.port.load(ordering: .sequentiallyConsistent)),
        let buffer = vg_jack_buffer(port, frames)
    else { return }
    var event = jack_midi_event_t()
    for index in 0..<vg_jack_midi_count(buffer) where vg_jack_midi_get(&event, buffer, index) == 0 {
        guard let bytes = event.buffer else { continue }
        // A full buffer counts what it drops.
        _ = vg_midi_write(midi, event.time, bytes, UInt32(truncatingIfNeeded: event.size))
    }
}

@_noLocks
private func sendMIDI(
    _ slot: UnsafeMutablePointer<JackSlot>, _ midi: UnsafeMutablePointer<vg_midi>, frames: UInt32
) {
    guard let port = OpaquePointer(bitPattern: slot.pointee.port.load(ordering: .sequentiallyConsistent)),
        let buffer = vg_jack_buffer(port, frames)
    else { return }
    vg_jack_midi_clear(buffer)
    for index in 0..<Int(midi.pointee.count) {
        let event = midi.pointee.events[index]
        let bytes = midi.pointee.bytes + Int(event.offset)
        if vg_jack_midi_write(buffer, min(event.frame, frames - 1), bytes, Int(event.size)) != 0 {
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
