// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit
import Realtime

/// What is spoken, by a thread of its own, into the ring of the playback.
final class Speaker: @unchecked Sendable {
    // Sendable: `monitor` guards everything that changes.

    struct Job {
        var text: String
        var voice: Voice
        var generation: Int
    }

    /// Something to publish once the sample before which it stands was played.
    private struct Mark {
        enum Kind { case started, word(text: String, start: Int, length: Int), finished }
        var kind: Kind
        var index: Int
        var text: String
    }

    private let monitor = Monitor()
    private let host: NodeHost
    private var jobs: [Job] = []
    private var marks: [Mark] = []
    private var segments = HeardSegments()
    /// Where in the ring the speech began that was told last.
    private var startIndex = -1
    /// Raised by each stop; work of an older one is void.
    private var generation = 0
    /// Whether the worker has yet to say where the next speech begins in the ring.
    private var settling = false
    private var working: Job?
    private var synthesizing = false
    private var ending = false
    private var offline = false
    private var playback: Playback?
    /// What is being heard, and how far.
    private var heard: (job: Job, scalars: Int)?

    init(host: NodeHost) { self.host = host }

    // MARK: - control

    /// Makes the audio half; speech in progress goes on with the word that was heard last. [control]
    func prepare(_ preparation: Preparation) -> Playback {
        monitor.locked {
            offline = preparation.offline
            if let playback, playback.rate == preparation.rate, playback.ring.capacity >= 4 * preparation.maxBlock {
                return playback
            }
            let fresh = Playback(rate: preparation.rate, maxBlock: preparation.maxBlock)
            var again = jobs
            if let heard {
                let rest = heard.job.text.unicodeScalars.dropFirst(heard.scalars)
                again.insert(Job(text: String(rest), voice: heard.job.voice, generation: 0), at: 0)
            } else if let working {
                again.insert(working, at: 0)
            }
            generation += 1
            jobs = again.map { Job(text: $0.text, voice: $0.voice, generation: generation) }
            heard = nil
            marks = []
            segments.forget()
            startIndex = -1
            settling = false
            playback = fresh
            monitor.signal()
            return fresh
        }
    }

    /// Stops what is spoken unless it is to wait for its turn; then speaks, if there is anything to say. [control]
    func speak(_ text: String, voice: Voice, queued: Bool) {
        let text = trimmed(text)
        if !queued || text.isEmpty { stop() }
        if text.isEmpty { return }
        let refused = monitor.locked {
            if jobs.count >= 256 { return true }
            jobs.append(Job(text: text, voice: voice, generation: generation))
            monitor.signal()
            // espeak-ng's voice depends on what it spoke before, so offline the order of speeches must not be left
            // to the threads.
            while offline, !queued, !ending, playback != nil, synthesizing || !jobs.isEmpty { monitor.wait() }
            return false
        }
        if refused { host.log(VG_LOG_WARNING, "256 texts are waiting to be spoken; this one is dropped") }
    }

    /// Ends all speech with a short fade. [control]
    func stop() {
        let stopped: String? = monitor.locked {
            guard let playback, isBusy else { return nil }
            if offline {
                // So that the fade has the same samples in every run.
                while working != nil, playback.ring.reader.available < playback.player.fadeFrames, !ending {
                    monitor.wait()
                }
            }
            generation += 1
            jobs = []
            let text = heard?.job.text ?? marks.first?.text
            marks = []
            heard = nil
            settling = true
            playback.setStale(before: .max)
            monitor.signal()
            return text
        }
        if let stopped { host.publish("speech.stopped", [("text", .string(stopped))]) }
    }

    /// Offline: returns when `frames` can be played without a gap, or when nothing more comes. [control]
    func wait(frames: Int) {
        monitor.locked {
            while let playback, !ending {
                playback.player.dropStale()  // nobody else reads now
                monitor.signal()
                let ready = playback.ring.reader.available
                if !settling, ready >= frames || (working == nil && jobs.isEmpty) { return }
                monitor.wait()
            }
        }
    }

    /// Publishes what was heard since the last call. [control]
    func poll() {
        var due: [(Mark, UInt64)] = []
        var gaps: [HeardSegments.Gap] = []
        monitor.locked {
            guard let playback else { return }
            let consumed = playback.consumed
            while let segment = playback.segments.reader.pop() {
                if let gap = segments.add(segment, isStart: isStart(segment.index)) { gaps.append(gap) }
            }
            while let mark = marks.first, isHeard(mark, consumed) {
                due.append((mark, segments.position(of: mark.index)))
                marks.removeFirst()
                switch mark.kind {
                case .started:
                    startIndex = mark.index
                    heard = (Job(text: mark.text, voice: working?.voice ?? Voice(), generation: 0), 0)
                case .word(_, let start, _): heard?.scalars = start
                case .finished: heard = nil
                }
            }
            segments.forget(before: marks.first?.index)
            monitor.signal()  // there may be room in the ring
        }
        for (mark, position) in due { publish(mark, position) }
        for gap in gaps {
            host.publish(
                "speech.gap", [("position", .integer(Int64(gap.position))), ("frames", .integer(Int64(gap.frames)))])
        }
    }

