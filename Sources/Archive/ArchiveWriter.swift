// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import NodeKit
import System

/// Writes what nodes with `keep` tell into the archive, as it comes, on a thread of its own.
///
/// Nothing that plays ever waits for it: what cannot be written now is held, and tried again each second. Only what is more
/// than `mostHeld` is lost, the oldest first, and counted. An archive that is damaged, or that somebody keeps locked, gets
/// another name, and a new one is begun. All of that is told by `HostEvent.archive` and `HostEvent.archiveSetAside`.
/// The file is opened when there is something to keep.
public final class ArchiveWriter: @unchecked Sendable {
    // Sendable: all but `outcome` belongs to the thread.

    /// What a run is called in the archive.
    public struct Session: Sendable, Equatable {
        /// The name of the graph.
        public var graph: String
        /// The file it was read from; nil: none.
        public var file: String?
        /// When it began, in seconds since 1970.
        public var start: Double

        /// Describes a run that begins now.
        public init(graph: String, file: String? = nil, start: Double = calendarTime()) {
            self.graph = graph
            self.file = file
            self.start = start
        }
    }

    /// How it ended.
    public struct Outcome: Sendable, Equatable {
        /// Items and takes that could not be written.
        public var lost = 0
        /// Why.
        public var reason = ""
        /// Its session; nil: nothing was kept.
        public var session: Int64?
    }

    /// Publishes an event of the host's.
    public typealias Tell = @Sendable (EventType, [String: SettingValue]) -> Void

    /// So many items and takes are held while they cannot be written.
    public static let mostHeld = 10_000

    private let events: Subscription
    private let tell: Tell
    private let mostHeld: Int
    private let retry: Double
    private let opensAtOnce: Bool
    private var store: SessionStore
    private var held: [Event] = []
    /// Items of which a partial text may be among those held.
    private var growing: Set<SessionStore.Key> = []
    private var lost = 0
    private var toldState = ""
    private var toldLost = 0
    /// Since when others keep it locked.
    private var lockedSince: Double?
    /// When it was tried last, by the clock that only goes on.
    private var triedAt = 0.0
    private let outcome = Lock(Outcome())
    private var thread: SystemThread?

    /// Which events it needs, among all that a host publishes. [any]
    @Sendable public static func wants(_ published: Published) -> Bool {
        guard case .event(let event) = published else { return false }
        // A node that fails or goes may begin to count its items anew.
        return event.keeping != nil || event.name == HostEvent.changed.name || event.name == HostEvent.health.name
    }

    /// Begins to keep what a host's graph will tell: attach it before the graph runs, and call `finish` when that was
    /// stopped. [control]
    public convenience init(keeping host: Host, session: Session, path: String? = nil, atOnce: Bool = false) {
        self.init(host.subscribe(.lossless, where: Self.wants), session: session, path: path, atOnce: atOnce) {
            host.tell($0, $1)
        }
    }

    /// Begins to keep what a lossless subscription gives of what it `wants`. Others may keep the file locked for `patience`
    /// seconds. With `atOnce` the file is opened now, so that what is wrong with it is known before anything is to be kept.
    /// [control]
    public init(
        _ events: Subscription, session: Session, path: String? = nil, patience: Double = 10,
        mostHeld: Int = ArchiveWriter.mostHeld, retry: Double = 1, atOnce: Bool = false, tell: @escaping Tell
    ) {
        opensAtOnce = atOnce
        self.events = events
        self.tell = tell
        self.mostHeld = max(1, mostHeld)
        self.retry = retry
        store = SessionStore(ArchiveFile(path: path ?? Archive.standardPath, patience: patience), session)
        do { thread = try SystemThread(name: "vg-archive", blocksSignals: true) { [self] in run() } } catch {
            tell(HostEvent.archive, ["state": .string("ended"), "reason": .string("\(error)")])
            events.cancel()
        }
    }

    /// Waits until all is written that was told until now, and closes the session. [control]
    @discardableResult
    public func finish() -> Outcome {
        events.cancel()
        thread?.join()
        return outcome.withLock { $0 }
    }

    // MARK: on its thread

