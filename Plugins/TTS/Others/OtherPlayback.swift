// SPDX-License-Identifier: GPL-3.0-or-later
import Glibc
import JSON
import NodeKit

/// What other programs play through PipeWire: lowered while the node speaks, and given back in any case, since a process of
/// its own does it when this one is gone.
final class OtherPlayback: @unchecked Sendable {
    // Sendable: `monitor` guards what changes; `lowered` is the worker's own.

    /// How far they are lowered, in dB, and in how many steps of how long.
    private static let depth = -12.0
    private static let steps = 4
    private static let step: UInt32 = 30_000
    /// Between two texts they are not raised for less than this, in seconds.
    private static let pause = 0.4

    private let host: NodeHost
    private let monitor = Monitor()
    private var isWanted = false
    private var isEnding = false
    private var isTold = false
    private var worker: Worker?
    /// Those that are lowered now.
    private var lowered: [Int: Lowered] = [:]
    /// Those that somebody else has set meanwhile: they keep that.
    private var left: Set<Int> = []

    private struct Lowered {
        var before: Double
        /// What it was set to.
        var given: [Double] = []
        /// How often in a row it was not among those that play: a busy PipeWire may leave one out.
        var missed = 0

        /// Whether it plays no more.
        var isGone: Bool { missed >= 3 }

        /// Whether nobody else has set it since.
        func isOurs(_ volume: Double) -> Bool {
            // PipeWire may not have come to the last ones yet. Half is not 6 dB less.
            ([before] + given).contains { abs($0 - volume) < 5e-4 * before }
        }
    }

    init(_ host: NodeHost) { self.host = host }

    /// Begins to watch whether it is wanted. [control]
    func begin() throws(NodeError) {
        if worker == nil { worker = try Worker { [unowned self] in run() } }
    }

    /// Whether the node speaks now. [control]
    func want(_ isSpeaking: Bool) {
        monitor.locked {
            if isSpeaking != isWanted { monitor.signal() }
            isWanted = isSpeaking
        }
    }

    /// Gives all back. [control]
    func end() {
        monitor.locked {
            isEnding = true
            monitor.signal()
        }
        worker?.join()
        worker = nil
    }

    // MARK: the worker

