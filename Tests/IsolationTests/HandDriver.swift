// SPDX-License-Identifier: Apache-2.0
import CNode
import Drivers
import Graph
import Realtime

/// A live driver whose cycles the test calls: nothing is late because the machine is busy.
final class HandDriver: Driver, @unchecked Sendable {
    // Sendable: one thread at a time calls it.
    let info: DriverInfo
    private var ports: [String: UnsafeMutableBufferPointer<Float>] = [:]
    /// What MIDI ports bring in the next cycle, and what they got in the last one.
    var events: [String: [[UInt8]]] = [:]
    private var names: [String] = []
    private var engine: AudioEngine?
    private var clock: UInt64 = 0
    private(set) var status = DriverStatus()

    init(rate: Double = 48_000, block: Int = 256) { info = DriverInfo(kind: .dummy, rate: rate, block: block) }

    deinit { for port in ports.values { port.deallocate() } }

    func register(_ wanted: [ExternalPort]) throws(DriverError) -> [UnsafeMutableRawPointer?] {
        names = wanted.map(\.name)
        return wanted.map { port in
            if ports[port.name] == nil {
                let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: info.block)
                buffer.initialize(repeating: 0)
                ports[port.name] = buffer
            }
            return UnsafeMutableRawPointer(ports[port.name]!.baseAddress!)
        }
    }
    func retire(_ unwanted: [ExternalPort]) {}
    func start(_ engine: AudioEngine, onEvent: @escaping @Sendable (DriverEvent) -> Void) throws(DriverError) {
        self.engine = engine
    }
    func stop() { engine = nil }

    func buffer(of port: String) -> UnsafeMutableBufferPointer<Float>? { ports[port] }

    /// One cycle.
    func process() {
        guard let engine else { return }
        let schedule = engine.begin()
        for port in 0..<schedule.externalCount {
            guard schedule.isMIDI(port) else {
                schedule.bind(port, schedule.handle(port)!.assumingMemoryBound(to: Float.self))
                continue
            }
            let midi = schedule.midi(port)
            guard schedule.isCapture(port) else { continue }
            midi.pointee.count = 0
            midi.pointee.used = 0
            for event in events[names[port]] ?? [] { _ = vg_midi_write(midi, 0, event, UInt32(event.count)) }
        }
        vg_realtime_enter()
        engine.run(schedule, frames: info.block, clock: clock, flags: 0, transport: vg_transport())
        vg_realtime_exit()
        events = [:]
        for port in 0..<schedule.externalCount where schedule.isMIDI(port) && !schedule.isCapture(port) {
            let midi = schedule.midi(port)
            events[names[port]] = (0..<Int(midi.pointee.count)).map { place in
                let event = midi.pointee.events[place]
                return Array(UnsafeBufferPointer(start: midi.pointee.bytes + Int(event.offset), count: Int(event.size)))
            }
        }
        clock += UInt64(info.block)
        status.cycles += 1
    }
}
