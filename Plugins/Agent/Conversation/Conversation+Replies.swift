// SPDX-License-Identifier: Apache-2.0
import NodeKit
import SpokenText

/// What becomes of replies.
extension Conversation {
    /// Seconds between two tellings of a reply so far, within a sentence.
    private static let tellingPace = 0.1

    // MARK: By control calls, with the monitor

    /// Whoever speaks stops, and says no more of this reply.
    func silence(_ number: UInt64) {
        guard clock.isSpeaking || current?.number == number, number != 0 else { return }
        host.send(Message(.text(""), item: number, urgent: true))
    }

    /// Nobody wants more of a reply; what was heard of it is told yet, if anybody tells.
    func stop(_ turn: Turn) {
        turn.isStopped = true
        // It is not tried again, so nothing would end that state.
        if retryIn != nil { clearFailure() }
        monitor.signal()
        if turn.isOver || turn.settlesBy != nil { return }
        if turn.pieces.isEmpty { return conclude(turn, interrupted: true) }
        silence(turn.number)
        if tellsHeard || tellsSpeaking && !tellsNothing, turn.hasUnheard {
            turn.settlesBy = clock.now + Self.settling
        } else {
            conclude(turn, interrupted: turn.hasUnheard || turn.stage != .made)
        }
    }

    /// An item is never answered: the next one came first.
    func overtake(_ turn: Turn) {
        history.add(.user, turn.user.key, turn.user.text)
        turn.isStopped = true
        turn.isOver = true
        tellFinal(turn, "", interrupted: true)
    }

    /// A reply has ended: what of it was heard is what was said.
    func conclude(_ turn: Turn, interrupted: Bool) {
        if turn.isOver { return }
        turn.isOver = true
        past = turn
        if current === turn { current = nil }
        let text = turn.spoken
        history.add(.agent, turn.key, text)
        if !turn.hasFailed || !text.isEmpty { tellFinal(turn, text, interrupted: interrupted) }
        if current == nil, pending != nil { beginPending() }
    }

    private func tellFinal(_ turn: Turn, _ text: String, interrupted: Bool) {
        host.publish(
            AgentEvent.final,
            [
                ("item", .integer(Int64(clamping: turn.number))), ("text", .string(text)),
                ("user", .integer(Int64(clamping: turn.user.key.item))), ("interrupted", .bool(interrupted)),
            ])
    }

    /// Gives the thread what waits.
    func beginPending() {
        guard let turn = pending else { return }
        pending = nil
        // Its own earlier text, where it is corrected or tried again.
        history.replace(.user, turn.user.key, "")
        history.add(.user, turn.user.key, turn.user.text)
        turn.history = history.entries
        turn.forgets = forgets
        forgets = false
        current = turn
        // For a thread that never takes it.
        turn.deadline = monotonicSeconds()
        lastReply = turn.number
        monitor.signal()
    }

    /// Takes what of a piece of a reply was heard, when it has ended. [control]
    func heard(_ text: String, item: UInt64, more: Bool) {
        monitor.locked {
            tellsHeard = true
            guard let turn = current, turn.number == item else {
                // The reply was taken for ended already.
                guard let past, past.number == item else { return }
                past.heard.append(trimmed(text))
                return history.replace(.agent, past.key, past.spoken)
            }
            turn.heard.append(trimmed(text))
            turn.lastSign = clock.now
            if turn.settlesBy != nil {
                if !more || !turn.hasUnheard { conclude(turn, interrupted: true) }
            } else if turn.stage == .made, !turn.hasUnheard {
                conclude(turn, interrupted: false)
            }
            tellState()
        }
    }

    // MARK: By the thread that answers

    /// What is to be answered next; nil: nothing any more. Returns when there is something. [worker]
    func nextTurn() -> Turn? {
        monitor.locked {
            working = nil
            monitor.signal()
            while true {
                if let turn = current, turn.stage == .ready, !turn.isStopped {
                    working = turn
                    turn.stage = .thinking
                    return turn
                }
                if isEnding { return nil }
                monitor.wait(milliseconds: 1000)
            }
        }
    }

    /// Returns when all that can be answered now was answered, or after so many seconds. [control]
    @discardableResult
    func waitUntilAnswered(seconds: Double = .infinity) -> Bool {
        let deadline = monotonicSeconds() + seconds
        return monitor.locked {
            while working != nil || (current?.stage == .ready && !isEnding) {
                if monotonicSeconds() > deadline { return false }
                monitor.wait(milliseconds: 100)
            }
            return true
        }
    }

    /// Takes what follows of a reply. False: nobody wants it any more. [worker]
    func say(_ given: String, of turn: Turn) throws(AgentFault) -> Bool {
        let isWanted: Bool? = monitor.locked {
            if turn.isStopped {
                host.count("late")
                return false
            }
            return add(turn.thoughts.take(given), to: turn) ? true : nil
        }
        guard let isWanted else {
            throw AgentFault(.other, "the answer is longer than \(options.longestAnswer) bytes")
        }
        return isWanted
    }

