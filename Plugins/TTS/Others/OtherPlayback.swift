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
    /// What of a volume is left after no step, one, two ... .
    private static let shares = (0...steps).map { pow(10, depth * Double($0) / Double(steps) / 20) }
    /// Between two texts they are not raised for less than this, in seconds.
    private static let pause = 0.4

    private let host: NodeHost
    private let monitor = Monitor()
    private var isWanted = false
    private var isEnding = false
    private var isTold = false
    private var worker: Worker?
    /// Those that are lowered now: what they were before.
    private var lowered: [Int: Double] = [:]
    /// Those that somebody else has set meanwhile: they keep that.
    private var left: Set<Int> = []

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
                if let keeper = try VolumeKeeper(shares: Self.shares) {
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
                    lowered.merge(new) { $1 }
                    keeper.undo = lowered
                    fade(Set(new.keys), keeper, to: Self.shares.dropFirst())
                }
                repeat { _ = goesOn(for: 1) { !isWanted } } while isOnlyBetween
            }
            // What is still to be set would come after whatever is read before. Where that takes long, and of streams that
            // the answer leaves out, as it does now and then, the keeper gives back alone: it looks at each.
            if keeper.settles(within: 0.5), let now = try heard() {
                forget(now)
                keeper.undo = lowered
                fade(Set(lowered.keys).intersection(now.keys), keeper, to: Self.shares.dropLast().reversed())
            }
        } catch {
            tell(error)
            _ = goesOn(for: 1) { !isWanted }
        }
        // A host that ends waits for 5 s for all of this.
        keeper.end { !isAtItsEnd }
    }

    private var isAtItsEnd: Bool { monitor.locked { isEnding } }

    /// What plays; nil: it cannot be known just now, but some are lowered. To give back without a look would overwrite what
    /// somebody else has set.
    private func heard() throws(NodeError) -> [Int: Double]? {
        do throws(NodeError) { return try playing(tries: isAtItsEnd ? 1 : 3) } catch {
            if lowered.isEmpty { throw error }
            return nil
        }
    }

    /// Forgets those whose volume was changed meanwhile, which keep it. PipeWire may not have come to the last one that was
    /// set yet; half is not 6 dB less.
    private func forget(_ now: [Int: Double]) {
        for (id, before) in lowered {
            guard let volume = now[id], !Self.shares.contains(where: { abs($0 * before - volume) < 5e-4 * before })
            else { continue }
            lowered[id] = nil
            left.insert(id)
        }
    }

    /// Whether the speech has just ended: one that follows at once is waited for.
    private var isOnlyBetween: Bool {
        guard !monitor.locked({ isWanted }) else { return false }
        _ = goesOn(for: Self.pause) { isWanted }
        return monitor.locked { isWanted && !isEnding }
    }

    /// In steps, or at once where PipeWire takes long for one.
    private func fade(_ streams: Set<Int>, _ keeper: VolumeKeeper, to shares: some BidirectionalCollection<Double>) {
        guard !streams.isEmpty, let last = shares.last else { return }
        let volumes = lowered.filter { streams.contains($0.key) }
        for share in shares.dropLast() {
            guard keeper.set(volumes.mapValues { $0 * share }, within: 1) else { break }
            usleep(Self.step)
        }
        keeper.set(volumes.mapValues { $0 * last }, within: 0)
    }

    private func tell(_ error: NodeError) {
        if isTold { return }
        isTold = true
        host.log(
            VG_LOG_WARNING,
            "what other programs play is not lowered: \(error.message); with a JACK server lead it through a duck node")
    }
}

/// Roles of PipeWire that are not lowered: who is called, or has things read aloud, wants to hear that as well.
private let sparedRoles: Set = ["Accessibility", "Communication", "Notification"]

/// The volumes, linear, of the streams that play and may be lowered, by their numbers. What a busy machine does not answer is
/// asked again.
private func playing(tries: Int) throws(NodeError) -> [Int: Double] {
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
