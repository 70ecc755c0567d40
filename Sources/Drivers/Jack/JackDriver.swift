// SPDX-License-Identifier: Apache-2.0
import CJack
import Glibc
import Graph
import Realtime
import Synchronization
import System

/// A JACK client whose process callback is the audio cycle. It keeps the desired connections, and comes back with the
/// server: in the same process, with the same handles, at whatever rate and block size the new server has.
///
/// Three kinds of threads: JACK's own, which leave marks in `signals`; one control thread that makes every server call
/// of its own accord (JackDriver+Control); a watchdog that only counts cycles.
public final class JackDriver: Driver, @unchecked Sendable {
    // Sendable: `lock` guards `ports`, `client`, `server` and where that is; the rest is atomic, behind mutexes of its own, or
    // changed only while no client is active.

    let cycle: UnsafeMutablePointer<JackCycle>
    let signals = JackSignals()
    let requestedName: String
    /// Where the server is, or was.
    var place: ServerPlace
    /// Where a server is looked for that is to take the place of what plays; none once it is found.
    var hopes: [ServerPlace] = []
    /// When it is looked for again, by the clock, after one that did not take us.
    var nextLook = 0.0
    /// Calls the cycle until there is a server; nil: nobody does.
    var timer: TimerThread?
    /// What was asked for, of which a server that is found may be told not to heed it.
    var request: DriverRequest?
    /// Held during server calls, and so for as long as a server hangs.
    let lock = Monitor()
    var client: OpaquePointer?
    let ports = JackPortTable()
    let latencies: JackLatencies
    /// Made anew with each client: the next server may have another priority.
    let helpers = HelperThreads()
    var server: ServerProcess?
    var pending: Set<JackConnections.Pair> = []
    /// When what could not be connected is tried again, and the time between two tries, in seconds.
    var retryAt = 0.0
    var retryGap = 0.02
    /// What the server did not do, and was told as that.
    var refused: Set<JackConnections.Pair> = []
    /// What the server says that it did, until that is seen.
    var unproven: [(pair: JackConnections.Pair, from: String, to: String, at: Double)] = []
    /// What is to be told of connections.
    var news: [DriverEvent] = []
    /// Whether `connect` names what is not there, and when that is looked for again.
    var hasUnmatched = false
    var nextSearch = 0.0
    /// What was desired at the last look.
    var wanted: Set<JackConnections.Pair> = []
    /// Nodes whose audio comes from a port of somebody else's, or did until that was gone.
    var sources: [String: Bool] = [:]
    /// Our ports whose connections are all to be made, whatever is new at the other end.
    var unconnected: Set<String> = []
    /// Names of ports that are to be removed; taken with `lock` held.
    let leaving = Mutex<[String]>([])

    let programs = Lock(KnownPrograms())

    let facts: Lock<DriverInfo>
    /// Held while the owner is told of another format.
    let formats = Monitor()
    /// How many clients were before this one, whose formats are old.
    let former = Atomic(0)
    /// Whether a server that goes before the driver starts is waited for; set before that.
    var waits = false
    let state = Lock(DriverStatus.State.stopped)
    let stopping = Atomic(false)
    /// Since when a client whose server went is being closed, in bits of seconds by the clock; 0: none is.
    let closingSince = Atomic<UInt64>(0)
    let loadBits = Atomic<UInt32>(0)
    /// Whether the server calls us on a realtime thread.
    let isRealtime = Atomic(false)
    let listener = DriverListener()
    private var threads: [SystemThread] = []

    /// Opens a client. `server` nil: the default server. `child`: the server process behind it, restarted when it
    /// dies, ended by `stop`. [control]
    convenience init(name: String, server: String? = nil, child: ServerProcess? = nil) throws(DriverError) {
        let client: OpaquePointer
        do { client = try JackLibrary.open(name: name, server: server) } catch {
            throw error.asDriverError(server: server)
        }
        self.init(adopting: client, name: name, server: server, child: child)
    }

    /// Takes over a client that is open, of the libjack that was asked for. [control]
    init(
        adopting client: OpaquePointer, name: String, server: String?, library: JackLibrary.Provider = .any,
        child: ServerProcess? = nil
    ) {
        requestedName = name
        place = ServerPlace(name: server, library: library)
        self.server = child
        self.client = client
        latencies = JackLatencies(ports.slots)
        facts = Lock(
            DriverInfo(
                kind: child?.kind ?? (JackLibrary.isPipeWire ? .pipewire : .jack),
                server: server ?? (JackLibrary.isPipeWire ? PipeWireSocket.name : JackLibrary.defaultServer),
                ownServer: child != nil, client: String(cString: jack_get_client_name(client)),
                rate: Double(jack_get_sample_rate(client)), block: Int(jack_get_buffer_size(client))))
        cycle = .allocate(capacity: 1)
        cycle.initialize(to: JackCycle(slots: ports.slots))
        cycle.pointee.client = client
        setCallbacks(client)
    }

