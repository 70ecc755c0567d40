// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What is asked of a recorder while it records.
extension FileWriter {
    /// Takes no more until `proceed`. Throws when it does not record, or is paused. [control]
    func pause() throws(NodeError) {
        guard let pipe, path != nil else { throw RecordFault.notRecording("start first") }
        if monitor.locked({ standing.isPaused }) {
            throw NodeError("is paused already", hint: "resume, finish or discard it", kind: RecordFault.paused)
        }
        monitor.locked { standing.isPaused = true }
        pipe.isOpen = false
        settle()
        guard path != nil else {
            monitor.locked { standing.isPaused = false }
            throw RecordFault.notRecording("it has just ended")
        }
        tellAgain()
    }

    /// Goes on after a pause. Throws when there is none. [control]
    func proceed() throws(NodeError) {
        guard path != nil, monitor.locked({ standing.isPaused }) else {
            throw NodeError("is not paused", kind: path == nil ? RecordFault.nothing : RecordFault.notPaused)
        }
        monitor.locked { standing.proceed() }
        open()
        tellAgain()
    }

    /// Sets or clears what the recording may have at most. [control]
    func set(limit seconds: Double?) throws(NodeError) {
        guard path != nil else { throw RecordFault.notRecording("start first, or give `start` a limit") }
        monitor.locked {
            limit = seconds
            monitor.signal()
        }
    }

    /// Ends the recording, after `frames` if those are still kept back, and completes the file; throws when there is none,
    /// and when the file is not complete. [control]
    func finish(after frames: Int? = nil) throws(NodeError) -> Take {
        pipe?.isOpen = false
        stopWorker()
        collectDropped()
        // What comes may be wanted by the next.
        defer { restart() }
        guard monitor.locked({ file }) != nil else { throw RecordFault.notRecording("start first") }
        return try complete(after: frames)
    }

    /// Ends the recording and throws its file away. [control]
    func discard() throws(NodeError) {
        pipe?.isOpen = false
        stopWorker()
        defer { restart() }
        guard let file = monitor.locked({ file }) else { throw RecordFault.notRecording("start first") }
        let frames = file.frames
        file.remove()
        monitor.locked { (self.file, target, standing.isPaused) = (nil, nil, false) }
        host.publish(
            RecordEvent.discarded, [("path", .string(file.path)), ("frames", .integer(Int64(frames)))])
        tell("idle", nil, reason: "it was discarded")
    }

    /// Returns when everything is on disk and the file's head says so. [control]
    func settle() {
        monitor.locked {
            guard worker != nil else { return }
            settling = true
            monitor.signal()
            while settling, file != nil { monitor.wait() }
        }
    }

    /// Wakes the writer when much waits for it; it looks by itself otherwise. Tells what was lost. [control]
    func poll() {
        collectDropped()
        guard let pipe, pipe.waiting > pipe.capacity / 8 else { return }
        monitor.locked { monitor.signal() }
    }

    /// Offline: returns when `frames` fit into the pipe. [control]
    func wait(frames: Int) {
        guard let pipe, !pipe.hasRoom(for: frames) else { return }
        monitor.locked {
            while file != nil || before.length > 0, worker != nil, !pipe.hasRoom(for: frames) {
                monitor.signal()
                monitor.wait()
            }
        }
    }
}
