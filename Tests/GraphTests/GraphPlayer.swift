// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime
@testable import NodeTrials
import TestSupport
import Testing

@testable import Graph

/// A driver's port, with two buffers in turn: no schedule may rely on an address.
final class PlayerPort {
    static let guardFrames = 16
    let port: ExternalPort
    private let buffers: [GuardedBuffer]
    private var turn = 0
    /// What a capture port brings, and what a playback port has got so far.
    var signal: [Float] = []
    var events: [TimedMIDI] = []

    init(_ port: ExternalPort, maxBlock: Int) {
        self.port = port
        buffers = (0..<2).map { _ in GuardedBuffer(frames: maxBlock) }
    }

    deinit { for buffer in buffers { buffer.free() } }

    var handle: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
    static func of(_ handle: UnsafeMutableRawPointer?) -> PlayerPort? {
        handle.map { Unmanaged<PlayerPort>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The buffer for the next block: what comes in, or garbage.
    func open(_ frames: Int, _ position: Int) -> UnsafeMutablePointer<Float> {
        turn = 1 - turn
        let samples = buffers[turn].samples
        for frame in 0..<frames {
            samples[frame] =
                port.isCapture
                ? (position + frame < signal.count ? signal[position + frame] : 0) : NodeBuffers.unwritten
        }
        buffers[turn].closeAfter(frames)
        return samples
    }

    func close(_ frames: Int) {
        #expect(buffers[turn].isIntact(frames), "the block of \(port.name) was overrun")
        if !port.isCapture { signal += UnsafeBufferPointer(start: buffers[turn].samples, count: frames) }
    }
}

/// An engine whose driver is the test: ports with signals and events, one block at a time, on the calling thread.
final class GraphPlayer {
    let engine = Engine()
    let rate: Double
    let maxBlock: Int
    private(set) var ports: [String: PlayerPort] = [:]
    private(set) var position = 0
    var transport = vg_transport()
    private var sharers = Sharers()
    private let helpers: Helpers

    /// With `threads` above 1 every schedule that can be divided is shared by so many.
    init(rate: Double = 48000, maxBlock: Int, threads: Int = 1) {
        self.rate = rate
        self.maxBlock = maxBlock
        sharers.limit = threads
        sharers.isForced = true
        helpers = Helpers(engine, threads - 1)
    }

    deinit { helpers.end() }

    /// Compiles a graph and hands it to the audio thread.
    @discardableResult
    func publish(_ graph: ResolvedGraph) throws -> Schedule {
        let schedule = try Compiler.compile(
            graph, rate: rate, maxBlock: maxBlock, sharers: sharers, verifying: true)
        schedule.forceSharing()
        publish(schedule)
        return schedule
    }

    func publish(_ schedule: Schedule) {
        schedule.setHandles(schedule.externals.map { port(for: $0).handle })
        engine.publish(schedule)
    }

    private func port(for external: ExternalPort) -> PlayerPort {
        if let known = ports[external.name] { return known }
        let made = PlayerPort(external, maxBlock: maxBlock)
        ports[external.name] = made
        return made
    }

    /// What capture port `name` ("node_1") brings from position 0 on.
    func feed(_ name: String, _ signal: [Float]) { ports[name]?.signal = signal }
    /// What playback port `name` has got so far.
    func heard(_ name: String) -> [Float] { ports[name]?.signal ?? [] }

    func run(_ blocks: [Int]) { for frames in blocks { cycle(frames) } }

    func cycle(_ frames: Int) {
        vg_denormals_off()
        let schedule = realtime { engine.audio.begin() }
        let used = (0..<schedule.externalCount).map { PlayerPort.of(schedule.handle($0))! }
        for (index, port) in used.enumerated() {
            if !schedule.isMIDI(index) {
                schedule.bind(index, port.open(frames, position))
            } else if schedule.isCapture(index) {
                fill(schedule.midi(index), port.events, position..<position + frames)
            }
        }
        realtime {
            engine.audio.run(
                schedule, frames: frames, clock: UInt64(position), flags: 0, transport: transport)
        }
        for (index, port) in used.enumerated() {
            if !schedule.isMIDI(index) {
                port.close(frames)
            } else if !schedule.isCapture(index) {
                port.events += taken(schedule.midi(index))
            }
        }
        position += frames
    }

    /// With the realtime sanitizer loaded, whatever could block ends the test run.
    private func realtime<T>(_ body: () -> T) -> T {
        vg_realtime_enter()
        defer { vg_realtime_exit() }
        return body()
    }

    private func fill(_ midi: UnsafeMutablePointer<vg_midi>, _ events: [TimedMIDI], _ window: Range<Int>) {
        midi.pointee.count = 0
        midi.pointee.used = 0
        for event in events where window.contains(event.frame) {
            _ = vg_midi_write(midi, UInt32(event.frame - window.lowerBound), event.bytes, UInt32(event.bytes.count))
        }
    }

    private func taken(_ midi: UnsafeMutablePointer<vg_midi>) -> [TimedMIDI] {
        (0..<Int(midi.pointee.count)).map { index in
            let event = midi.pointee.events[index]
            let bytes = UnsafeBufferPointer(start: midi.pointee.bytes + Int(event.offset), count: Int(event.size))
            return TimedMIDI(Int(event.frame) + position, Array(bytes))
        }
    }
}
