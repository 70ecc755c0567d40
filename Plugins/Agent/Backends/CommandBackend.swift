// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// Answers with what a program writes: one that runs as long as the node, where a blank line ends a reply, or one for each
/// turn.
final class CommandBackend: Backend {
    static let command = Key.texts(
        "command",
        "of the backend command: a program and its arguments, or a line for the shell; it reads what was said from "
            + "its standard input, a line each, and writes lines", names: .program)
    static let perTurn = Key.flag(
        "per_turn", "run the command once for each item; else once, and a blank line ends a reply", default: false)
    static let timeLimit = Key.number(
        "time_limit", "how long the command may take for a reply", default: 30, in: 0.1...3600, unit: "s")

    private let host: NodeHost
    private let command: [String]
    private let perTurn: Bool
    /// Seconds for a reply.
    private let limit: Double
    private var process: CommandProcess?
    /// Replies that nobody wanted to the end: what it still writes of them is skipped.
    private var skips = 0

    init(_ settings: Settings, _ host: NodeHost) throws(NodeError) {
        self.host = host
        command = try settings.command(
            Self.command, for: "the backend \"command\"", hint: "as in command = [\"./answer\", \"--short\"]",
            host: host)
        perTurn = try settings[Self.perTurn]
        limit = try settings[Self.timeLimit]
    }

    func forget() { drop() }
    func end() { drop() }

    private func drop() {
        process?.end()
        process = nil
        skips = 0
    }

    func answer(_ reply: Reply) throws(AgentFault) {
        let isOld = process != nil
        var hasSaid = false
        do throws(AgentFault) { try answer(reply, &hasSaid) } catch {
            // One that was at fault before this item came is started again, and asked once more.
            guard isOld, !hasSaid, process == nil, !reply.isStopped else { throw error }
            host.count("restarted")
            host.log(VG_LOG_WARNING, "\(error.message); it is started again")
            try answer(reply, &hasSaid)
        }
    }

    private func answer(_ reply: Reply, _ hasSaid: inout Bool) throws(AgentFault) {
        reply.waits(as: process == nil ? .connecting : .thinking, seconds: limit)
        let process = try running()
        reply.waits(as: .thinking, seconds: limit)
        let deadline = monotonicSeconds() + limit
        process.give(reply.text.split(whereSeparator: \.isNewline).joined(separator: " "), last: perTurn)
        do throws(AgentFault) {
            while try !isComplete(process, reply, deadline, &hasSaid) {
                guard monotonicSeconds() < deadline else {
                    throw AgentFault(.other, "the command gave no answer within \(limit) s, and was ended")
                }
            }
        } catch {
            drop()
            throw error
        }
        if perTurn { drop() }
    }

    private func running() throws(AgentFault) -> CommandProcess {
        if let process { return process }
        let made: CommandProcess
        do throws(NodeError) { made = try CommandProcess(command) } catch {
            throw AgentFault(.initialization, error.message)
        }
        process = made
        skips = 0
        return made
    }

    /// Takes what it says next. True: the reply has ended, or nobody wants it.
    private func isComplete(
        _ process: CommandProcess, _ reply: Reply, _ deadline: Double, _ hasSaid: inout Bool
    ) throws(AgentFault) -> Bool {
        if reply.isStopped {
            skips += 1
            return true
        }
        switch try process.next() {
        case .nothing: return false
        case .line(let line) where !perTurn && trimmed(line).isEmpty:
            if skips == 0 { return true }
            skips -= 1
        case .line(let line):
            if skips > 0 { break }
            hasSaid = true
            _ = try reply.say(line + "\n")
        case .end:
            let how = process.ending(by: deadline)
            if perTurn, how == nil { return true }
            throw AgentFault(.other, "the command \(how ?? "has ended")")
        }
        return false
    }
}
