// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What is missing of a recording: dropouts, interruptions, and what the disk was too slow for.
extension FileWriter {
    /// Looks whether these frames follow on those before, and keeps what is missing. By the worker.
    func follow(on audio: CapturePipe.Audio) {
        let (before, wasStopped) = monitor.locked {
            defer { standing.hear(until: audio.endTime) }
            return ((standing.heardUntil, standing.broken), standing.stopped != nil)
        }
        // Offline no time passes between blocks.
        if isOffline { return }
        if let heardUntil = before.0, let reason = before.1 {
            let waited = Double(audio.time - min(audio.time, heardUntil)) * 1e-9
            miss(max(audio.skipped, Int(saturating: waited * rate)), .interruption, reason)
        } else if before.0 != nil, audio.skipped > 0 {
            monitor.locked { standing.losses.add(Double(audio.skipped) / rate) }
            miss(audio.skipped, .dropout, "somebody was too late for the server")
        }
        if wasStopped { tellAgain() }
    }

    /// Frames of the audio are missing here: counts, tells and marks them, and puts silence in their place if that is wanted.
    private func miss(_ frames: Int, _ cause: Lost.Cause, _ reason: String) {
        guard frames > 0, let file = monitor.locked({ file }) else { return }
        subscribers?.flush()
        file.mark("\(secondsText(Double(frames) / rate)) s are missing: \(reason)")
        count(frames, cause)
        if let known = untold, known.cause == cause {
            untold?.frames += frames
        } else {
            tellLosses()
            untold = Untold(frames: frames, at: file.end, cause: cause, reason: reason)
        }
        if vg_nanoseconds() &- toldLoss > 1_000_000_000 { tellLosses() }
        guard options.fills else { return }
        let silence = [Float](repeating: 0, count: 4096 * channels)
        for start in stride(from: 0, to: frames, by: 4096) where monitor.locked({ self.file }) != nil {
            silence.withUnsafeBufferPointer { store($0.baseAddress!, min(frames - start, 4096), at: 0, 0) }
        }
    }

    /// Tells of frames that found no room in the pipe. [control]
    func collectDropped() {
        guard let frames = pipe?.takeDropped(), frames > 0, let file = monitor.locked({ file }) else { return }
        count(frames, .disk)
        tell(Untold(frames: frames, at: file.end, cause: .disk, reason: "the disk is too slow"))
        isWell = false
        host.log(VG_LOG_WARNING, "\(frames) frames were lost: the disk is too slow")
        let total = lost.withLock(\.frames)
        host.health(.degraded("\(total) frames of the recording were lost: the disk is too slow"))
    }

    private func count(_ frames: Int, _ cause: Lost.Cause) {
        lost.withLock { $0.add(frames, cause, rate: rate) }
        if cause != .interruption { host.count("dropped", frames) }
    }

    /// What was lost and is not told yet: dropouts come in numbers, and are told once a second. By whoever has the file.
    func tellLosses() {
        guard let known = untold else { return }
        (untold, toldLoss) = (nil, vg_nanoseconds())
        tell(known)
    }

    private func tell(_ loss: Untold) {
        let all = lost.withLock { $0 }
        host.publish(
            RecordEvent.dropped,
            [
                ("frames", .integer(Int64(loss.frames))), ("total", .integer(Int64(all.frames))),
                ("seconds", .number(Double(loss.frames) / rate)), ("missing", .number(all.seconds)),
                ("at", .integer(Int64(loss.at))), ("cause", .string(loss.cause.rawValue)),
                ("reason", .string(loss.reason)),
            ])
    }

    /// Looks whether it goes on again, or has been interrupted for longer than it may: then it ends. By the worker.
    func lookAtInterruption() {
        if untold != nil, vg_nanoseconds() &- toldLoss > 1_000_000_000 { tellLosses() }
        let turned = monitor.locked { () -> Bool in
            standing.losses.look()
            return standing.told != "" && standing.isNews
        }
        if turned { tellAgain() }
        guard let longest = options.interruption, let file = monitor.locked({ file }) else { return }
        let (seconds, reason) = monitor.locked { (standing.interrupted, standing.reason) }
        guard seconds > longest, let reason else { return }
        let why = "it was interrupted for \(secondsText(longest)) s: \(reason)"
        host.log(VG_LOG_WARNING, "the recording to \(file.path) ended: \(why)")
        pipe?.isOpen = before.length > 0
        do throws(NodeError) { try complete(reason: why) } catch {}
    }
}