    /// Whether nothing is spoken and nothing waits. [control]
    var isIdle: Bool { monitor.locked { !isBusy } }

    private var isBusy: Bool { working != nil || !jobs.isEmpty || !marks.isEmpty || heard != nil }

    /// Ends the worker. [control]
    func end() {
        monitor.locked {
            ending = true
            monitor.signal()
        }
    }

    private func isHeard(_ mark: Mark, _ consumed: Int) -> Bool {
        if case .finished = mark.kind { consumed >= mark.index } else { consumed > mark.index }
    }

    private func isStart(_ index: Int) -> Bool {
        index == startIndex
            || marks.contains { mark in if case .started = mark.kind { mark.index == index } else { false } }
    }

    private func publish(_ mark: Mark, _ position: UInt64) {
        let at = ("position", SettingValue.integer(Int64(position)))
        switch mark.kind {
        case .started: host.publish("speech.started", [("text", .string(mark.text)), at])
        case .finished: host.publish("speech.finished", [("text", .string(mark.text)), at])
        case .word(let text, let start, let length):
            host.publish(
                "speech.word",
                [
                    ("text", .string(text)), at, ("offset", .integer(Int64(start))),
                    ("length", .integer(Int64(length))),
                ])
        }
    }

    // MARK: - worker

    /// Speaks job after job until `end`. [worker]
    func run() {
        while true {
            let next: (Job, Playback)? = monitor.locked {
                working = nil
                synthesizing = false
                monitor.signal()
                while !ending {
                    if settling, let playback {
                        settling = false
                        playback.setStale(before: playback.ring.writer.total)
                        monitor.signal()
                    }
                    if !jobs.isEmpty, let playback {
                        let job = jobs.removeFirst()
                        working = job
                        synthesizing = true
                        return (job, playback)
                    }
                    monitor.wait(milliseconds: 1000)
                }
                return nil
            }
            guard let (job, playback) = next else { return }
            speak(job, playback)
        }
    }

    private func speak(_ job: Job, _ playback: Playback) {
        let output = VoiceOutput(playback)
        mark(job, .started, output.total)
        var offset = 0
        for piece in pieces(job.text) {
            let scalars = Array(piece.unicodeScalars)
            let start = output.total
            do throws(NodeError) {
                try Espeak.synthesize(
                    piece, job.voice, begin: { output.begin(rate: $0) },
                    deliver: { samples, words in
                        for word in words where word.start + word.length <= scalars.count {
                            var text = String.UnicodeScalarView()
                            text.append(contentsOf: scalars[word.start..<word.start + word.length])
                            self.mark(
                                job, .word(text: String(text), start: offset + word.start, length: word.length),
                                start + Int(Double(word.time) * 0.001 * playback.rate))
                        }
                        output.take(samples) { self.write(job, playback, $0) }
                        // Offline an end in the middle would leave espeak-ng in a state that time decides.
                        return self.offline || self.isValid(job)
                    })
            } catch {
                host.log(VG_LOG_ERROR, error.message)
                host.publish("speech.failed", [("text", .string(job.text)), ("reason", .string(error.message))])
            }
            output.end { self.write(job, playback, $0) }
            offset += scalars.count
            if !drain(output, job, playback, all: false) { return }
        }
        let frames = output.total - output.start
        if !isValid(job) { return }
        mark(job, .finished, output.total)
        host.publish("speech.synthesized", [("text", .string(job.text)), ("frames", .integer(Int64(frames)))])
        monitor.locked {
            synthesizing = false
            monitor.signal()
        }
        _ = drain(output, job, playback, all: true)
    }

    /// Waits for room and moves what waits for it: everything, or until little enough is left that the next piece may
    /// be made. False: the job is void. [worker]
    private func drain(_ output: VoiceOutput, _ job: Job, _ playback: Playback, all: Bool) -> Bool {
        while true {
            output.flush { write(job, playback, $0) }
            let valid = monitor.locked {
                let left = output.waiting
                if job.generation != generation || ending { return false }
                if left > 0, all || !offline, playback.ring.writer.space == 0 { monitor.wait(milliseconds: 50) }
                return true
            }
            if !valid { return false }
            if output.waiting == 0 || (!all && offline) { return true }
        }
    }

    private func write(_ job: Job, _ playback: Playback, _ samples: UnsafeBufferPointer<Float>) -> Int {
        monitor.locked {
            guard job.generation == generation, let base = samples.baseAddress else { return 0 }
            let count = playback.ring.writer.write(base, count: samples.count)
            monitor.signal()
            return count
        }
    }

    private func isValid(_ job: Job) -> Bool { monitor.locked { job.generation == generation && !ending } }

    private func mark(_ job: Job, _ kind: Mark.Kind, _ index: Int) {
        monitor.locked {
            if job.generation == generation { marks.append(Mark(kind: kind, index: index, text: job.text)) }
        }
    }
}
