// SPDX-License-Identifier: Apache-2.0
import CNode
import Graph
import Realtime
import System

/// A driver whose time the caller makes: `process` runs one cycle at once, on the calling thread. The same blocks give
/// the same result bit by bit; position and clock count frames from 0.
///
///     let driver = OfflineDriver(rate: 48000, maxBlock: 256)
///     // after `register` and `start`:
///     driver.buffer(of: "mic_1")!.initialize(repeating: 0.5)
///     driver.process(frames: 256)
///     let heard = driver.buffer(of: "speakers_1")!
public final class OfflineDriver: Driver, @unchecked Sendable {
    // Sendable: one thread at a time calls `process` and touches the buffers; the rest is guarded.

    /// What it is and how it runs. [any]
    public let info: DriverInfo
    private let ports = BufferTable()
    private let tempo: Double
    private var engine: AudioEngine?
    private var clock: UInt64 = 0
    private let helpers = HelperThreads()
    private let measured = Lock(DriverStatus())

    /// Makes a driver of `rate` Hz for blocks of at most `maxBlock` frames. Its transport rolls from frame 0 on; with a
    /// `tempo` in beats per minute it counts bars of four beats, with 0 none. [control]
    public init(rate: Double, maxBlock: Int, tempo: Double = 0) {
        precondition(rate > 0 && maxBlock > 0, "rate and block must be positive")
        self.tempo = tempo
        info = DriverInfo(kind: .offline, rate: rate, block: maxBlock)
    }

    /// What is measured: cycles only. [any]
    public var status: DriverStatus { measured.withLock { $0 } }

    /// See `Driver`. [control]
    public func register(_ wanted: [ExternalPort]) throws(DriverError) -> [UnsafeMutableRawPointer?] {
        wanted.map { ports.place($0, frames: info.block) }
    }

    /// See `Driver`. [control]
    public func retire(_ unwanted: [ExternalPort]) { for port in unwanted { ports.remove(port) } }

    /// See `Driver`. [control]
    public func setHelpers(_ count: Int) { helpers.want(count) }

    /// See `Driver`; nothing happens until `process`. There are no events. [control]
    public func start(_ engine: AudioEngine, onEvent: @escaping @Sendable (DriverEvent) -> Void) throws(DriverError) {
        self.engine = engine
        helpers.begin(engine) { index, engine in HelperThreads.plain(index, engine) }
        measured.withLock { $0.state = .running }
    }

    /// See `Driver`. [control]
    public func stop() {
        engine = nil
        helpers.end()
        measured.withLock { $0.state = .stopped }
    }

    /// The samples of an audio port, `maxBlock` of them: to be filled before `process` for a port of an `input` node,
    /// to be read after it for one of an `output` node. Valid until the port is retired; nil: no such port. [control]
    public func buffer(of port: String) -> UnsafeMutableBufferPointer<Float>? { ports[port]?.pointee.audio }

    /// What a MIDI port of a `midi-output` node got in the last cycle. [control]
    public func events(of port: String) -> [MIDIEvent] { ports[port]?.pointee.events ?? [] }

    /// Runs one cycle of `frames` frames, 1 to `maxBlock`; before `start` nothing happens. The caller is the audio
    /// thread meanwhile.
    public func process(frames: Int) {
        precondition(frames > 0 && frames <= info.block, "a block must have 1 to \(info.block) frames")
        guard let engine else { return }
        let schedule = engine.begin()
        for port in 0..<schedule.externalCount { prepare(schedule, port) }
        vg_denormals_off()
        vg_realtime_enter()
        engine.run(
            schedule, frames: frames, clock: clock, flags: UInt32(VG_CYCLE_OFFLINE),
            transport: transport)
        vg_realtime_exit()
        for port in 0..<schedule.externalCount where schedule.isMIDI(port) && !schedule.isCapture(port) {
            slot(schedule, port)?.pointee.events = events(schedule.midi(port))
        }
        clock += UInt64(frames)
        measured.withLock { $0.cycles += 1 }
    }

    private var transport: vg_transport {
        guard tempo > 0 else {
            return vg_transport(rolling: true, frame: clock, bpm: 0, beat: 0, beats_per_bar: 0, beat_type: 0)
        }
        return vg_transport(
            rolling: true, frame: clock, bpm: tempo, beat: Double(clock) / info.rate * tempo / 60, beats_per_bar: 4,
            beat_type: 4)
    }

    private func slot(_ schedule: ActiveSchedule, _ port: Int) -> UnsafeMutablePointer<BufferSlot>? {
        schedule.handle(port)?.assumingMemoryBound(to: BufferSlot.self)
    }

    private func prepare(_ schedule: ActiveSchedule, _ port: Int) {
        guard let slot = slot(schedule, port) else { return }
        guard schedule.isMIDI(port) else {
            schedule.bind(port, slot.pointee.audio.baseAddress!)
            return
        }
        guard schedule.isCapture(port) else { return }
        let midi = schedule.midi(port)
        midi.pointee.count = 0
        midi.pointee.used = 0
    }

    private func events(_ midi: UnsafeMutablePointer<vg_midi>) -> [MIDIEvent] {
        (0..<Int(midi.pointee.count)).map { index in
            let event = midi.pointee.events[index]
            let bytes = UnsafeBufferPointer(start: midi.pointee.bytes + Int(event.offset), count: Int(event.size))
            return MIDIEvent(frame: Int(event.frame), bytes: Array(bytes))
        }
    }
}
