// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit

/// How speech is ended, held and skipped.
extension Speaker {
    /// Ends all speech with a short fade; returns what was being heard, and how far. [control]
    @discardableResult
    func stop() -> Speech? {
        poll(all: true)
        let late = UInt64(host.outputLatency)
        let (stopped, current, position) = monitor.locked {
            let stopped = unfinished
            if given != 0 { stoppedItem = given }
            clock.countStop()
            resumePipe()
            if stopped.isEmpty { return ([Speech](), Speech?.none, UInt64?.none) }
            let current = heard
            guard let pipe else {
                forget()
                return (stopped, current, nil)
            }
            waitForFade(pipe)
            forget()
            settling = true
            pipe.setStale(before: .max)
            monitor.signal()
            let position = times.position(of: pipe.played).map { $0 + late }
            if late > 0 { quietAt = position }
            return (stopped, current, position)
        }
        tell(stopped: stopped, at: position)
        if !stopped.isEmpty, late == 0 || position == nil { host.publish(speaking: nil, at: position) }
        return current
    }

    /// Ends the item that is heard, or is next to be; the next follows. Returns it, and how far it was heard. [control]
    func skip() throws(NodeError) -> Speech {
        poll(all: true)
        let late = UInt64(host.outputLatency)
        let (gone, isLast, position) = monitor.locked {
            let all = unfinished
            guard let item = all.first?.item else { return ([Speech](), true, UInt64?.none) }
            resumePipe()
            let gone = all.filter { $0.item == item }
            guard let pipe else {
                speeches.removeAll { $0.item == item }
                return (gone, gone.count == all.count, nil)
            }
            waitForFade(pipe)
            let next = marks.first { $0.isStart && $0.speech.item != item }?.index
            marks.removeAll { $0.speech.item == item }
            speeches.removeAll { $0.item == item }
            heard = nil
            if let next {
                pipe.setStale(before: next)
            } else if let working, working.item != item {
                // It was taken just now, and nothing of it is there yet.
                pipe.setStale(before: pipe.written)
            } else {
                skipped = max(skipped, working?.number ?? 0)
                settling = true
                pipe.setStale(before: .max)
            }
            if gone.count == all.count { clock.setSpeaking(false) }
            monitor.signal()
            let position = times.position(of: pipe.played).map { $0 + late }
            if gone.count == all.count, late > 0 { quietAt = position }
            return (gone, gone.count == all.count, position)
        }
        guard let first = gone.first else { throw NodeError("nothing is spoken", hint: "there is nothing to skip") }
        tell(stopped: gone, at: position)
        if isLast, late == 0 || position == nil { host.publish(speaking: nil, at: position) }
        return first
    }

    private func tell(stopped: [Speech], at position: UInt64?) {
        for (index, speech) in stopped.enumerated() {
            host.publish(SpeechEvent.stopped, speech, [("heard", .integer(Int64(speech.heard)))], at: position)
            let hasMore = stopped[(index + 1)...].contains { $0.item == speech.item }
            // Of an item of which nothing was heard that is told, once.
            if speech.heard > 0 || !hasMore { send(heard: speech, hasMore: hasMore, at: position) }
        }
    }

    /// Holds what is heard, or goes on with it, with a short fade. [control]
    func setPaused(_ paused: Bool) throws(NodeError) {
        poll(all: false)
        let speech = try monitor.locked { () throws(NodeError) -> Speech? in
            if paused, unfinished.isEmpty { throw NodeError("nothing is spoken", hint: "there is nothing to pause") }
            if !paused, !isPaused { throw NodeError("speech is not paused", hint: "pause it first") }
            isPaused = paused
            pipe?.setPaused(paused)
            return heard
        }
        let position = clock.now + UInt64(host.outputLatency)
        host.publish(speaking: speech, paused: paused, at: position)
    }

    /// A stop ends a pause, too.
    private func resumePipe() {
        isPaused = false
        pipe?.setPaused(false)
    }

    /// Offline the fade must have the same samples in every run.
    private func waitForFade(_ pipe: PlaybackPipe) {
        while offline, working != nil, pipe.waiting < pipe.player.fadeFrames, !ending { monitor.wait() }
    }
}
