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
    private let cycle: UnsafeMutablePointer<TimerCycle>
    private let listener = DriverListener()
    private let state = Lock(DriverStatus.State.stopped)
    private var audio: SystemThread?
    private let helpers = HelperThreads()
    private var reporter: SystemThread?
    private let stopping = Atomic(false)
    private let wakeup = Wakeup()

    /// Makes a driver of `rate` Hz and blocks of `block` frames. [control]
    public init(name: String, rate: Double, block: Int, notice: String = "") {
        precondition(rate > 0 && block > 0, "rate and block must be positive")
        info = DriverInfo(kind: .timer, client: name, rate: rate, block: block, notice: notice)
        cycle = .allocate(capacity: 1)
        cycle.initialize(to: TimerCycle(rate: rate, block: block))
    }

    deinit {
        cycle.deinitialize(count: 1)
        cycle.deallocate()
    }

    /// What is measured. [any]
    public var status: DriverStatus {
        var status = DriverStatus()
        status.state = state.withLock { $0 }
        status.cycles = cycle.pointee.count.load(ordering: .acquiring)
        status.xruns = cycle.pointee.late.load(ordering: .acquiring)
        status.scheduling = Scheduling(thread: audioThread)
        return status
    }

    /// See `Driver`. [any]
    public var audioThread: Int32 { cycle.pointee.thread.load(ordering: .relaxed) }

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
        precondition(audio == nil && !stopping.load(ordering: .relaxed), "a driver starts once")
        listener.set(onEvent)
        cycle.pointee.engine = engine
        cycle.pointee.enabled.store(true, ordering: .releasing)
        state.withLock { $0 = .running }
        // Without the right to it the threads run as ordinary ones, which `status` tells.
        let hurry: @Sendable () -> Void = {
            var parameter = sched_param(sched_priority: 70)
            pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter)
        }
        helpers.begin(engine) { index, engine in HelperThreads.plain(index, engine, hurry) }
        do throws(SystemError) {
            audio = try SystemThread(name: "vg-audio") {
                hurry()
                self.cycle.pointee.thread.store(vg_thread_id(), ordering: .relaxed)
                runTimer(self.cycle)
            }
            reporter = try SystemThread(name: "vg-timer") { self.report() }
        } catch { throw DriverError(error) }
    }

    /// See `Driver`. [control]
    public func stop() {
        guard !stopping.exchange(true, ordering: .acquiringAndReleasing) else { return }
        cycle.pointee.enabled.store(false, ordering: .releasing)
        wakeup.signal()
        audio?.join()
        reporter?.join()
        helpers.end()
        state.withLock { $0 = .stopped }
        listener.set(nil)
    }

    private func report() {
        var announced = 0
        while !stopping.load(ordering: .acquiring) {
            wakeup.wait(milliseconds: 100)
            let late = cycle.pointee.late.load(ordering: .acquiring)
            let delay = Double(cycle.pointee.delay.load(ordering: .relaxed)) * 1e-9
            while announced < late {
                listener.tell(.xrun(delay: delay))
                announced += 1
            }
        }
    }
}
