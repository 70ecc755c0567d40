// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What a recorder tells.
extension FileWriter {
    /// What a recorder that runs can say of itself. [any]
    var levels: [(String, SettingValue)] {
        let (values, seconds) = shown.withLock { ($0.values, $0.seconds) }
        return [("values", .list(values.map { .number(Double($0)) })), ("seconds", .number(seconds))]
    }

    /// Nothing is recorded yet. [control]
    func tellIdle() { tell("idle", nil) }

    /// The audio has stopped: everything is on disk, and waits for more. [control]
    func interrupt() {
        settle()
        let file = monitor.locked { self.file }
        if let file, !isPaused { tell("interrupted", file, reason: "no audio comes") }
    }

    /// Nothing can be heard any more, and why, or something can again: then it goes on, unless the user has paused it.
    /// [control]
    func follow(source isThere: Bool, _ reason: String) {
        silence = isThere ? nil : reason
        open()
        settle()
        tellAgain()
    }

    /// Tells how it stands, where that has changed: the audio is back, or what is heard, or gone.
    func tellAgain() {
        guard let file = monitor.locked({ file }) else { return }
        let state = isPaused ? "paused" : silence == nil ? "recording" : "interrupted"
        if toldState != state { tell(state, file, reason: state == "interrupted" ? silence ?? "" : "") }
    }

    /// Tells of samples that were beyond full scale where they became integers. By whoever has the file.
    func tellClipped(_ file: TakeFile) {
        let fresh = file.clipped - told
        guard fresh > 0 else { return }
        if told == 0 {
            host.log(
                VG_LOG_WARNING,
                "\(file.path) is clipped: what comes is beyond full scale; make it quieter, or record floats (.wav)")
        }
        told += fresh
        host.count("clipped", fresh)
        host.publish(RecordEvent.clipped, [("samples", .integer(Int64(fresh))), ("total", .integer(Int64(told)))])
    }

    func collectDropped() {
        guard let lost = pipe?.takeDropped(), lost > 0, path != nil else { return }
        dropped += lost
        isWell = false
        host.count("dropped", lost)
        host.publish(RecordEvent.dropped, [("frames", .integer(Int64(lost))), ("total", .integer(Int64(dropped)))])
        host.log(VG_LOG_WARNING, "\(lost) frames were lost: the disk is too slow")
        host.health(.degraded("\(dropped) frames of the recording were lost: the disk is too slow"))
    }

    func tell(_ state: String, _ file: TakeFile?, reason: String = "") {
        monitor.locked { toldState = state }
        host.publish(
            RecordEvent.state,
            [
                ("state", .string(state)), ("path", .string(file?.path ?? "")),
                ("frames", .integer(Int64(file?.frames ?? 0))), ("seconds", .number(file == nil ? 0 : seconds)),
                ("dropped", .integer(Int64(dropped))), ("reason", .string(reason)),
            ])
    }

    /// The recording is over, because it cannot go on: what the file has is kept, under the name that it has. By whoever has
    /// the file.
    func fail(_ reason: String, _ path: String) {
        let file = monitor.locked {
            pipe?.isOpen = false
            isWell = false
            (target, isPaused) = (nil, false)
            defer { self.file = nil }
            return self.file
        }
        _ = file?.close()
        let rest = file?.part
        let kept = rest.map { "; what there is of it is called \($0)" } ?? ""
        host.log(VG_LOG_ERROR, "recording to \(path) ended: \(reason)\(kept)")
        host.health(.failed("the recording ended: \(reason)"))
        var fields: [(String, SettingValue)] = [
            ("path", .string(path)), ("reason", .string(reason)), ("frames", .integer(Int64(file?.frames ?? 0))),
        ]
        if let rest { fields.append(("place", .string(rest))) }
        host.publish(RecordEvent.failed, fields)
        tell("failed", file, reason: reason)
        monitor.signal()
    }
}
