// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import Realtime
import Synchronization
import System

/// A thread that calls the cycle by the clock, with no JACK at all: capture ports read silence, what playback ports
/// get is dropped. For machines without jackd, or without a free name for a server.
public final class TimerDriver: Driver, @unchecked Sendable {
    // Sendable: `ports` is guarded by its lock; the cycle's state is atomic or the audio thread's own.

    /// What it is and how it runs. [any]
    public let info: DriverInfo
    private let ports = BufferTable()
    private let listener = DriverListener()
    private let state = Lock(DriverStatus.State.stopped)
    private let audio: TimerThread
    private let helpers = HelperThreads()
    private var reporter: SystemThread?
    private let stopping = Atomic(false)
    private let wakeup = Wakeup()

    /// Makes a driver of `rate` Hz and blocks of `block` frames. [control]
    public init(name: String, rate: Double, block: Int, notice: String = "") {
        precondition(rate > 0 && block > 0, "rate and block must be positive")
        info = DriverInfo(kind: .timer, client: name, rate: rate, block: block, notice: notice)
        audio = TimerThread(rate: rate, block: block)
    }

    /// What is measured. [any]
    public var status: DriverStatus {
        var status = DriverStatus()
        status.state = state.withLock { $0 }
        status.cycles = audio.cycle.pointee.count.load(ordering: .acquiring)
        status.xruns = audio.cycle.pointee.late.load(ordering: .acquiring)
        status.scheduling = Scheduling(thread: audioThread)
        return status
    }

    /// See `Driver`. [any]
    public var audioThread: Int32 { audio.cycle.pointee.thread.load(ordering: .relaxed) }

    /// See `Driver`. [control]
    public func register(_ wanted: [ExternalPort]) throws(DriverError) -> [UnsafeMutableRawPointer?] {
        wanted.map { ports.place($0, frames: info.block) }
    }

    /// See `Driver`. [control]
    public func retire(_ unwanted: [ExternalPort]) { for port in unwanted { ports.remove(port) } }

    /// See `Driver`. [control]
    public func setHelpers(_ count: Int) { helpers.want(count) }

    /// See `Driver`. [control]
    public func start(_ engine: AudioEngine, onEvent: @escaping @Sendable (DriverEvent) -> Void) throws(DriverError) {
        precondition(reporter == nil && !stopping.load(ordering: .relaxed), "a driver starts once")
        listener.set(onEvent)
        state.withLock { $0 = .running }
        helpers.begin(engine) { index, engine in HelperThreads.plain(index, engine, TimerThread.hurry) }
        do throws(SystemError) {
            try audio.start(engine)
            reporter = try SystemThread(name: "vg-timer") { self.report() }
        } catch { throw DriverError(error) }
    }

    /// See `Driver`. [control]
    public func stop() {
        guard !stopping.exchange(true, ordering: .acquiringAndReleasing) else { return }
        wakeup.signal()
        audio.stop()
        reporter?.join()
        helpers.end()
        state.withLock { $0 = .stopped }
        listener.set(nil)
    }

    private func report() {
        var announced = 0
        while !stopping.load(ordering: .acquiring) {
            wakeup.wait(milliseconds: 100)
            let late = audio.cycle.pointee.late.load(ordering: .acquiring)
            let delay = Double(audio.cycle.pointee.delay.load(ordering: .relaxed)) * 1e-9
            while announced < late {
                listener.tell(.xrun(delay: delay))
                announced += 1
            }
        }
    }
}
