// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A conversation: which of the user's items are answered, what of the answers is heard, and how that stands. It is told
/// what happens by control calls and by the thread that answers; what follows is told in that order.
final class Conversation: @unchecked Sendable {
    // Sendable: `monitor` guards everything that changes.

    /// Seconds that a reply without any sign of speech stays interruptible: nobody may be there who speaks.
    static let grace = 1.0
    /// Seconds of silence after which a reply that was heard has ended, where nothing more exact is told.
    static let pause = 0.3
    /// Seconds in which whoever speaks tells what was heard of a reply that was cut.
    static let settling = 0.5

    let monitor = Monitor()
    let host: NodeHost
    let options: AgentOptions
    let clock: AgentClock
    var history: History
    /// The agent's own numbers, and the newest reply's.
    private var numbers = ItemNumbers()
    var lastReply: UInt64 = 0
    /// The newest items of the user.
    var items: [UserItem] = []
    /// The item of which something was said while a reply was heard.
    var overlapping: UInt64?
    /// The reply that is made or spoken, and what waits until it is known how much of that was heard.
    var current: Turn?
    var pending: Turn?
    /// What the thread works on; it may be stopped already.
    var working: Turn?
    /// What went wrong last, and with what; nil: nothing since.
    var failure: AgentFault?
    var failed: Turn?
    var retryIn: Double?
    /// Whether whoever speaks has ever told what was heard, or that it speaks, or has not told what was waited for.
    var tellsHeard = false
    var tellsSpeaking = false
    var tellsNothing = false
    /// The reply that ended last: what was heard of it may be told yet.
    var past: Turn?
    var forgets = false
    var isEnding = false
    private var told: AgentState?

    init(host: NodeHost, options: AgentOptions, clock: AgentClock) {
        self.host = host
        self.options = options
        self.clock = clock
        history = History(turns: options.historyTurns, characters: options.historyCharacters)
    }

    /// A number of its own, for a reply or for what was typed.
    func nextNumber() -> UInt64 { numbers.next(offline: clock.isOffline) }

    /// Whether the user hears it, or will: what is said now interrupts it.
    var isHeard: Bool {
        if let current, !current.isOver, current.settlesBy == nil, !current.pieces.isEmpty { return true }
        return clock.isSpeaking
    }

    /// Nothing is being answered or spoken. [any]
    var isIdle: Bool { monitor.locked { current == nil && pending == nil && working == nil } }

    // MARK: State

    private var state: AgentState {
        var state = AgentState(isListening: clock.isSpeech)
        let answering = pending ?? current.flatMap { $0.isOver || !$0.pieces.isEmpty ? nil : $0 }
        if let retryIn {
            (state.name, state.retry) = (.error, retryIn)
        } else if let answering {
            state.name = answering.stage == .connecting ? .connecting : .thinking
        } else if isHeard {
            state.name = .waiting
        } else if failure != nil {
            state.name = .error
        }
        if state.name != .idle { state.item = (answering ?? current)?.number ?? lastReply }
        if state.name == .error { state.fault = failure }
        state.label =
            switch state.name {
            case .idle: "Idle"
            case .connecting: "Connecting..."
            case .thinking: options.thinkingLabel
            case .waiting: options.waitingLabel
            case .error: failure?.title ?? ""
            }
        return state
    }

    /// Tells how it stands, if that is new. With the monitor.
    func tellState() {
        let state = state
        if state == told { return }
        let before = told
        told = state
        host.publish(AgentEvent.state, state.fields)
        if state.name == .error, let fault = state.fault, before?.fault != fault {
            host.health(.degraded("\(fault.title): \(fault.message)"))
        } else if before?.name == .error, state.name != .error {
            host.health(.ok)
        }
    }

    /// Tells it in any case: who begins to listen has something. [control]
    func begin() {
        monitor.locked {
            told = nil
            tellState()
        }
    }

    // MARK: Time

    /// Looks at what has come to its end by itself. [control]
    func tick() {
        monitor.locked {
            let now = clock.now
            if clock.isSpeaking { tellsSpeaking = true }
            if let current, !current.isOver { tick(current, now) }
            tellState()
        }
    }

    private func tick(_ turn: Turn, _ now: Double) {
        if clock.isSpeaking, !turn.pieces.isEmpty {
            turn.sawSpeaking = true
            turn.lastSign = now
        }
        if let end = turn.settlesBy {
            if now < end { return }
            tellsNothing = !tellsHeard
            conclude(turn, interrupted: true)
            return
        }
        if turn.stage != .made {
            // Who answers says by when it does; this is for one that does not keep that.
            if !clock.isOffline, now > turn.deadline + options.watchdog {
                turn.isStopped = true
                fail(turn, AgentFault(.other, "whoever answers does not answer any more"))
            }
            return
        }
        let quiet = now - turn.lastSign
        let isOver: Bool
        if !turn.hasUnheard {
            isOver = true
        } else if tellsHeard {
            isOver = quiet >= options.watchdog
            if isOver { host.count("unheard", turn.pieces.count - turn.heard.count) }
        } else {
            let patience = turn.sawSpeaking ? Self.pause : tellsSpeaking ? options.watchdog : Self.grace
            isOver = quiet >= patience
        }
        if isOver { conclude(turn, interrupted: false) }
    }
}

extension AgentState {
    fileprivate var fields: [(String, SettingValue)] {
        var fields: [(String, SettingValue)] = [
            ("state", .string(name.rawValue)), ("label", .string(label)), ("listening", .bool(isListening)),
        ]
        if item != 0 { fields.append(("item", .integer(Int64(clamping: item)))) }
        if let fault {
            fields += [
                ("error", .string(fault.title)), ("kind", .string(fault.kind.rawValue)),
                ("reason", .string(fault.message)),
            ]
        }
        if let retry { fields.append(("retry", .number(retry))) }
        return fields
    }
}
