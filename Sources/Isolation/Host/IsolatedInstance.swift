// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Realtime
import Synchronization
import System

/// One isolated node as its supervisor knows it: what is needed to make it again, and where its child's words go.
final class IsolatedInstance: @unchecked Sendable {
    // Sendable: what several threads use is atomic or behind a lock; the rest belongs to whoever holds the supervisor's
    // lock for calls.

    /// What makes the node.
    struct Recipe: Sendable {
        var type: String
        /// The shared object; empty: the host's own program.
        var path: String
        var name: String
        var settings: Settings
        /// Variables that the settings name, which the child has not got otherwise.
        var variables: [String] = []
        /// What the type declares.
        var actions: [Action]
        var series: Int
        /// Whether a saved state can be given back, by the setting `state`.
        var takesState: Bool
        /// Whether it has blocks.
        var hasAudio: Bool

        /// Those variables with what they hold now.
        var keys: [String: SettingValue] {
            variables.reduce(into: [:]) { keys, name in
                if let value = getenv(name) { keys[name] = .string(String(cString: value)) }
            }
        }

        /// The plugin, for people.
        var plugin: String {
            if let plugin = settings.string("plugin") { return plugin }
            return path.isEmpty ? type : String(path.split(separator: "/").last ?? "")
        }
        /// Whether its state can be saved.
        var saves: Bool { actions.contains { $0.name == VG_ACTION_SAVE } }
    }

    let id: UInt32
    let recipe: Recipe
    let host: NodeHost
    let link: UnsafeMutablePointer<LinkState>
    /// Whether a child has this node, as far as it was asked for: created, prepared, active.
    let isThere = Atomic(false)
    /// Messages, actions and settings that were sent; and what the child told last: as many that it took, and in the
    /// lowest bit whether the node is idle.
    let sent = Atomic<UInt32>(0)
    let told = Atomic<UInt64>(1)
    /// What the child was told last of the host.
    let hostFacts = Lock(HostFacts())

    // With the supervisor's lock for calls.
    var layout = Layout()
    var preparation: Preparation?
    /// The thread that watches reads it without that lock.
    var isActive: Bool {
        get { active.load(ordering: .acquiring) }
        set { active.store(newValue, ordering: .releasing) }
    }
    private let active = Atomic(false)
    /// The newest complete state; nil: none yet.
    var state: String? {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }
    private let kept = Lock<String?>(nil)
    var savedStates = 0
    /// Blocks that had been asked of it when its process began.
    var blocksBefore: UInt64 = 0
    /// Whether what its settings tell it by message has reached it; until then its state would lack that.
    var hasItsSettings: Bool { state != nil || !recipe.hasAudio || blocks > blocksBefore + 1 }
    /// What was done to it that the state does not hold for certain.
    let replays = Lock(Replays())
    /// Saving ended the child once: it is not tried again.
    var saveIsDeadly = false
    var failures = 0
    // By the thread that watches.
    private var owed = OwedBlock()
    var toldBypassed: UInt64 = 0
    var isLate = false

    private struct Gate {
        var isOpen = true
        /// Threads that are telling the host something.
        var guests = 0
        /// The memory of the newest `prepare`.
        var memory: SharedMemory?
        var shape: BlockShape?
        /// Messages for a child that is not there.
        var waiting: [(port: Int, message: Message)] = []
        var isOverflowing = false
    }
    private let gate = Lock(Gate())
    static let mostMessages = 256

    /// What the node says of its health, what its supervisor says, and what the host was told.
    private struct Condition {
        var own = Health.ok
        var fault: Health?
        var told = Health.ok
    }
    private let condition = Lock(Condition())

    init(id: UInt32, recipe: Recipe, host: NodeHost) {
        self.id = id
        self.recipe = recipe
        self.host = host
        link = .allocate(capacity: 1)
        link.initialize(to: LinkState())
    }

    deinit {
        link.deinitialize(count: 1)
        link.deallocate()
    }

    // MARK: the host

    /// Runs `body`, which may tell the host something, with no lock held; not after `shut`. [any]
    func withHost<R>(_ body: (NodeHost) -> R) -> R? {
        let isOpen = gate.withLock { gate in
            if gate.isOpen { gate.guests += 1 }
            return gate.isOpen
        }
        guard isOpen else { return nil }
        defer {
            gate.withLock { $0.guests -= 1 }
            gate.signal()
        }
        return body(host)
    }

    /// From now on nothing reaches the host: it is about to free what it is reached by. [control]
    func shut() {
        gate.withLock { $0.isOpen = false }
        _ = gate.wait { $0.guests == 0 ? true : nil }
    }

    /// Publishes an event about this node, as the host itself. [control]
    func tell(_ event: String, _ fields: [(String, SettingValue)]) { withHost { $0.publish(event, fields) } }

