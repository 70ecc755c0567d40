// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Glibc

/// Starts a program as a child in a process group of its own, so that a terminal's Ctrl-C does not reach it, with
/// default signal handling and no descriptor but those that are named here. Nothing of this process is copied as by
/// fork, so that its audio thread meets no copy-on-write pages.
public struct ChildLauncher: Sendable {
    /// The program's absolute path, and its arguments.
    public var command: [String]
    /// Its variables, "NAME=value"; nil: those of this process. Those of `SecretVariables` are left out.
    public var environment: [String]?
    /// What the kernel sends it when the thread that started it ends, which must live as long as the child; 0: nothing.
    public var endSignal: Int32 = 0
    /// A descriptor of this process that becomes its descriptor 3; nil: it has none.
    public var channel: Int32?
    /// Whether its standard input is a pipe; otherwise it is empty.
    public var hasInput = false
    /// Whether its standard error has a pipe of its own; otherwise it shares that of its standard output.
    public var separatesErrors = false

    /// Describes a child.
    public init(_ command: [String]) { self.command = command }

    /// The variables for a child that is this program again and runs somebody's plugin: a backtrace of this program
    /// would say nothing of the plugin, take seconds, and hide what the plugin said.
    public static func environmentWithoutBacktrace() -> [String] {
        let name = "SWIFT_BACKTRACE="
        var variables: [String] = []
        var entry = environ
        while let variable = entry.pointee {
            if strncmp(variable, name, name.utf8.count) != 0 { variables.append(String(cString: variable)) }
            entry += 1
        }
        return variables + [name + "enable=no"]
    }

    /// Copies of its variables, without those that hold keys, byte by byte: they need not be UTF-8.
    private func variables() -> [UnsafeMutablePointer<CChar>?] {
        let secrets = SecretVariables.names
        if let environment {
            return environment.filter { !SecretVariables.contains(secrets, $0) }.map { strdup($0) }
        }
        var result: [UnsafeMutablePointer<CChar>?] = []
        var entry = environ
        while let variable = entry.pointee {
            if !SecretVariables.contains(secrets, String(cString: variable)) { result.append(strdup(variable)) }
            entry += 1
        }
        return result
    }

    /// Starts it. Throws if there is no such program or the system has no room for one more. [control]
    public func start() throws(SystemError) -> StartedChild {
        var pipes = Pipes()
        defer { pipes.closeTheirs() }
        var child = StartedChild()
        do throws(SystemError) {
            if hasInput { (pipes.input, child.input) = try Pipes.open() }
            (child.output, pipes.output) = try Pipes.open()
            if separatesErrors { (child.errors, pipes.errors) = try Pipes.open() }
            let errors = separatesErrors ? pipes.errors : pipes.output
            let descriptors = [pipes.input, pipes.output, errors, channel ?? -1]
            var arguments = command.map { strdup($0) } + [nil]
            var variables = variables() + [nil]
            defer { for text in arguments + variables { free(text) } }
            let result = vg_child_start(&arguments, &variables, descriptors, endSignal)
            if result < 0 { throw SystemError("\(command.first ?? "") cannot be started", code: -result) }
            child.process = result
        } catch {
            for end in [child.input, child.output, child.errors] where end >= 0 { close(end) }
            throw error
        }
        return child
    }
}

/// A child process and this side's ends of its pipes, which belong to the caller.
public struct StartedChild: Sendable {
    /// Its id, and its group's.
    public internal(set) var process: pid_t = 0
    /// Writing end of its standard input; -1: it has none.
    public internal(set) var input: Int32 = -1
    /// Reading end of its standard output.
    public internal(set) var output: Int32 = -1
    /// Reading end of its standard error; -1: it goes to `output`.
    public internal(set) var errors: Int32 = -1

    /// Ends it by force, and all that it started. Not after it was reaped. [any]
    public func kill() { Glibc.kill(-process, SIGKILL) }

    /// Waits for its end and reaps it; its status as the kernel gives it. Once. [control]
    public func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }
}

/// The child's ends of pipes, until it has them.
private struct Pipes {
    var input: Int32 = -1
    var output: Int32 = -1
    var errors: Int32 = -1

    /// A pipe that no other child inherits.
    static func open() throws(SystemError) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard vg_pipe_open(&ends) else { throw SystemError("no pipe to a child") }
        return (ends[0], ends[1])
    }

    func closeTheirs() { for end in [input, output, errors] where end >= 0 { close(end) } }
}
