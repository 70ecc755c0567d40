// SPDX-License-Identifier: Apache-2.0
import CJack
import CRealtime
import Glibc
import Realtime
import Synchronization
import System

/// What JACK's notification callbacks leave for the control thread: none of them may call the server, and some come
/// from threads that must not wait.
final class JackSignals: Sendable {
    /// Wakes the control thread.
    let wakeup = Wakeup()
    /// The server is gone.
    let lost = Atomic(false)
    /// The owner knows of another format.
    let formatTold = Wakeup()
    /// The watchdog sees no cycles.
    let silent = Atomic(false)
    /// Everything wanted is to be connected, whatever is new.
    let connectAll = Atomic(false)
    /// Ports went, and others may be meant in their place.
    let vanished = Atomic(false)
    /// Other programs, their ports or connections have changed.
    let rewired = Atomic(true)
    /// Dropouts since the start.
    let xruns = Atomic(0)
    /// Microseconds of the newest dropout's delay, as the bits of a Float.
    let xrunDelay = Atomic<UInt32>(0)

    /// Ports of whatever program that were connected, and disconnected, by their ids; some may be ours.
    private let joined = Lock<[UInt32]>([])
    private let parted = Lock<[UInt32]>([])

    private let reason = Lock("")
    private let appeared = Lock<[UInt32]>([])

    /// Takes what the server said at its end.
    func takeReason() -> String {
        reason.withLock { text in
            defer { text = "" }
            return text.isEmpty ? "the server ended without a word" : text
        }
    }

    /// Takes the ids of ports that appeared since the last call.
    func takeAppeared() -> [UInt32] {
        appeared.withLock { ids in
            defer { ids = [] }
            return ids
        }
    }

    fileprivate func shutDown(_ text: UnsafePointer<CChar>?) {
        if let text { reason.withLock { $0 = String(cString: text) } }
        lost.store(true, ordering: .releasing)
        wakeup.signal()
    }

    fileprivate func portRegistered(_ id: UInt32) {
        appeared.withLock { $0.append(id) }
        rewired.store(true, ordering: .releasing)
        wakeup.signal()
    }

    /// Takes the ids of ports that were connected since the last call.
    func takeJoined() -> [UInt32] {
        joined.withLock { ids in
            defer { ids = [] }
            return ids
        }
    }

    /// Takes the ids of ports that lost a connection since the last call.
    func takeParted() -> [UInt32] {
        parted.withLock { ids in
            defer { ids = [] }
            return ids
        }
    }

    fileprivate func connectionChanged(_ one: UInt32, _ other: UInt32, isMade: Bool) {
        rewired.store(true, ordering: .releasing)
        if isMade { return joined.withLock { $0 += [one, other] } }
        parted.withLock { $0 += [one, other] }
        wakeup.signal()
    }

    fileprivate func portsWent() {
        vanished.store(true, ordering: .releasing)
        rewired.store(true, ordering: .releasing)
        wakeup.signal()
    }

    fileprivate func dropout(delay: Float) {
        xrunDelay.store(delay.bitPattern, ordering: .relaxed)
        xruns.add(1, ordering: .releasing)
        wakeup.signal()
    }
}

extension JackDriver {
    /// Hangs our functions into a client that is not active yet.
    func setCallbacks(_ client: OpaquePointer) {
        let this = Unmanaged.passUnretained(self).toOpaque()
        jack_set_process_callback(client, jackProcess, cycle)
        jack_set_thread_init_callback(client, { @Sendable _ in vg_lock_stack() }, nil)
        jack_set_buffer_size_callback(
            client,
            { @Sendable frames, argument in
                JackDriver.tellFormat(argument, rate: nil, block: Int(frames))
                return 0
            }, this)
        jack_set_sample_rate_callback(
            client,
            { @Sendable rate, argument in
                JackDriver.tellFormat(argument, rate: Double(rate), block: nil)
                return 0
            }, this)
        jack_set_xrun_callback(
            client,
            { @Sendable argument in
                JackDriver.tell(argument) { driver in
                    let delay = driver.cycle.pointee.client.map { jack_get_xrun_delayed_usecs($0) } ?? 0
                    driver.signals.dropout(delay: delay)
                }
                return 0
            }, this)
        jack_set_port_registration_callback(
            client,
            { @Sendable id, registered, argument in
                JackDriver.tell(argument) { driver in
                    if registered != 0 { driver.signals.portRegistered(id) } else { driver.signals.portsWent() }
                }
            }, this)
        jack_set_port_connect_callback(
            client,
            { @Sendable one, other, isMade, argument in
                JackDriver.tell(argument) { $0.signals.connectionChanged(one, other, isMade: isMade != 0) }
            }, this)
        jack_set_port_rename_callback(
            client,
            { @Sendable id, _, _, argument in JackDriver.tell(argument) { $0.signals.portRegistered(id) } }, this)
        jack_set_freewheel_callback(
            client,
            { @Sendable isStarting, argument in
                JackDriver.tell(argument) {
                    $0.cycle.pointee.isFreewheeling.store(isStarting != 0, ordering: .releasing)
                }
            }, this)
        // jackd tells of the ports of a client that leaves while they are still there, and of the client when it is gone.
        jack_set_client_registration_callback(
            client,
            { @Sendable _, registered, argument in
                if registered == 0 { JackDriver.tell(argument) { $0.signals.portsWent() } }
            }, this)
        jack_set_latency_callback(
            client, { @Sendable mode, argument in JackDriver.tell(argument) { $0.latencies.answer(mode) } }, this)
        // PipeWire tells of some deaths through one of these only, jackd through the other.
        jack_on_shutdown(client, { @Sendable in JackDriver.tell($0) { $0.signals.shutDown(nil) } }, this)
        jack_on_info_shutdown(
            client,
            { @Sendable _, reason, argument in JackDriver.tell(argument) { $0.signals.shutDown(reason) } }, this)
    }

    /// Does what a callback is for; libjack ends none of its threads meanwhile.
    private static func tell(_ argument: UnsafeMutableRawPointer?, _ body: (JackDriver) -> Void) {
        let stay = vg_jack_stay()
        defer { vg_jack_unstay(stay) }
        body(Unmanaged<JackDriver>.fromOpaque(argument!).takeUnretainedValue())
    }

    /// Tells the owner of another format on a thread of the driver's own, and waits for that. Who closes the client may hold
    /// what the owner waits for, so libjack may end its thread here.
    private static func tellFormat(_ argument: UnsafeMutableRawPointer?, rate: Double?, block: Int?) {
        var told: Int32 = -1
        tell(argument) { driver in
            let number = driver.former.load(ordering: .acquiring)
            let done = driver.signals.formatTold
            // Left from a server whose client was closed meanwhile.
            done.wait(milliseconds: 0)
            let thread = try? SystemThread(name: "vg-format") {
                driver.formats.locked {
                    if driver.former.load(ordering: .acquiring) == number {
                        driver.formatChanged(rate: rate, block: block)
                    }
                }
                done.signal()
            }
            if let thread { thread.detach() } else { driver.formatChanged(rate: rate, block: block) }
            told = thread == nil ? -1 : done.descriptor
        }
        // A signal may end a wait early.
        while told >= 0, !vg_event_wait(told, -1) {}
    }
}
