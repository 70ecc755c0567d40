// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What the user does.
extension Conversation {
    /// Items of the user that are remembered, to know again what comes twice.
    private static let mostItems = 64

    /// Takes what was said or typed. Returns the item of the reply; nil: it is no turn, which was told. [control]
    @discardableResult
    func take(_ given: String, item: UInt64, typed isTyped: Bool) -> UInt64? {
        monitor.locked {
            let text = trimmed(given)
            let isOwn = isTyped || item == 0
            let user = UserItem(
                key: ItemKey(isOwn: isOwn, item: isOwn ? nextNumber() : item), text: text, isTyped: isTyped)
            if text.isEmpty {
                if !isTyped { forgetOverlap() }
                return ignore(user, "blank")
            }
            if !isTyped, let reason = reasonToIgnore(text, item) { return ignore(user, reason) }
            if isEnding { return ignore(user, "the graph has ended") }
            let place = items.firstIndex { $0.key == user.key }
            if let place {
                if items[place].text == text { return ignore(user, "duplicate") }
                items[place] = user
                tell(user, replaced: true)
                guard place == items.count - 1 else {
                    history.replace(.user, user.key, text)
                    return ignore(user, "it corrects an older item")
                }
            } else {
                items.append(user)
                if items.count > Self.mostItems { items.removeFirst() }
                tell(user, replaced: false)
            }
            return start(user).number
        }
    }

    private func ignore(_ user: UserItem, _ reason: String) -> UInt64? {
        host.publish(AgentEvent.ignored, user.fields + [("reason", .string(reason))])
        return nil
    }

    private func tell(_ user: UserItem, replaced: Bool) {
        host.publish(
            AgentEvent.user, user.fields + [("typed", .bool(user.isTyped)), ("replaced", .bool(replaced))])
        if user.isTyped {
            host.publish(AgentEvent.typed, user.fields + [("speaker", .string(options.user))])
        }
    }

    /// Takes what the user has said so far of an item: a stop word is one at once. [control]
    func takePart(_ text: String, item: UInt64) {
        monitor.locked {
            guard isHeard, !isEnding, !trimmed(text).isEmpty else { return }
            overlapping = item
            switch options.interruption.meaning(of: text, isWhole: false) {
            case .attention: break
            case .words: clock.isInterrupting = true
            case .stop:
                stopAll()
                tellState()
            }
        }
    }

    /// Why a whole item is not answered, if it is not, as far as that depends on what was heard meanwhile. With the monitor.
    private func reasonToIgnore(_ text: String, _ item: UInt64) -> String? {
        let isOverlapping = item != 0 && overlapping == item
        forgetOverlap()
        guard isHeard || isOverlapping else { return nil }
        switch options.interruption.meaning(of: text, isWhole: true) {
        case .stop:
            stopAll()
            tellState()
            return "stop"
        case .attention: return options.interruption.mode == .any ? nil : "backchannel"
        case .words: return options.interruption.mode == .never && isHeard ? "nothing interrupts" : nil
        }
    }

    private func forgetOverlap() {
        overlapping = nil
        clock.isInterrupting = false
    }

    /// Stops what is made, waits or is spoken. With the monitor.
    private func stopAll() {
        if let pending {
            self.pending = nil
            overtake(pending)
        }
        if let current { stop(current) } else { silence(lastReply) }
    }

    /// Answers an item, as soon as it is known what of the reply before was heard.
    private func start(_ user: UserItem) -> Turn {
        let turn = Turn(number: nextNumber(), user: user)
        clearFailure()
        if let pending { overtake(pending) }
        pending = turn
        if let current { stop(current) } else { silence(lastReply) }
        // Stopping may have begun it.
        if current == nil, pending === turn { beginPending() }
        tellState()
        return turn
    }

    /// Stops what is made or spoken. Returns the reply's item; nil: there was none. [control]
    func interrupt() -> UInt64? {
        monitor.locked {
            defer { tellState() }
            let number = pending?.number ?? current?.number
            stopAll()
            return number
        }
    }

    /// Begins anew: nothing of what was said is known any more. [control]
    func forget() {
        monitor.locked {
            if let pending {
                self.pending = nil
                overtake(pending)
            }
            if let current {
                stop(current)
                if !current.isOver { conclude(current, interrupted: true) }
            } else {
                silence(lastReply)
            }
            history.clear()
            items = []
            forgets = true
            clearFailure()
            tellState()
        }
    }

    /// Answers again what could not be answered; what waits to be tried again is tried at once. [control]
    func retry() throws(NodeError) -> UInt64 {
        try monitor.locked { () throws(NodeError) in
            if retryIn != nil, let current {
                current.isRetriedNow = true
                monitor.signal()
                return current.number
            }
            guard let failed, failure != nil else { throw NodeError("nothing has failed") }
            if current != nil || pending != nil {
                throw NodeError("another item is being answered", hint: "wait for it, or interrupt it")
            }
            history.replace(.agent, failed.key, "")
            return start(failed.user).number
        }
    }

    /// Takes what was typed. [control]
    func send(_ text: String) throws(NodeError) -> UInt64 {
        let fault = monitor.locked { () -> NodeError? in
            if trimmed(text).isEmpty { return NodeError("there is nothing to send", key: Agent.text.name) }
            if isEnding { return NodeError("the graph has ended") }
            guard let failure, failure.kind != .other else { return nil }
            return NodeError(
                "it is not connected: \(failure.title): \(failure.message)",
                hint: retryIn == nil ? "the action 'retry' connects again" : "it tries again by itself")
        }
        if let fault { throw fault }
        guard let number = take(text, item: 0, typed: true) else { throw NodeError("it is not answered") }
        return number
    }

    /// The audio has ended: everything that is open is told. [control]
    func finish() {
        monitor.locked {
            isEnding = true
            let end = AgentFault(.other, "the graph has ended")
            for turn in [current, pending].compactMap({ $0 }) where !turn.isOver {
                turn.isStopped = true
                if turn.stage == .made || turn.settlesBy != nil {
                    conclude(turn, interrupted: turn.settlesBy != nil)
                } else {
                    fail(turn, end)
                    if !turn.isOver { conclude(turn, interrupted: true) }
                }
            }
            pending = nil
            monitor.signal()
            tellState()
        }
    }

    /// Whether the audio has ended; the thread ends with that. [control]
    var hasEnded: Bool { monitor.locked { isEnding } }

    /// There is audio again, and no thread yet. [control]
    func reopen() { monitor.locked { isEnding = false } }

    /// What went wrong is over. With the monitor.
    func clearFailure() {
        failure = nil
        failed = nil
        retryIn = nil
    }
}

extension UserItem {
    /// What events say of it.
    var fields: [(String, SettingValue)] {
        [("item", .integer(Int64(clamping: key.item))), ("text", .string(text))]
    }
}