    private func run() {
        // A process that does not read ends a write, not this process.
        var pipe = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, nil)
        while goesOn(until: { isWanted }) {
            do throws(NodeError) {
                if let keeper = try VolumeKeeper() {
                    lower(keeper)
                } else {
                    // Another voice has lowered them.
                    _ = goesOn(for: 0.2) { !isWanted }
                }
            } catch {
                tell(error)
                _ = goesOn(until: { !isWanted })
            }
        }
    }

    /// Waits until something holds, or for so many seconds; false: the node ends.
    private func goesOn(for seconds: Double = .infinity, until holds: () -> Bool) -> Bool {
        let end = monotonicSeconds() + seconds
        return monitor.locked {
            while !isEnding, !holds() {
                let rest = end - monotonicSeconds()
                if rest <= 0 { break }
                monitor.wait(milliseconds: Int(min(rest, 1) * 1000) + 1)
            }
            return !isEnding
        }
    }

    /// From the beginning of a speech until it is over for a while. Who begins to play meanwhile is lowered, too.
    private func lower(_ keeper: VolumeKeeper) {
        (lowered, left) = ([:], [])
        do throws(NodeError) {
            while monitor.locked({ isWanted && !isEnding }) {
                if let now = try heard() {
                    // At each look, so that whoever ends this process gives back only what is still lowered.
                    forget(now)
                    let new = now.filter { lowered[$0.key] == nil && !left.contains($0.key) }
                    for (id, volume) in new { lowered[id] = Lowered(before: volume) }
                    keeper.undo = lowered.mapValues(\.before)
                    fade(Set(new.keys), keeper) { Self.depth * Double($0) / Double(Self.steps) }
                }
                repeat { _ = goesOn(for: 1) { !isWanted } } while isOnlyBetween
            }
            // What is still to be set would come after whatever is read before.
            guard keeper.settles(within: 10) else { return keeper.end() }
            // A busy machine may be long in telling: without that, what somebody else has set would be overwritten.
            look(keeper, at: try playing(tries: 8))
            fade(Set(lowered.keys), keeper) { Self.depth * (1 - Double($0) / Double(Self.steps)) }
            // Whoever speaks next must not take what is still low for what was before. What does not come is left to the end.
            guard keeper.settles(within: 10) else { return keeper.end() }
            var tries = 0
            while tries < 20, !look(keeper, at: try playing(tries: 8)) {
                usleep(Self.step)
                tries += 1
            }
            if tries < 20 { keeper.undo = [:] }
        } catch {
            tell(error)
            _ = goesOn(for: 1) { !isWanted }
        }
        keeper.end()
    }

    /// What plays; nil: it cannot be known just now, but some are lowered. To give back without a look would overwrite what
    /// somebody else has set.
    private func heard() throws(NodeError) -> [Int: Double]? {
        do throws(NodeError) { return try playing() } catch {
            if lowered.isEmpty { throw error }
            return nil
        }
    }

    /// Forgets those whose volume was changed meanwhile, which keep it.
    private func forget(_ now: [Int: Double]) {
        for (id, one) in lowered {
            guard let volume = now[id], !one.isOurs(volume) else { continue }
            lowered[id] = nil
            left.insert(id)
        }
    }

    /// The same with those that are gone, and whether all others are as before. Only at the end: one that a listing leaves out
    /// meanwhile would be taken for a new one when it is back, and lowered twice.
    @discardableResult private func look(_ keeper: VolumeKeeper, at now: [Int: Double]) -> Bool {
        forget(now)
        for (id, one) in lowered { lowered[id]?.missed = now[id] == nil ? one.missed + 1 : 0 }
        lowered = lowered.filter { !$1.isGone }
        keeper.undo = lowered.mapValues(\.before)
        return lowered.allSatisfy { id, one in now[id].map { $0 > 0.99 * one.before } ?? false }
    }

    /// Whether the speech has just ended: one that follows at once is waited for.
    private var isOnlyBetween: Bool {
        guard !monitor.locked({ isWanted }) else { return false }
        _ = goesOn(for: Self.pause) { isWanted }
        return monitor.locked { isWanted && !isEnding }
    }

    /// In steps, or at once where PipeWire takes long for one.
    private func fade(_ streams: Set<Int>, _ keeper: VolumeKeeper, decibels: (Int) -> Double) {
        guard !streams.isEmpty else { return }
        var step = 1
        while step <= Self.steps {
            var volumes: [Int: Double] = [:]
            for id in streams {
                guard let before = lowered[id]?.before else { continue }
                volumes[id] = before * gain(decibels(step))
                lowered[id]?.given.append(before * gain(decibels(step)))
            }
            step = keeper.set(volumes) || step == Self.steps ? step + 1 : Self.steps
            usleep(Self.step)
        }
    }

    private func tell(_ error: NodeError) {
        if isTold { return }
        isTold = true
        host.log(
            VG_LOG_WARNING,
            "what other programs play is not lowered: \(error.message); with a JACK server lead it through a duck node")
    }

    private func gain(_ decibels: Double) -> Double { pow(10, decibels / 20) }
}

/// Roles of PipeWire that are not lowered: who is called, or has things read aloud, wants to hear that as well.
private let sparedRoles: Set = ["Accessibility", "Communication", "Notification"]

/// The volumes, linear, of the streams that play and may be lowered, by their numbers. What a busy machine does not answer is
/// asked again.
private func playing(tries: Int = 3) throws(NodeError) -> [Int: Double] {
    for _ in 1..<tries { if let volumes = try? askedOnce() { return volumes } }
    return try askedOnce()
}

private func askedOnce() throws(NodeError) -> [Int: Double] {
    guard let program = programPath("pw-dump"), let dump = outputOf([program], within: 2) else {
        throw NodeError("there is no answer from PipeWire's pw-dump")
    }
    // Of what comes and goes meanwhile a second list may follow.
    let lines = dump.text.split(separator: "\n").drop { $0 != "[" }.prefix { $0 != "]" }
    guard dump.code == 0, let objects = try? JSON((lines.joined(separator: "\n") + "]").utf8) else {
        throw NodeError("PipeWire cannot be asked: \(dump.text.prefix { !$0.isNewline })")
    }
    var volumes: [Int: Double] = [:]
    for object in objects.items {
        guard let id = object["id"]?.integer, let info = object["info"], let facts = info["props"],
            facts["media.class"]?.string == "Stream/Output/Audio",
            !sparedRoles.contains(facts["media.role"]?.string ?? ""),
            let volume = info["params"]?["Props"]?.items.first?["volume"]?.double
        else { continue }
        volumes[id] = volume
    }
    return volumes
}