    private func run() {
        if opensAtOnce { attempt() }
        while let first = next() {
            hold(first)
            let isWell = store.error == nil
            var rest = isWell ? min(1000, mostHeld) - held.count : 2 * mostHeld
            while rest > 0, case .event(let event)? = events.poll() {
                hold(event)
                rest -= 1
            }
            guard isWell || monotonicSeconds() >= triedAt + retry else { continue }
            write()
            triedAt = monotonicSeconds()
        }
        for _ in 0..<2 where !held.isEmpty { write() }
        lost += waiting
        let reason = store.error?.fault.message ?? ""
        store.end()
        if lost > toldLost || toldState != "" { tellState("ended", reason) }
        outcome.withLock { $0 = Outcome(lost: lost, reason: lost > 0 ? reason : "", session: store.session) }
    }

    /// What comes next; while something waits to be written, an empty event a second. Nil: the end.
    private func next() -> Event? {
        while true {
            let deadline = held.isEmpty ? .infinity : monotonicSeconds() + retry
            switch events.next(until: deadline) {
            case .event(let event): return event
            case nil where events.isEnded:
                // What came just before the end.
                guard case .event(let event)? = events.poll() else { return nil }
                return event
            case nil where !held.isEmpty: return Event("")
            default: continue
            }
        }
    }

    private func isKept(_ event: Event) -> Bool { event.keeping != nil }

    /// Items and takes that wait, each once.
    private var waiting: Int {
        var found: Set<String> = []
        for event in held {
            guard let keeping = event.keeping, keeping.role.stage != .withdrawn else { continue }
            let key = if case .text = keeping.role { "item" } else { "path" }
            found.insert("\(event.node ?? "") \(key) \(event.fields[key].map { "\($0)" } ?? "")")
        }
        return found.count
    }

    /// Puts an event to those that wait; a newer text of an item takes the place of an older one.
    private func hold(_ event: Event) {
        if let keeping = event.keeping, case .text(let stage) = keeping.role {
            let number = Settings(event.fields).integer("item") ?? 0
            let key = SessionStore.Key(node: event.node ?? "", number: Int64(number))
            if growing.contains(key), held.count > 100,
                let older = held.lastIndex(where: {
                    $0.node == event.node && $0.fields["item"] == event.fields["item"]
                        && $0.keeping?.role == .text(.partial)
                })
            {
                held.remove(at: older)
            }
            if stage == .partial { growing.insert(key) } else { growing.remove(key) }
        }
        if event.keeping != nil || event.name != "" { held.append(event) }
        while held.count > mostHeld {
            // Of what has only begun, more comes.
            if held[0].keeping?.role.stage == .whole { lost += 1 }
            held.removeFirst()
        }
    }

    private func write() {
        guard !held.isEmpty else { return }
        // Nothing is made for events that only may matter.
        guard store.isOpen || held.contains(where: isKept) else {
            held = []
            return
        }
        attempt()
    }

    private func attempt() {
        do throws(ArchiveError) {
            do throws(ArchiveError) { try writeHeld() } catch {
                guard isHopeless(error) else { throw error }
                if let other = try store.setAside() {
                    tellSetAside(ArchiveFile.SetAside(path: other, reason: error.fault.message))
                }
                try writeHeld()
            }
        } catch { tellState("waiting", error.description) }
    }

    private func writeHeld() throws(ArchiveError) {
        tellSetAside(try store.write(held))
        (held, growing) = ([], [])
        lockedSince = nil
        tellState("keeping", "")
    }

    /// Whether an archive will not get better: it is damaged, or was locked for as long as it may be.
    private func isHopeless(_ error: ArchiveError) -> Bool {
        guard error.kind == .locked else {
            lockedSince = nil
            return [.damaged, .strange].contains(error.kind)
        }
        let since = lockedSince ?? monotonicSeconds()
        lockedSince = since
        return monotonicSeconds() - since >= store.file.patience
    }

    private func tellSetAside(_ other: ArchiveFile.SetAside?) {
        guard let other else { return }
        tell(HostEvent.archiveSetAside, ["path": .string(other.path), "reason": .string(other.reason)])
    }

    /// Told when it changes, and when more is lost.
    private func tellState(_ state: String, _ reason: String) {
        guard state != toldState || lost != toldLost else { return }
        if state == "waiting", toldState != "waiting" || lost != toldLost {
            let losses = lost > 0 ? "; \(lost) items are lost" : ""
            tell(
                HostEvent.log,
                [
                    "level": .string("warning"),
                    "text": .string("the archive cannot be written: \(reason); what is to be kept is held\(losses)"),
                ])
        }
        (toldState, toldLost) = (state, lost)
        tell(
            HostEvent.archive,
            [
                "state": .string(state), "reason": .string(reason), "path": .string(store.file.path),
                "waiting": .integer(Int64(waiting)), "lost": .integer(Int64(lost)),
            ])
    }
}