    /// A driver that has no server yet, and takes the first that answers at one of `hopes`. Until then it is called by a
    /// timer, where that is wanted, at the rate and the block that were asked for, or by nobody. [control]
    init(hoping hopes: [ServerPlace], _ request: DriverRequest, isTimed: Bool, notice: String) {
        requestedName = request.client
        place = hopes[0]
        server = nil
        latencies = JackLatencies(ports.slots)
        facts = Lock(
            DriverInfo(
                kind: isTimed
                    ? .timer : hopes[0].own != nil ? .alsa : hopes[0].library == .pipewire ? .pipewire : .jack,
                server: isTimed ? "" : hopes[0].serverName, client: request.client,
                rate: Double(request.rate ?? 48_000), block: request.block ?? 256, notice: notice))
        cycle = .allocate(capacity: 1)
        cycle.initialize(to: JackCycle(slots: ports.slots))
        hope(for: hopes, request)
        if isTimed { timer = TimerThread(rate: info.rate, block: info.block, jack: cycle) }
    }

    deinit {
        if let client { JackLibrary.close(client) }
        cycle.deinitialize(count: 1)
        cycle.deallocate()
    }

    /// What it is and how it runs. [any]
    public var info: DriverInfo { facts.withLock { $0 } }

    /// From now on a server at one of `hopes` takes the place of what plays. [control]
    func hope(for hopes: [ServerPlace], _ request: DriverRequest) {
        self.hopes = hopes
        self.request = request
    }

    /// Says what the user should know of the choice. [control]
    func setNotice(_ text: String) { facts.withLock { $0.notice = text } }

    /// What is measured. [any]
    public var status: DriverStatus {
        var status = DriverStatus()
        status.state = state.withLock { $0 }
        status.cycles = cycle.pointee.count.load(ordering: .acquiring)
        status.xruns = signals.xruns.load(ordering: .acquiring)
        status.load = Double(Float(bitPattern: loadBits.load(ordering: .relaxed)))
        status.scheduling = Scheduling(thread: audioThread)
        return status
    }

    /// See `Driver`. [any]
    public var dividesBlocks: Bool { true }

    /// See `Driver`. [any]
    public var audioThread: Int32 { cycle.pointee.thread.load(ordering: .relaxed) }

    /// See `Driver`. Between two servers the ports are noted, and made when the server is back. [control]
    public func register(_ wanted: [ExternalPort]) throws(DriverError) -> [UnsafeMutableRawPointer?] {
        lock.acquire()
        defer { lock.release() }
        removeLeaving()
        let before = desired()
        var handles: [UnsafeMutableRawPointer?] = []
        let known = Set(ports.entries.map(\.port.name))
        do throws(DriverError) { for port in wanted { handles.append(ports.handle(try place(port))) } } catch {
            // All of them, or none.
            for port in wanted where !known.contains(port.name) {
                if let index = ports.index(of: port.name) { remove(index) }
            }
            throw error
        }
        disconnect(before.subtracting(desired()))
        signals.wakeup.signal()
        return handles
    }

    /// See `Driver`. The ports go soon: their caller is not to wait for a server that hangs. [control]
    public func retire(_ unwanted: [ExternalPort]) {
        leaving.withLock { $0 += unwanted.map(\.name) }
        signals.wakeup.signal()
    }

    /// See `Driver`. [any]
    public var outputLatency: Int { latencies.output.load(ordering: .relaxed) }

    /// See `Driver`. [control]
    public func setLatencies(_ routes: [LatencyRoute]) {
        latencies.set(routes)
        signals.wakeup.signal()
    }

    /// See `Driver`. Not known while another call waits for the server, or there is none. [control]
    public func connections(of ports: [String]) -> PortConnections? {
        guard lock.tryAcquire() else { return nil }
        defer { lock.release() }
        return findConnections(of: ports)
    }

    /// See `Driver`. What was there a second ago counts, too. [any]
    public var otherPrograms: OtherPrograms { programs.withLock { $0.lately } }

    /// See `Driver`. [control]
    public func setHelpers(_ count: Int) { helpers.want(count) }

