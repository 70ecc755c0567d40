// SPDX-License-Identifier: Apache-2.0
import Archive
import ArgumentParser
import Glibc
import Host
import System

/// What the commands about the archive have in common.
enum ArchiveAccess {
    /// The archive; nil: nothing was kept yet. One that is damaged gets another name, which is told.
    static func open() throws -> Archive? {
        try told { () throws(ArchiveError) in try Archive.open() }
    }

    /// The archive; that there is none is an error.
    static func opened() throws -> Archive {
        guard let archive = try open() else { throw fail(nothing) }
        return archive
    }

    /// Does something with it; what goes wrong is told.
    static func told<Result>(_ body: () throws(ArchiveError) -> Result) throws -> Result {
        do throws(ArchiveError) { return try body() } catch {
            guard error.kind != .request else { throw fail("\(error)") }
            guard error.kind == .damaged, let name = try? Archive.setAside() ?? nil else {
                throw fail("the archive \(Archive.standardPath): \(error)")
            }
            throw fail(
                "the archive \(Archive.standardPath): \(error); it is called \(name) now, and the next text that is kept "
                    + "begins a new one")
        }
    }

    /// Says that there is nothing, in lines that fit.
    static func sayNothing() { writeOut(wrap(nothing, terminalWidth() ?? .max).joined(separator: "\n") + "\n") }

    private static let nothing = "nothing is kept yet: of a graph that runs, what its nodes with keep = true tell is"

    /// The sessions with these numbers, "last" for the newest; one that there is not is an error.
    static func sessions(_ names: [String], of part: Archive.Part, in archive: Archive) throws -> [ArchivedSession] {
        let all = try told { () throws(ArchiveError) in try archive.sessions(of: part) }
        return try names.map { name in
            if name == "last", let last = all.last { return last }
            if let session = all.first(where: { String($0.id) == name }) { return session }
            let list = part == .item ? "transcripts" : "takes"
            throw fail("there is no session \(name) with \(list); `voicegraph \(list) list` shows what there is")
        }
    }

    /// Asks whether to go on; without a terminal nobody can answer.
    static func confirm(_ question: String, yes: Bool) throws {
        if yes { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw fail("\(question) Nobody can be asked here; --yes answers it")
        }
        writeOut("\(question) [y/N] ", to: STDERR_FILENO)
        guard let answer = readLine()?.lowercased(), ["y", "yes"].contains(answer) else {
            throw fail("nothing was deleted")
        }
    }
}

/// Which of what is kept is to go.
struct AgeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What began longer ago than this: 30d, 12h, 90m.", valueName: "age"))
    var olderThan: TimeSpan?

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    /// The time before which it began, in seconds since 1970.
    var before: Double? { olderThan.map { calendarTime() - $0.seconds } }
}

/// "1 item", "2 items".
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// Seconds since 1970 as the clock here shows them: "2026-01-31 23:59".
func localTime(_ utc: Double, seconds: Bool = false) -> String {
    var time = time_t(saturating: utc.rounded(.down))
    var parts = tm()
    localtime_r(&time, &parts)
    var text = [CChar](repeating: 0, count: 40)
    let count = strftime(&text, text.count, seconds ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d %H:%M", &parts)
    return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Hours, minutes and seconds: "0:01:02".
func duration(_ seconds: Double) -> String {
    let whole = max(0, Int(saturating: min(seconds, 1e9).rounded()))
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(whole / 3600):\(two(whole / 60 % 60)):\(two(whole % 60))"
}
