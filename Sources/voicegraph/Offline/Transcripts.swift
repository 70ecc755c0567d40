// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import GraphFile
import Host
import NodeKit
import System

/// Transcripts of several files, by one engine.
struct Transcripts: Sendable {
    let files: [String]
    /// Of the node that recognizes.
    let settings: [String: SettingValue]
    let namesSpeakers: Bool

    /// Transcribes all of them; whether each was to its end. What was not is said. `atOnce` nil: as many as there are
    /// processors, and memory.
    func run(
        atOnce: Int?, _ registry: NodeRegistry, _ ended: EndFlag, to sink: TranscriptSink
    ) throws(SystemError) -> Bool {
        let goesOn: @Sendable () -> Bool = { !ended.isSet && !sink.isRefused && !isReaderGone }
        let transcribe: @Sendable (Int, FileReport) -> Bool = { index, report in
            let path = files[index]
            var seconds = 0.0
            var fault: Fault?
            do throws(Fault) {
                let outcome = try run(path, registry, report, while: goesOn, to: sink)
                seconds = outcome.seconds
                fault = outcome.fault.map { Fault("\(path): \($0)") }
            } catch { fault = error.message.hasPrefix(path) ? error : Fault("\(path): \(error)") }
            let isCut = !goesOn()
            report.inTurn { [seconds] in sink.endFile(seconds, isCut: isCut) }
            if let fault { report.fail(fault) }
            return fault == nil
        }
        guard files.count > 1 else {
            let report = FileReport(rate: Transcription.rate)
            defer { report.clear() }
            return transcribe(0, report)
        }
        let most = atOnce ?? min(Threads.automatic.limit, (freeMemory() ?? .max) / memory)
        let failed = try Batch(count: files.count, rate: Transcription.rate).run(
            atOnce: most, while: goesOn, transcribe)
        return failed == 0
    }

    /// Bytes that it takes to recognize one file, about: moonshine took 0.4 GB. A model of the user's takes what it has on
    /// disk, at least.
    private var memory: Int {
        var size = 1 << 29
        guard case .string(let folder)? = settings["model"] else { return size }
        for name in names(in: folder) {
            var facts = stat()
            if stat(join(folder, name), &facts) == 0 { size += Int(facts.st_size) }
        }
        return size
    }

    /// One file.
    private func run(
        _ path: String, _ registry: NodeRegistry, _ report: FileReport, while goesOn: () -> Bool,
        to sink: TranscriptSink
    ) throws(Fault) -> Transcription.Outcome {
        guard access(path, R_OK) == 0 else { throw Fault(String(cString: strerror(errno))) }
        func frames(_ seconds: Double) -> Int { Int(seconds * Transcription.rate) }
        let outcome = try Transcription(path: path, settings: settings, namesSpeakers: namesSpeakers).run(
            registry: registry
        ) { seconds in
            report.show(frames(seconds))
            return goesOn()
        } take: { item in
            report.inTurn { sink.take(item, of: path) }
        }
        if isatty(STDERR_FILENO) == 1 { report.tell("\(path): \(report.summary(frames(outcome.seconds)))\n") }
        return outcome
    }
}

extension Transcription.Outcome {
    /// What could not be recognized; nil: all could.
    fileprivate var fault: String? {
        failures.first.map { first in
            "\(failures.count) part\(failures.count == 1 ? "" : "s") could not be recognized: \(first)"
        }
    }
}

/// Where the texts of one file after the other are written.
final class TranscriptSink: Sendable {
    private struct State {
        var writer: TranscriptWriter
        /// Nil: standard output.
        var target: WholeFile?
        var fault: SystemError?
        var isRefused = false
        /// Whether a file was not read to its end because all was to end: those behind it are left out.
        var isCut = false

        mutating func write(_ text: String) {
            do throws(SystemError) {
                if let target { try target.write(Array(text.utf8)) } else if !writeOut(text) { isRefused = true }
            } catch { (fault, isRefused) = (error, true) }
        }
    }

    private let state: Lock<State>

    /// Into a file, or without one to standard output.
    init(_ format: TranscriptFormat, to target: sending WholeFile?) {
        let writer = TranscriptWriter(format)
        state = Lock(State(writer: writer, target: target))
        state.withLock { $0.write(writer.head) }
    }

    /// Whether nothing more can be written.
    var isRefused: Bool { state.withLock { $0.isRefused } }

    /// Writes what is said in the file whose turn it is.
    func take(_ item: Transcription.Item, of path: String) {
        state.withLock { state in
            if !state.isCut { state.write(state.writer.text(item, of: path)) }
        }
    }

    /// The next file has its turn: this one has so many seconds.
    func endFile(_ seconds: Double, isCut: Bool) {
        state.withLock { state in
            state.writer.endFile(seconds)
            state.isCut = state.isCut || isCut
        }
    }

    /// Nothing follows. Throws what kept a text from being written.
    func finish() throws(SystemError) {
        let fault = state.withLock { state -> SystemError? in
            state.write(state.writer.end())
            if state.fault == nil {
                do throws(SystemError) { try state.target?.finish() } catch { state.fault = error }
            }
            return state.fault
        }
        if let fault { throw fault }
    }
}