    /// Writes to the log, as the host itself. [control]
    func log(_ level: vg_log_level, _ text: String) { withHost { $0.log(level, text) } }

    /// Adds to what the host's status shows. [any]
    func count(_ counter: String, _ number: Int = 1) { withHost { $0.count(counter, number) } }

    /// What is wrong with the process, which goes before what the node says of itself; nil: nothing. [control]
    func setFault(_ fault: Health?) { change { $0.fault = fault } }

    /// The process is gone, and with it what the node said of itself. [control]
    func fail(_ reason: String) { change { $0 = Condition(fault: .failed(reason), told: $0.told) } }

    /// What the node says of itself. [any]
    func setHealth(_ health: Health) { change { $0.own = health } }

    private func change(_ body: (inout Condition) -> Void) {
        withHost { host in
            // The host hears of changes in their order.
            condition.withLock { condition in
                body(&condition)
                let health = condition.fault ?? condition.own
                guard health != condition.told else { return }
                condition.told = health
                host.health(health)
            }
        }
    }

    // MARK: the block

    /// The memory of the newest preparation. [control]
    var memory: SharedMemory? { gate.withLock { $0.memory } }

    func setMemory(_ memory: SharedMemory, _ shape: BlockShape) {
        gate.withLock { gate in
            gate.memory = memory
            gate.shape = shape
        }
        link.pointee.missedSince.store(0, ordering: .relaxed)
        link.pointee.gaveNonsense.store(false, ordering: .relaxed)
    }

    /// Looks at the block, which stays mapped meanwhile. [control]
    func withBlock<R>(_ body: (SharedBlock) -> R) -> R? {
        gate.withLock { gate in
            guard let memory = gate.memory, let shape = gate.shape else { return nil }
            return body(SharedBlock(shape, at: memory.address))
        }
    }

    /// Whether the child was processing this node. After its end. [control]
    var wasInside: Bool { withBlock { $0.inside.pointee.load(ordering: .relaxed) != 0 } ?? false }

    /// Whether the child owes a block that was given up. [control]
    var owesBlock: Bool {
        guard link.pointee.missedSince.load(ordering: .acquiring) != 0 else { return false }
        return withBlock { block in
            let response = block.response.pointee.load(ordering: .acquiring)
            return response & SharedBlock.failed == 0 && response != block.request.pointee.load(ordering: .relaxed)
        } ?? false
    }

    /// For how long it has done so and had a processor to work on it. By the thread that watches.
    func owedSeconds(_ process: pid_t) -> Double {
        let thread = withBlock { $0.thread.pointee.load(ordering: .acquiring) } ?? 0
        return owed.look(
            since: link.pointee.missedSince.load(ordering: .acquiring), thread: Int32(bitPattern: thread), of: process)
    }

    /// Blocks that were asked of the child. [any]
    var blocks: UInt64 { link.pointee.asked.load(ordering: .relaxed) }

    // MARK: messages

    /// Whether the node has nothing left to play, nor to take. [any]
    var isIdle: Bool {
        guard isThere.load(ordering: .acquiring) else { return true }
        let told = told.load(ordering: .acquiring)
        return told & 1 != 0 && told >> 1 == UInt64(sent.load(ordering: .relaxed))
    }

    /// What became of a message for a child that is not there.
    enum Keeping {
        case kept
        /// There is a child again.
        case isThere
        /// Too many are kept already; whether this is the first one too many.
        case isFull(first: Bool)
    }

    /// Keeps a message until there is a child again. [control]
    func keep(_ message: Message, port: Int) -> Keeping {
        gate.withLock { gate in
            if isThere.load(ordering: .acquiring) { return .isThere }
            guard gate.waiting.count < Self.mostMessages else {
                defer { gate.isOverflowing = true }
                return .isFull(first: !gate.isOverflowing)
            }
            gate.waiting.append((port, message))
            return .kept
        }
    }

    /// What is kept; when that is nothing, the node is there from now on, so that no message overtakes one. [control]
    func takeMessages() -> [(port: Int, message: Message)] {
        gate.withLock { gate in
            if gate.waiting.isEmpty { isThere.store(true, ordering: .releasing) }
            defer { (gate.waiting, gate.isOverflowing) = ([], false) }
            return gate.waiting
        }
    }

    /// Those that could not be given on after all. [control]
    func giveBack(_ messages: ArraySlice<(port: Int, message: Message)>) {
        gate.withLock { $0.waiting = messages + $0.waiting }
    }

    /// A lasting call is done, or, with `false`, is not. [any]
    func end(_ number: Int, done isDone: Bool) {
        let forgotten = replays.withLock { $0.end(number, done: isDone) }
        if let forgotten {
            log(VG_LOG_WARNING, "\(forgotten.text) will not be done again after a crash: there is too much to do again")
        }
    }
}
