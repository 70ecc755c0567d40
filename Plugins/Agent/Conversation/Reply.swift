// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A turn as whoever answers sees it. [worker]
struct Reply {
    let conversation: Conversation
    let turn: Turn

    /// What the user said.
    var text: String { turn.user.text }
    /// What was said until then, the user's item last.
    var history: [History.Entry] { turn.history }

    /// Nobody wants more of it. [any]
    var isStopped: Bool { conversation.monitor.locked { turn.isStopped } }

    /// Says what follows; a sentence is sent on as soon as it is whole. False: nobody wants more.
    func say(_ text: String) throws(AgentFault) -> Bool { try conversation.say(text, of: turn) }

    /// Says what is being waited for, and how long that may take.
    func waits(as stage: Turn.Stage, seconds: Double) {
        conversation.monitor.locked {
            if turn.isStopped { return }
            turn.stage = stage
            turn.deadline = monotonicSeconds() + seconds
            if conversation.retryIn != nil {
                conversation.retryIn = nil
                conversation.failure = nil
            }
            conversation.tellState()
        }
    }

    /// Tells that it failed and is tried again in so many seconds, and waits for those. False: nobody wants it any more.
    func pause(_ seconds: Double, because fault: AgentFault) -> Bool {
        let monitor = conversation.monitor
        return monitor.locked {
            if turn.isStopped { return false }
            conversation.failure = fault
            conversation.retryIn = seconds
            let end = monotonicSeconds() + seconds
            turn.deadline = end
            turn.isRetriedNow = false
            conversation.tellState()
            while !turn.isStopped, !turn.isRetriedNow {
                let rest = end - monotonicSeconds()
                if rest <= 0 { break }
                monitor.wait(milliseconds: Int(min(rest, 1) * 1000) + 1)
            }
            return !turn.isStopped
        }
    }
}
