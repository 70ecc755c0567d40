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
        monitor.locked { standing.deactivate() }
        tellAgain()
    }

    /// What the host knows of its sources: whether anything is connected, and whether blocks come at all. It goes on as soon
    /// as something is heard, unless the user has paused it. [control]
    func follow(source isThere: Bool, comes: Bool, _ reason: String) {
        // What waits was heard before that.
        settle()
        monitor.locked {
            standing.silence = isThere ? nil : reason
            // Where nothing is there, the reason is not that of the server.
            standing.stopped = comes ? nil : isThere ? reason : standing.stopped ?? reason
            if !isThere || !comes { standing.interrupt(reason) }
        }
        open()
        settle()
        tellAgain()
    }

    /// Tells how it stands, where that has changed. By whoever has the file, or whoever is asked.
    func tellAgain() {
        guard let file = monitor.locked({ file }) else { return }
        let (state, reason, isNews) = monitor.locked {
            (standing.state, standing.reason ?? "", standing.isNews)
        }
        if isNews { tell(state, file, reason: reason) }
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

    /// Tells a state; `silently`: to whoever asks later.
    func tell(_ state: String, _ file: TakeFile?, reason: String = "", silently: Bool = false) {
        if !silently { monitor.locked { standing.tell(state) } }
        let lost = lost.withLock { $0 }
        if file != nil { shown.withLock { $0.seconds = seconds } }
        host.publish(
            RecordEvent.state,
            [
                ("state", .string(state)), ("path", .string(file?.path ?? "")),
                ("frames", .integer(Int64(file?.frames ?? 0))), ("seconds", .number(file == nil ? 0 : seconds)),
                ("dropped", .integer(Int64(lost.frames))), ("missing", .number(lost.seconds)),
                ("reason", .string(reason)),
            ], silently: silently)
    }

    /// The recording is over, because it cannot go on: what the file has is kept, under the name that it has. By whoever has
    /// the file.
    func fail(_ reason: String, _ path: String, kind: String? = nil) {
        let file = monitor.locked {
            pipe?.isOpen = false
            isWell = false
            (target, standing.isPaused) = (nil, false)
            defer { self.file = nil }
            return self.file
        }
        _ = file?.close()
        let rest = file?.part
        let kept = rest.map { "; what there is of it is called \($0)" } ?? ""
        host.log(VG_LOG_ERROR, "recording to \(path) ended: \(reason)\(kept)")
        host.health(.failed("the recording ended: \(reason)"))
        var fields: [(String, SettingValue)] = [
            ("path", .string(path)), ("reason", .string(reason)),
            ("kind", .string(kind ?? RecordFault.disk(file?.code ?? 0))),
            ("frames", .integer(Int64(file?.frames ?? 0))),
        ]
        if let rest { fields.append(("place", .string(rest))) }
        host.publish(RecordEvent.failed, fields)
        tell("failed", file, reason: reason)
        monitor.signal()
    }
}
