// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization

/// A program that runs beside the test. It is killed with the last reference.
public final class Program: Sendable {
    /// The command, built beside the bundle of tests, which is this process or an argument of it.
    public static let voicegraph: String = {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let bundle = (CommandLine.arguments + [own]).first { $0.hasSuffix(".xctest") } ?? own
        return URL(filePath: bundle).deletingLastPathComponent().appending(path: "voicegraph").path
    }()

    /// What it was started with.
    public let arguments: [String]
    private let child: SpawnedChild
    private let scratch: Scratch
    private let read = Mutex(ReadLines())

    /// Starts a program by its path, or by its name in $PATH.
    public init(_ arguments: [String], environment: [String: String] = [:], folder: String? = nil) throws {
        self.arguments = arguments
        scratch = try Scratch()
        // Files, not pipes: nothing has to be read for the program to go on.
        child = try SpawnedChild(
            arguments, environment: environment, folder: folder, output: scratch.file("output"),
            errors: scratch.file("errors"))
    }

    deinit { if isRunning { kill(processID, SIGKILL) } }

    /// Its process id.
    public var processID: pid_t { child.processID }
    /// Whether it has not ended.
    public var isRunning: Bool { child.status == nil }
    /// Standard output so far.
    public var output: String { (try? String(contentsOfFile: scratch.file("output"), encoding: .utf8)) ?? "" }
    /// Standard error so far.
    public var errors: String { (try? String(contentsOfFile: scratch.file("errors"), encoding: .utf8)) ?? "" }
    /// The same, but for a server of our own that came late: a busy machine takes its time for that.
    public var complaints: [Substring] {
        errors.split(separator: "\n").filter { !$0.contains("does not answer yet and is waited for") }
    }
    /// The complete lines of standard output so far.
    public var lines: [String] {
        read.withLock { read in
            read.goOn(scratch.file("output"))
            return read.lines
        }
    }

    /// What was read of standard output: it may be long, and is asked for often.
    private struct ReadLines {
        var lines: [String] = []
        private var offset: UInt64 = 0
        private var rest = Data()

        mutating func goOn(_ path: String) {
            guard let file = FileHandle(forReadingAtPath: path) else { return }
            defer { try? file.close() }
            try? file.seek(toOffset: offset)
            guard let news = try? file.readToEnd() else { return }
            offset += UInt64(news.count)
            rest.append(news)
            guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return }
            let whole = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
            lines += whole.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            rest = Data(rest[(end + 1)...])
        }
    }

    /// The processes that are children of it now.
    public func children() -> [pid_t] {
        let path = "/proc/\(processID)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return threads.flatMap { thread in
            let text = (try? String(contentsOfFile: "\(path)/\(thread)/children", encoding: .utf8)) ?? ""
            return text.split(separator: " ").compactMap { pid_t($0) }
        }
    }

    /// Sends it a signal.
    public func signal(_ number: Int32) { if isRunning { kill(processID, number) } }

    /// Waits for its end; returns its exit code, or minus the signal that ended it. Throws if it does not end in time.
    @discardableResult
    public func end(seconds: Double = 60) async throws -> Int32 {
        try await wait("it ends", seconds: seconds) { !$0.isRunning }
        return child.status!
    }

    /// Waits for something that it does; the error tells what it has printed until then.
    public func wait(
        _ what: String, seconds: Double = 60, _ condition: @Sendable (Program) async throws -> Bool
    ) async throws {
        do {
            try await eventually(what, seconds: seconds) { try await condition(self) }
        } catch let error as NeverHappened {
            throw NeverHappened(
                description: "\(arguments.joined(separator: " ")): \(error.description)\n\(output)\(errors)")
        }
    }
}
