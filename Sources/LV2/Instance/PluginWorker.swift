// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import Realtime
import Synchronization
import System

/// The worker of one plugin: `schedule_work` from `run` reaches `work` on a thread of the plugin's own, and what that
/// responds reaches `work_response` after the next `run`.
///
/// Until `start`, and for good when rendering offline, work is done at once on the caller's thread, so that a state
/// being restored is complete before the first block and a render is the same from run to run.
final class PluginWorker {
    /// The schedule feature's payload.
    let schedule = UnsafeMutablePointer<LV2_Worker_Schedule>.allocate(capacity: 1)
    /// What both threads share.
    let core = UnsafeMutablePointer<WorkerCore>.allocate(capacity: 1)

    private let requests = PacketRing(capacity: workerRingSize)
    /// What a plugin schedules while it restores: `requests` is for the audio thread only.
    private let restoring = PacketRing(capacity: workerRingSize)
    private let restorer = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: 1)
    private let open = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
    private let faults = UnsafeMutablePointer<WorkFaults>.allocate(capacity: 1)
    private let responses = PacketRing(capacity: workerRingSize)
    private let wake = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private let stop = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
    private let received: UnsafeMutableRawPointer
    private let responded: UnsafeMutableRawPointer
    private var thread: SystemThread?

    init() {
        received = .allocate(byteCount: requests.ends.largest, alignment: 16)
        responded = .allocate(byteCount: responses.ends.largest, alignment: 16)
        sem_init(wake, 0, 0)
        stop.initialize(to: false)
        restorer.initialize(to: Atomic(0))
        open.initialize(to: Atomic(0))
        faults.initialize(to: WorkFaults())
        core.initialize(
            to: WorkerCore(
                requests: requests.ends, restoring: restoring.ends, responses: responses.ends, received: received,
                responded: responded, wake: wake, stop: stop, restorer: restorer, open: open,
                faults: faults))
        schedule.initialize(
            to: LV2_Worker_Schedule(
                handle: core,
                schedule_work: { handle, size, data in
                    guard let core = handle?.assumingMemoryBound(to: WorkerCore.self) else {
                        return LV2_WORKER_ERR_UNKNOWN
                    }
                    if core.pointee.threaded { return queueWork(core, size, data) }
                    vg_realtime_pause()
                    defer { vg_realtime_resume() }
                    return doWork(core, size, data)
                }))
    }

    deinit {
        finish()
        sem_destroy(wake)
        for memory in [received, responded] { memory.deallocate() }
        wake.deallocate()
        stop.deallocate()
        restorer.deallocate()
        open.deallocate()
        faults.deallocate()
        schedule.deallocate()
        core.deallocate()
    }

    /// Tells the worker whose it is; a plugin without the interface gets errors for what it schedules. [control]
    func attach(_ handle: LV2_Handle, _ interface: UnsafePointer<LV2_Worker_Interface>?) {
        core.pointee.handle = handle
        core.pointee.interface = interface
    }

    /// From now on work is done on a thread; false: the system has none left. [control]
    func start() -> Bool {
        guard thread == nil, core.pointee.interface != nil else { return true }
        nonisolated(unsafe) let core = core  // as long as this lives, which ends the thread
        // Signals are the main program's.
        thread = try? SystemThread(name: "vg-lv2-worker", blocksSignals: true) { runWorker(core) }
        guard thread != nil else { return false }
        core.pointee.threaded = true
        return true
    }

    /// Runs `body`, which restores a state. What the plugin schedules in it does not mix with what `run` schedules at
    /// the same time. [control]
    func whileRestoring(_ body: () -> Void) {
        restorer.pointee.store(UInt(vg_lv2_thread()), ordering: .relaxed)
        body()
        restorer.pointee.store(0, ordering: .relaxed)
    }

    /// Whether all that was scheduled is done; responses may wait for the next block. [control]
    var isIdle: Bool { open.pointee.load(ordering: .acquiring) == 0 }

    /// Why the last work failed; nil: it did not. [control]
    var fault: String? {
        switch faults.pointee.last.load(ordering: .relaxed) {
        case LV2_WORKER_SUCCESS.rawValue: nil
        case LV2_WORKER_ERR_NO_SPACE.rawValue: "it has more to tell than there is room for"
        default: "its work failed"
        }
    }

    /// What found no room since the last call. [control]
    func takeRefused() -> Int { faults.pointee.refused.exchange(0, ordering: .relaxed) }

    /// Waits until all that was scheduled is done, and gives the plugin the responses. It must not run. [control]
    func finishWork() {
        // A plugin that never ends its work is not waited for.
        for _ in 0..<2000 where !isIdle { usleep(1000) }
        deliverWaiting(core)
    }

    /// Ends the thread after the work in hand. The plugin must not run any more. [control]
    func finish() {
        guard let thread else { return }
        stop.pointee = true  // ordered by the semaphore
        sem_post(wake)
        thread.join()
        self.thread = nil
        core.pointee.threaded = false
    }
}

