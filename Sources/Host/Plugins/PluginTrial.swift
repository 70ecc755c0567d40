// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// Opens shared objects in a process of their own before they are let into this one: code that crashes, ends the process or
/// never comes back when it is opened does no harm there.
///
/// Off until it is told what to run, so that a program that embeds the host decides: `use` takes the command that calls
/// `serve`. What belongs to the program itself is not tried.
public enum PluginTrial {
    private static let trial = Lock<ChildTrial?>(nil)

    /// From now on shared objects are tried by a child that runs `command`. One that does not come back within `patience`
    /// seconds is given up. [control]
    public static func use(_ command: [String], patience: Double = 5) {
        trial.withLock { $0 = ChildTrial(command: command, patience: patience) }
    }

    /// Why files are not to be opened here; nothing of those against which nothing is to be said. [control]
    static func faults(of files: [PluginFile]) -> [PluginFile: PluginFailure] {
        guard let trial = trial.withLock({ $0 }) else { return [:] }
        // A line each: a name that is none is left to the loader.
        let tried = files.filter { !$0.isOwn && !$0.path.contains(where: \.isNewline) }
        var faults: [PluginFile: PluginFailure] = [:]
        var next = 0
        // As long as all goes well one child tries them all; after each failure a new one goes on with the next.
        while next < tried.count {
            let (finished, stumble) = trial.run(tried[next...].map(\.path), first: "its start")
            next += finished.count
            guard next < tried.count else { break }
            if let stumble {
                let said = stumble.said.isEmpty ? "" : "it printed: \(stumble.said); "
                faults[tried[next]] = PluginFailure(
                    path: tried[next].path, type: tried[next].promisedType,
                    reason: "\(stumble.text), as a trial in a process of its own showed",
                    hint: said + "move it out of the folder, or tell its author")
            }
            next += 1
        }
        return faults
    }

    /// Opens every file of standard input, a line each, and ends the process. What is wrong with one is found out again by
    /// whoever loads it. [control]
    public static func serve() -> Never {
        // Plugins print what they like, which must not get among what is told.
        let report = dup(STDOUT_FILENO)
        dup2(STDERR_FILENO, STDOUT_FILENO)
        // A thread of a pool blocks signals, those by which a plugin gives up among them.
        unblockSignals()
        var index = 0
        while let path = readLine() {
            // A process that nobody waits for any more must not hang for ever.
            alarm(120)
            tell(report, "\(index) its opening\n")
            _ = try? PluginLoader.load(PluginFile(path: path))
            tell(report, "\(index) done\n")
            index += 1
        }
        // Without the exit handlers of whatever the plugins loaded.
        _exit(0)
    }

    private static func tell(_ descriptor: Int32, _ text: String) {
        var text = text
        text.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
    }
}
