// SPDX-License-Identifier: Apache-2.0
import Glibc
import LV2
import System

/// How a plugin's trial ended.
struct TrialResult: Sendable {
    var uri: String
    /// `ran`, `nan`, `refused`, `crash`, `exit`, `hang`, `differs`, `unrepeatable`.
    var outcome: String
    var text: String
    /// Whether the plugin was made.
    var loaded = false
    /// Presets that were loaded.
    var presets = 0
    var notes: [String] = []
    /// Where another process goes on: a plugin that crashes with a preset when it was made before with others is not
    /// to be blamed on the preset.
    var goOn: Int?
}

/// The process that one plugin runs in. What the plugin prints is kept for the case that it dies.
final class Child {
    let uri: String
    let process: pid_t
    /// The read end of what it tells.
    let pipe: Int32
    private let printed: Int32
    private var pending: [UInt8] = []
    private var stage = "starting the process"
    private var result: TrialResult
    private var ended: (String, String)?
    private let skipped: Int
    /// The preset in hand, from 0.
    private var preset = 0
    /// When it last told something.
    private(set) var heard = now()
    /// Why it was killed; nil: it was not.
    private var killed: String?

    /// Starts one; nil: the system does not let it.
    init?(_ uri: String, _ arguments: [String], after earlier: TrialResult? = nil) {
        self.uri = uri
        result = TrialResult(uri: uri, outcome: "", text: "")
        result.notes = earlier?.notes ?? []
        result.presets = earlier?.presets ?? 0
        skipped = earlier?.goOn ?? 0
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { return nil }
        var template = Array((scratchFolder() + "/lv2-conformance-XXXXXX").utf8CString)
        printed = mkstemp(&template)
        unlink(template)
        for file in [ends[0], ends[1], printed] { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
        pipe = ends[0]

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, printed, 1)
        posix_spawn_file_actions_adddup2(&actions, printed, 2)
        posix_spawn_file_actions_adddup2(&actions, ends[1], Trial.pipe)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        posix_spawnattr_setpgroup(&attributes, 0)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
            close(ends[1])
        }
        var argv: [UnsafeMutablePointer<CChar>?] =
            (["lv2-conformance", "--trial", uri, "--skip", "\(skipped)"] + arguments).map { strdup($0) } + [nil]
        defer { argv.forEach { free($0) } }
        var made = pid_t()
        guard posix_spawn(&made, "/proc/self/exe", &actions, &attributes, &argv, environ) == 0 else {
            close(ends[0])
            close(printed)
            return nil
        }
        process = made
    }

    deinit {
        close(pipe)
        close(printed)
    }

    /// Reads what it told; false: it has ended.
    func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(pipe, &buffer, buffer.count)
        if count < 0 { return errno == EINTR || errno == EAGAIN }
        guard count > 0 else { return false }
        heard = now()
        pending += buffer[..<count]
        while let end = pending.firstIndex(of: 10) {
            take(String(decoding: pending[..<end], as: UTF8.self))
            pending.removeSubrange(...end)
        }
        return true
    }

    private func take(_ line: String) {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        let text = parts.count > 1 ? parts[1] : ""
        switch parts.first {
        case "stage": stage = text
        case "preset": preset = Int(text) ?? 0
        case "note" where text == "loaded": result.loaded = true
        case "note" where text == "preset": result.presets += 1
        case "note": result.notes.append(text)
        case "end":
            let words = text.split(separator: " ", maxSplits: 1).map(String.init)
            ended = (words.first ?? "", words.count > 1 ? words[1] : "")
        default: break
        }
    }

    /// Ends it and whatever it started.
    func stop(_ reason: String) {
        killed = killed ?? reason
        kill(-process, SIGKILL)
    }

    /// Waits for its end, which is near.
    func finish() -> TrialResult {
        // Nothing is told any more; the end should be near.
        var status: Int32 = 0
        let since = now()
        while waitpid(process, &status, WNOHANG) == 0 {
            if now() - since > 10 { stop("it told nothing more and went on") }
            usleep(1000)
        }
        kill(-process, SIGKILL)  // what the plugin left behind
        removeFolder(Trial.folder(of: process))
        let signal = status & 0x7F
        if let killed {
            (result.outcome, result.text) = ("hang", "\(killed), while \(stage)")
        } else if let ended {
            (result.outcome, result.text) = ended
        } else if signal != 0 {
            (result.outcome, result.text) = ("crash", "\(String(cString: strsignal(signal))) while \(stage)\(lastLine)")
        } else {
            (result.outcome, result.text) = ("exit", "with \(status >> 8 & 0xFF) while \(stage)\(lastLine)")
        }
        if signal != 0, killed == nil, preset > skipped {
            result.goOn = preset
            result.notes.append("\(result.text); tried again in a fresh process")
        }
        return result
    }

    /// The last that it printed.
    private var lastLine: String {
        let size = lseek(printed, 0, SEEK_END)
        var buffer = [UInt8](repeating: 0, count: Int(min(max(size, 0), 4096)))
        let count = pread(printed, &buffer, buffer.count, size - off_t(buffer.count))
        let lines = String(decoding: buffer[..<max(0, count)], as: UTF8.self).split(whereSeparator: \.isNewline)
        return lines.last.map { ": \($0.prefix(200))" } ?? ""
    }
}

/// Seconds on a clock that never jumps.
func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
