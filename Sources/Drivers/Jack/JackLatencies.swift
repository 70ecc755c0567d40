// SPDX-License-Identifier: Apache-2.0
import CJack
import Graph
import Synchronization
import System

/// What JACK is told of latencies. The server asks for them in a callback, from a thread of libjack's own, at any time;
/// the answer needs no call to the server.
final class JackLatencies: Sendable {
    /// A way from one slot to another.
    private struct Way {
        var from: Int
        var to: Int
        var frames: UInt32
    }

    /// By port name, as they were given; nil: nothing new.
    private let given = Lock<[LatencyRoute]?>(nil)
    private let ways = Lock<[Way]>([])
    /// While connections are made one after the other, each of which the server asks about: whoever looks at a port in
    /// jackd's callback waits more than a block for the connection to be in force, and the server waits for the answer.
    private let isPaused = Atomic(false)
    private let owesAnswer = Atomic(false)
    private let slots: JackSlots

    init(_ slots: JackSlots) { self.slots = slots }

    /// Notes new routes for `update`. [any]
    func set(_ routes: [LatencyRoute]) { given.withLock { $0 = routes } }

    /// Gives no answers until `resume`. [control]
    func pause() { isPaused.store(true, ordering: .releasing) }

    /// Answers again; the server is to ask, which the next `update` tells. [control]
    func resume() {
        owesAnswer.store(true, ordering: .releasing)
        isPaused.store(false, ordering: .releasing)
    }

    /// Takes over what was noted; whether the server has to ask again. `slot`: a port's slot by name. [control thread]
    func update(_ slot: (String) -> Int?) -> Bool {
        let owes = owesAnswer.exchange(false, ordering: .acquiringAndReleasing)
        guard let routes = given.withLock({ $0.take() }) else { return owes }
        let found = routes.compactMap { route -> Way? in
            guard let from = slot(route.from), let to = slot(route.to) else { return nil }
            return Way(from: from, to: to, frames: UInt32(clamping: route.frames))
        }
        ways.withLock { $0 = found }
        return true
    }

    /// Frames from a sample that we give until it is heard, as the server said last. [any]
    let output = Atomic<Int>(0)

    /// Answers the server: a port that we give to is as late as what comes in on the way to it, and what leaves on the
    /// way from a port that we take from is still to come. [libjack]
    func answer(_ mode: jack_latency_callback_mode_t) {
        if isPaused.load(ordering: .acquiring) { return }
        let ways = ways.withLock { $0 }
        let isCapture = mode == JackCaptureLatency
        if !isCapture { followOutput() }
        var ranges: [Int: jack_latency_range_t] = [:]
        for way in ways {
            let (known, asked) = isCapture ? (way.from, way.to) : (way.to, way.from)
            guard let port = port(known) else { continue }
            var range = jack_latency_range_t()
            jack_port_get_latency_range(port, mode, &range)
            range.min &+= way.frames
            range.max &+= way.frames
            let before = ranges[asked] ?? range
            ranges[asked] = jack_latency_range_t(min: min(before.min, range.min), max: max(before.max, range.max))
        }
        for slot in 0..<slots.count.pointee.load(ordering: .acquiring) {
            // What has no way is not late: it begins, or ends, here.
            guard slots.first[slot].isCapture.load(ordering: .relaxed) != isCapture, let port = port(slot) else {
                continue
            }
            var range = ranges[slot] ?? jack_latency_range_t()
            jack_port_set_latency_range(port, mode, &range)
        }
    }

    private func followOutput() {
        var latest: UInt32 = 0
        for slot in 0..<slots.count.pointee.load(ordering: .acquiring) {
            guard !slots.first[slot].isCapture.load(ordering: .relaxed), let port = port(slot) else { continue }
            var range = jack_latency_range_t()
            jack_port_get_latency_range(port, JackPlaybackLatency, &range)
            latest = max(latest, range.max)
        }
        output.store(Int(latest), ordering: .relaxed)
    }

    private func port(_ slot: Int) -> OpaquePointer? {
        OpaquePointer(bitPattern: slots.first[slot].port.load(ordering: .acquiring))
    }
}
