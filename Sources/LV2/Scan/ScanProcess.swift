// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import System

/// Tries plugins in child processes and finds out what each did: the parent's side of `PluginScanChild`. [control]
struct ScanProcess: Sendable {
    let command: [String]
    /// Seconds that one call of a plugin may take.
    let patience: Double
    /// Seconds that a plugin gets which fails at its end: some are still loading when a short trial is over, and cannot
    /// be freed then.
    private static let longScan = 2.0
    private static let stepsAtEnd: [PluginStep] = [.save, .restore, .deactivate, .cleanup]

    /// One verdict per plugin. As long as all goes well one child tries them all; after each failure a new one goes on
    /// with the next.
    func run(_ plugins: [ScannedPlugin]) -> [ScanVerdict] {
        var verdicts: [ScanVerdict] = []
        while verdicts.count < plugins.count {
            var (finished, stumble) = runChild(Array(plugins[verdicts.count...]), seconds: 0)
            verdicts += finished
            guard verdicts.count < plugins.count else { break }
            var alone = [ScanVerdict.fine]
            if !finished.isEmpty, stumble?.isHang == false {
                // Or a thread of one before it fell over what is gone.
                (alone, stumble) = runChild([plugins[verdicts.count]], seconds: 0)
            }
            if let step = stumble?.step, Self.stepsAtEnd.contains(step) {
                (alone, stumble) = runChild([plugins[verdicts.count]], seconds: Self.longScan)
            }
            verdicts.append(stumble.map { .fault($0.fault) } ?? alone.first ?? .fine)
        }
        return verdicts
    }

    /// What came of the plugins that the child came through with, and what it stumbled over then.
    private func runChild(
        _ plugins: [ScannedPlugin], seconds: Double
    ) -> (finished: [ScanVerdict], stumble: Stumble?) {
        var child: Child
        do throws(SystemError) { child = try Child(command) } catch {
            let text = "cannot be tried: \(command.first ?? ""): \(error.reason)"
            return ([], Stumble(step: nil, fault: ScanFault(text: text, said: "")))
        }
        child.give(plugins.map { "\($0.uri)\t\($0.bundle)\t\(seconds)\n" }.joined())
        var finished: [ScanVerdict] = []
        var step = ""
        var deadline = monotonicSeconds() + patience + seconds
        while let lines = child.lines(until: deadline) {
            for line in lines {
                deadline = monotonicSeconds() + patience + seconds
                step = String(line.drop { $0 != " " }.dropFirst())
                if step == "done" {
                    finished.append(.fine)
                    step = ""
                } else if step.hasPrefix("refused ") {
                    finished.append(.refused(String(step.dropFirst("refused ".count))))
                    step = ""
                }
            }
            if lines.isEmpty, monotonicSeconds() >= deadline {
                child.kill()
                let waited = patience.rounded() == patience ? "\(Int(patience))" : "\(patience)"
                var stumble = fault("does not come back from \(place(step)) within \(waited) s", step, child)
                stumble.isHang = true
                return (finished, stumble)
            }
        }
        let status = child.wait()
        if finished.count == plugins.count { return (finished, nil) }
        if status & 0x7f != 0 {
            return (finished, fault("crashes in \(place(step)) (\(signalName(status & 0x7f)))", step, child))
        }
        let code = (status >> 8) & 0xff
        if step.isEmpty {
            return (finished, fault("cannot be tried: \(command[0]) ended with exit code \(code)", step, child))
        }
        return (finished, fault("ends the whole process in \(place(step)) (exit code \(code))", step, child))
    }

    private func place(_ step: String) -> String { step.isEmpty ? "the reading of its data" : step }

    private func fault(_ text: String, _ step: String, _ child: Child) -> Stumble {
        Stumble(step: PluginStep(rawValue: step), fault: ScanFault(text: text, said: child.lastWords))
    }
}

/// What a child came to grief over.
private struct Stumble {
    var step: PluginStep?
    var fault: ScanFault
    var isHang = false
}

/// A child process with pipes to all three of its standard descriptors, in a process group of its own.
private struct Child {
    private let child: StartedChild
    private var output: Int32
    private var errors: Int32
    private var text: [UInt8] = []
    private var printed = OutputTail()
    private var status: Int32?

    init(_ command: [String]) throws(SystemError) {
        var launcher = ChildLauncher(command)
        launcher.hasInput = true
        launcher.separatesErrors = true
        launcher.environment = ChildLauncher.environmentWithoutBacktrace()
        child = try launcher.start()
        (output, errors) = (child.output, child.errors)
    }

    /// Hands it all its input. It is read before anything else is done, so this does not wait for long.
    func give(_ text: String) {
        // A child that is gone already is noticed by its silence.
        var ignored = sigaction()
        var before = sigaction()
        ignored.__sigaction_handler.sa_handler = SIG_IGN
        sigaction(SIGPIPE, &ignored, &before)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(child.input, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { break }
            rest = rest.dropFirst(written)
        }
        close(child.input)
        sigaction(SIGPIPE, &before, nil)
    }

    /// The lines that it told since the last call, at once if there are any, else none after a while or at the
    /// deadline; nil: there will be no more.
    mutating func lines(until deadline: Double) -> [String]? {
        guard output >= 0 else { return nil }
        var ends = [
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
        ]
        let rest = Int32(max(0, min(100, (deadline - monotonicSeconds()) * 1000 + 1)))
        let count = poll(&ends, 2, rest)
        if count <= 0 {
            // What it started may hold the pipes open after it is gone.
            var ended: Int32 = 0
            if waitpid(child.process, &ended, WNOHANG) == child.process {
                status = ended
                closeAll()
                return nil
            }
            return []
        }
        if ends[1].revents != 0 { printed.append(Self.take(&errors)) }
        if ends[0].revents != 0 { text += Self.take(&output) }
        var result: [String] = []
        while let end = text.firstIndex(of: 10) {
            result.append(String(decoding: text[..<end], as: UTF8.self))
            text.removeSubrange(...end)
        }
        if output < 0 {
            closeAll()
            return result.isEmpty ? nil : result
        }
        return result
    }

    /// What there is to be read; closes the pipe at its end.
    private static func take(_ end: inout Int32) -> ArraySlice<UInt8> {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(end, &buffer, buffer.count)
        if count == 0 || count < 0 && errno != EINTR {
            close(end)
            end = -1
        }
        return buffer[..<max(0, count)]
    }

    private mutating func closeAll() {
        while errors >= 0 {
            var end = pollfd(fd: errors, events: Int16(POLLIN), revents: 0)
            guard poll(&end, 1, 0) > 0 else { break }
            printed.append(Self.take(&errors))
        }
        for end in [output, errors] where end >= 0 { close(end) }
        (output, errors) = (-1, -1)
    }

    /// Ends it, and all that it started.
    mutating func kill() {
        child.kill()
        _ = wait()
        closeAll()
    }

    /// How it ended.
    mutating func wait() -> Int32 {
        if let status { return status }
        let ended = child.wait()
        child.kill()
        status = ended
        return ended
    }

    /// The last line that the plugin printed.
    var lastWords: String { printed.lastLine }
}