    /// See `Driver`. [control]
    public func lockMemory() {
        if isRealtime.load(ordering: .acquiring) { LockedMemory.update() }
    }

    /// See `Driver`. The engine's first cycle comes when the desired connections are made: what it plays first is
    /// heard. [control]
    public func start(_ engine: AudioEngine, onEvent: @escaping @Sendable (DriverEvent) -> Void) throws(DriverError) {
        listener.set(onEvent)
        lock.acquire()
        defer { lock.release() }
        try activate(engine)
    }

    private func activate(_ engine: AudioEngine) throws(DriverError) {
        precondition(threads.isEmpty && !stopping.load(ordering: .relaxed), "a driver starts once")
        cycle.pointee.engine = engine
        latencies.pause()
        if client == nil, !hopes.isEmpty {
            state.withLock { $0 = timer == nil ? .waiting : .running }
            try beginTimer(engine)
        } else if let client, !signals.lost.load(ordering: .acquiring), jack_activate(client) == 0 {
            state.withLock { $0 = .running }
            beginHelping(engine, client)
        } else if !reopen() {
            guard waits else {
                throw DriverError(
                    "the JACK server did not activate the client", hint: "is the server still running?",
                    details: Array(JackLibrary.recentLines.suffix(4)))
            }
            // Gone since it was chosen, as it might be a moment later: `recover` waits for it.
            signals.lost.store(true, ordering: .releasing)
            state.withLock { $0 = .lost }
        }
        signals.connectAll.store(true, ordering: .releasing)
        let made = connect()
        assumePrograms(made)
        latencies.resume()
        cycle.pointee.enabled.store(true, ordering: .sequentiallyConsistent)
        do throws(SystemError) {
            threads.append(try SystemThread(name: "vg-jack") { self.control() })
            threads.append(try SystemThread(name: "vg-watchdog") { self.watch() })
        } catch { throw DriverError(error) }
        signals.wakeup.signal()
    }

    /// See `Driver`. Ends our own server too. A server that hangs is waited for two seconds, then the client is left
    /// to a thread that closes it when it can. Not from an event. [control]
    public func stop() {
        guard !stopping.exchange(true, ordering: .acquiringAndReleasing) else { return }
        cycle.pointee.enabled.store(false, ordering: .sequentiallyConsistent)
        waitForCycle()
        signals.wakeup.signal()
        let done = Wakeup()
        let close: @Sendable () -> Void = {
            for thread in self.threads { thread.join() }
            self.timer?.stop()
            self.helpers.end()
            self.lock.acquire()
            if let client = self.client { JackLibrary.close(client) }
            self.client = nil
            self.lock.release()
            self.former.add(1, ordering: .acquiringAndReleasing)
            self.formats.locked {}
            done.signal()
        }
        // Without room for a thread a server that hangs is waited for.
        if (try? SystemThread(name: "vg-close", close)) == nil { close() }
        if !done.wait(milliseconds: 2000), let server {
            // Our own server hangs: its end frees whoever waits for it.
            server.stop()
            _ = done.wait(milliseconds: 2000)
        }
        server?.stop()
        state.withLock { $0 = .stopped }
        listener.set(nil)
    }

    /// Lets helpers begin, now that `client` is active, and locks what they and the audio thread may touch. [control]
    func beginHelping(_ engine: AudioEngine, _ client: OpaquePointer) {
        isRealtime.store(jack_is_realtime(client) != 0, ordering: .releasing)
        lockMemory()
        helpers.begin(engine) { index, engine in HelperThreads.jack(client, index, engine) }
    }

    /// Tells the owner. [any]
    func emit(_ event: DriverEvent) { listener.tell(event) }

    /// The server's rate or block may have changed; audio waits until this returns. nil: as it was. [any]
    func formatChanged(rate: Double?, block: Int?) {
        let changed: DriverInfo? = facts.withLock { info in
            let before = info
            info.rate = rate ?? info.rate
            info.block = block ?? info.block
            return info == before ? nil : info
        }
        if let changed { emit(.rateOrBlockChanged(rate: changed.rate, block: changed.block)) }
    }

    /// Waits until a callback that began before this call has ended: it may still see what was just changed.
    func waitForCycle() {
        let before = cycle.pointee.count.load(ordering: .acquiring)
        let deadline = monotonicSeconds() + 1
        while cycle.pointee.inside.load(ordering: .sequentiallyConsistent),
            cycle.pointee.count.load(ordering: .acquiring) == before, monotonicSeconds() < deadline
        {
            usleep(200)
        }
    }
}