    /// False: it becomes too long.
    private func add(_ given: String, to turn: Turn) -> Bool {
        let text = given.unicodeScalars.contains(where: \.isUnspeakable) ? given.withoutUnspeakable : given
        guard turn.text.utf8.count + text.utf8.count <= options.longestAnswer else { return false }
        if text.contains(where: { !$0.isWhitespace }) { turn.undone = nil }
        turn.text += text
        let sentences = turn.cutter.take(text)
        for sentence in sentences { send(sentence, of: turn, partial: true) }
        let now = monotonicSeconds()
        if !sentences.isEmpty || !clock.isOffline && now - turn.toldAt >= Self.tellingPace {
            turn.toldAt = now
            tellPartial(turn)
        }
        tellState()
        return true
    }

    private func tellPartial(_ turn: Turn) {
        if turn.told == turn.text { return }
        let delta = String(decoding: turn.text.utf8.dropFirst(turn.told.utf8.count), as: UTF8.self)
        turn.told = turn.text
        host.publish(
            AgentEvent.partial,
            [
                ("item", .integer(Int64(clamping: turn.number))), ("text", .string(turn.text)),
                ("delta", .string(delta)),
            ])
    }

    private func send(_ sentence: ReplyPiece, of turn: Turn, partial isPartial: Bool) {
        turn.lastSign = clock.now
        guard host.send(Message(.text(sentence.text), item: turn.number, partial: isPartial)) else {
            host.count("refused")
            turn.isRefused = true
            return host.log(VG_LOG_WARNING, "whoever speaks takes no more: a sentence is lost")
        }
        turn.pieces.append(sentence)
    }

    /// A reply is complete. [worker]
    func complete(_ turn: Turn) {
        monitor.locked {
            if turn.isStopped { return }
            _ = add(turn.thoughts.finish(), to: turn)
            let rest = turn.cutter.finish()
            for (index, sentence) in rest.enumerated() { send(sentence, of: turn, partial: index + 1 < rest.count) }
            let end = turn.text.unicodeScalars.count
            // Marks behind the last sentence belong to it.
            if !turn.pieces.isEmpty, !turn.isRefused { turn.pieces[turn.pieces.count - 1].end = end }
            tellPartial(turn)
            if let undone = turn.undone { return fail(turn, AgentFault(.other, undone)) }
            if turn.pieces.isEmpty {
                let isEmpty = trimmed(turn.text).isEmpty
                if isEmpty || turn.isRefused {
                    return fail(turn, AgentFault(.other, isEmpty ? "the answer was empty" : "nobody took it"))
                }
                // All of it is for the eye, such as code.
                turn.pieces = [.silent(end: end)]
                turn.heard = [""]
            }
            turn.stage = .made
            turn.lastSign = clock.now
            tellState()
        }
    }

    /// An action that a reply wants was not done: if nothing is said behind that, the user is told. [worker]
    func undone(_ reason: String, of turn: Turn) { monitor.locked { turn.undone = reason } }

    /// Says that an action was not done, where whoever answers has not.
    private func tellUndone(_ turn: Turn) {
        guard let reason = turn.undone, !turn.isStopped else { return }
        turn.undone = nil
        if options.undone.isEmpty { return }
        let gap = turn.text.isEmpty || turn.text.last?.isWhitespace == true ? "" : " "
        let text = "\(options.undone): \(shortened(reason))."
        var spoken = SpokenText()
        for (index, scalar) in text.unicodeScalars.enumerated() {
            spoken.append(scalar, from: turn.text.unicodeScalars.count + gap.unicodeScalars.count + index)
        }
        turn.text += gap + text
        send(
            ReplyPiece(spoken: spoken, text: text, end: turn.text.unicodeScalars.count), of: turn, partial: false)
        tellPartial(turn)
    }

    /// There is no answer, or no more of it. [worker]
    func failed(_ turn: Turn, _ fault: AgentFault) {
        monitor.locked { if !turn.isStopped { fail(turn, fault) } }
    }

    /// The same, with the monitor.
    func fail(_ turn: Turn, _ fault: AgentFault) {
        retryIn = nil
        tellUndone(turn)
        if fault.isRefusal {
            turn.hasFailed = true
            host.publish(AgentEvent.ignored, turn.user.fields + [("reason", .string(fault.message))])
        } else {
            turn.hasFailed = true
            failure = fault
            failed = turn
            host.publish(
                AgentEvent.failed,
                [
                    ("item", .integer(Int64(clamping: turn.number))),
                    ("user", .integer(Int64(clamping: turn.user.key.item))),
                    ("kind", .string(fault.kind.rawValue)), ("error", .string(fault.title)),
                    ("reason", .string(fault.message)),
                ])
        }
        turn.stage = .made
        turn.lastSign = clock.now
        if turn.pieces.isEmpty { conclude(turn, interrupted: false) }
        tellState()
    }
}

extension Unicode.Scalar {
    /// A control character that is no space.
    fileprivate var isUnspeakable: Bool { value < 32 && !(9...13).contains(value) || value == 127 }
}

extension String {
    /// Without what no voice takes.
    fileprivate var withoutUnspeakable: String {
        var result = ""
        result.unicodeScalars.append(contentsOf: unicodeScalars.filter { !$0.isUnspeakable })
        return result
    }
}