/// Bytes that may wait in each direction.
private let workerRingSize = 1 << 16

/// What went wrong with one plugin's work.
struct WorkFaults: ~Copyable {
    /// What the last work returned.
    let last = Atomic<UInt32>(LV2_WORKER_SUCCESS.rawValue)
    /// Requests that found no room.
    let refused = Atomic<Int>(0)
}

/// What the audio thread and the worker's thread share; it never moves while the plugin lives.
struct WorkerCore: BitwiseCopyable {
    let requests: PacketRingEnds
    /// Requests of a thread that restores.
    let restoring: PacketRingEnds
    let responses: PacketRingEnds
    /// Where the worker keeps the request in hand.
    let received: UnsafeMutableRawPointer
    /// Where the audio thread keeps the response in hand.
    let responded: UnsafeMutableRawPointer
    let wake: UnsafeMutablePointer<sem_t>
    let stop: UnsafeMutablePointer<Bool>
    /// The thread that restores a state; 0: none.
    let restorer: UnsafeMutablePointer<Atomic<UInt>>
    /// Requests that were taken and are not done.
    let open: UnsafeMutablePointer<Atomic<Int>>
    let faults: UnsafeMutablePointer<WorkFaults>
    var handle: LV2_Handle?
    var interface: UnsafePointer<LV2_Worker_Interface>?
    var threaded = false
}

/// Leaves a request for the worker's thread. [audio], or the thread that restores
@_noLocks
private func queueWork(
    _ core: UnsafeMutablePointer<WorkerCore>, _ size: UInt32, _ data: UnsafeRawPointer?
) -> LV2_Worker_Status {
    guard core.pointee.interface != nil else { return LV2_WORKER_ERR_UNKNOWN }
    let restores = core.pointee.restorer.pointee.load(ordering: .relaxed) == UInt(vg_lv2_thread())
    let ring = restores ? core.pointee.restoring : core.pointee.requests
    core.pointee.open.pointee.add(1, ordering: .relaxed)
    guard ring.push(data, size: Int(size)) else {
        core.pointee.open.pointee.subtract(1, ordering: .relaxed)
        core.pointee.faults.pointee.refused.add(1, ordering: .relaxed)
        return LV2_WORKER_ERR_NO_SPACE
    }
    vg_lv2_wake(core.pointee.wake)
    return LV2_WORKER_SUCCESS
}

/// Does the work on this thread. [worker], or the caller's thread while not threaded
private func doWork(
    _ core: UnsafeMutablePointer<WorkerCore>, _ size: UInt32, _ data: UnsafeRawPointer?
) -> LV2_Worker_Status {
    guard let work = core.pointee.interface?.pointee.work else { return LV2_WORKER_ERR_UNKNOWN }
    let status = PluginStep.during(.work) {
        work(
            core.pointee.handle,
            { core, size, data in
                guard let core = core?.assumingMemoryBound(to: WorkerCore.self) else { return LV2_WORKER_ERR_UNKNOWN }
                let fits = core.pointee.responses.push(data, size: Int(size))
                return fits ? LV2_WORKER_SUCCESS : LV2_WORKER_ERR_NO_SPACE
            }, core, size, data)
    }
    core.pointee.faults.pointee.last.store(status.rawValue, ordering: .relaxed)
    return status
}

/// The worker's thread. [worker]
private func runWorker(_ core: UnsafeMutablePointer<WorkerCore>) {
    let buffer = core.pointee.received
    while true {
        while sem_wait(core.pointee.wake) != 0 {}  // interrupted: wait again
        if core.pointee.stop.pointee { return }
        for ring in [core.pointee.requests, core.pointee.restoring] {
            while let (size, _) = ring.pop(into: buffer) {
                _ = doWork(core, UInt32(size), size > 0 ? UnsafeRawPointer(buffer) : nil)
                core.pointee.open.pointee.subtract(1, ordering: .releasing)
            }
        }
    }
}

/// Hands waiting responses to the plugin and ends its cycle; after every `run`. [audio]
@_noLocks
func deliverResponses(_ core: UnsafeMutablePointer<WorkerCore>) {
    deliverWaiting(core)
    endRun(core)
}

/// The second half of that. [audio]
@_noLocks
func endRun(_ core: UnsafeMutablePointer<WorkerCore>) {
    guard let interface = core.pointee.interface, let handle = core.pointee.handle else { return }
    vg_lv2_end_run(interface, handle)
}

/// The first half of that: also before the first `run`, for what a restored state asked for. [audio], or the caller's
/// thread while the plugin does not run
@_noLocks
func deliverWaiting(_ core: UnsafeMutablePointer<WorkerCore>) {
    guard let interface = core.pointee.interface, let handle = core.pointee.handle else { return }
    let buffer = core.pointee.responded
    while let (size, _) = core.pointee.responses.pop(into: buffer) {
        vg_lv2_work_response(interface, handle, UInt32(size), size > 0 ? UnsafeRawPointer(buffer) : nil)
    }
}
