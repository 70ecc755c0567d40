// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

@testable import System

/// What there is to be read until the end; closes the pipe.
private func all(_ pipe: Int32) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 256)
    while true {
        let count = read(pipe, &buffer, buffer.count)
        if count <= 0 { break }
        bytes += buffer[..<count]
    }
    close(pipe)
    return String(decoding: bytes, as: UTF8.self)
}

@Suite("Child processes", .timeLimit(.minutes(5)))
struct ChildLauncherTests {
    /// A shell that runs `script`, without the variables of the tests: a sanitizer loaded into them is not meant for it.
    private func shell(_ script: String) -> ChildLauncher {
        var launcher = ChildLauncher(["/bin/sh", "-c", script])
        launcher.environment = ["PATH=/usr/bin:/bin"]
        launcher.endSignal = SIGKILL
        return launcher
    }

    @Test("A child ends with the thread that started it, as it does with the whole process")
    func endsWithThread() throws {
        let started = Lock<StartedChild?>(nil)
        try SystemThread(name: "vgt-parent") {
            var launcher = ChildLauncher(["/usr/bin/sleep", "1000"])
            launcher.environment = []
            launcher.endSignal = SIGTERM
            let child = try? launcher.start()
            started.withLock { $0 = child }
        }.join()
        let child = try #require(started.withLock { $0 })
        #expect(all(child.output) == "")
        #expect(child.wait() & 0x7f == SIGTERM)
    }

    @Test("No child gets a variable that holds a key, whatever else it gets") func secrets() throws {
        setenv("VG_TEST_KEY", "sk-0123456789", 1)
        setenv("VG_TEST_OTHER", "plain", 1)
        SecretVariables.add(["VG_TEST_KEY", "no name=", ""])
        #expect(SecretVariables.names.contains("VG_TEST_KEY") && !SecretVariables.names.contains("no name="))
        for environment in [nil, ChildLauncher.environmentWithoutBacktrace()] {
            var launcher = shell("echo ${VG_TEST_KEY-none} ${VG_TEST_OTHER-none} $VOICEGRAPH_SECRETS")
            launcher.environment = environment
            let child = try launcher.start()
            let words = all(child.output).split(whereSeparator: \.isWhitespace)
            #expect(words.first == "none" && words.dropFirst().first == "plain", "\(words)")
            // What the child starts gets none, either.
            #expect(words.last?.split(separator: ":").contains("VG_TEST_KEY") == true)
            #expect(child.wait() == 0)
        }
    }

    @Test("A child has its own process group, an empty input, and its outputs come through one pipe")
    func surroundings() throws {
        let child = try shell("echo $$; ps -o pgid= -p $$ >&2; cat").start()
        let lines = all(child.output).split(separator: "\n").map { $0.filter { $0 != " " } }
        #expect(lines == ["\(child.process)", "\(child.process)"])
        #expect(child.errors == -1 && child.input == -1)
        #expect(child.wait() == 0)
    }

    @Test("A child with three pipes reads from the first and writes to the others")
    func pipes() throws {
        var launcher = shell("cat; echo wrong >&2; exit 3")
        launcher.hasInput = true
        launcher.separatesErrors = true
        let child = try launcher.start()
        #expect(write(child.input, "hello", 5) == 5)
        close(child.input)
        #expect(all(child.output) == "hello")
        #expect(all(child.errors) == "wrong\n")
        #expect(child.wait() >> 8 == 3)
    }

    @Test("A child has the channel as descriptor 3 and no other of ours", arguments: [false, true])
    func descriptors(hasChannel: Bool) throws {
        // Descriptors that are not marked to be closed, as libraries open them.
        let others = (0..<8).map { _ in dup(STDERR_FILENO) }
        defer { for other in others { close(other) } }
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        // The shell looks at its own, from which it opens none for this; it may keep one for itself from 10 on.
        var launcher = shell(
            "for n in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/self/fd/$n ] && echo $n; done; echo said >&3")
        if hasChannel { launcher.channel = ends[1] }
        let child = try launcher.start()
        close(ends[1])
        let numbers = all(child.output).split(separator: "\n").map(String.init).prefix { $0.count == 1 }
        #expect(Array(numbers) == (hasChannel ? ["0", "1", "2", "3"] : ["0", "1", "2"]))
        #expect(all(ends[0]) == (hasChannel ? "said\n" : ""))
        #expect((child.wait() == 0) == hasChannel)
    }

    @Test("A child gets its descriptors whatever numbers they have here")
    func crossedDescriptors() async {
        await #expect(processExitsWith: .exitCode(7)) {
            // The channel has the number that the child's output is to get. Others may be in use by the system's libraries.
            for number in Int32(0)..<2 { close(number) }
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0, ends == [0, 1] else { exit(1) }
            var launcher = ChildLauncher(["/bin/sh", "-c", "read line; echo got $line; echo bad >&2; echo also >&3"])
            launcher.environment = []
            launcher.hasInput = true
            launcher.separatesErrors = true
            launcher.channel = ends[1]
            guard let child = try? launcher.start() else { exit(2) }
            close(ends[1])
            write(child.input, "it\n", 3)
            close(child.input)
            guard all(child.output) == "got it\n" else { exit(3) }
            guard all(child.errors) == "bad\n" else { exit(4) }
            guard all(ends[0]) == "also\n", child.wait() == 0 else { exit(5) }
            exit(7)
        }
    }

    @Test("Handlers and blocked signals of ours are not those of a child")
    func signals() throws {
        let status = Lock<Int32>(0)
        let launcher = shell("kill -TERM $$; exit 5")
        try SystemThread(name: "vgt-blocked", blocksSignals: true) {
            let result = (try? launcher.start())?.wait() ?? -1
            status.withLock { $0 = result }
        }.join()
        #expect(status.withLock { $0 } & 0x7f == SIGTERM)
    }

    @Test("A program that is not there is told at once, and leaves no pipe open")
    func missing() throws {
        func count() -> Int { (0..<256).count { fcntl(Int32($0), F_GETFD) >= 0 } }
        let before = count()
        let error = #expect(throws: SystemError.self) { try ChildLauncher(["/nowhere/at/all"]).start() }
        #expect(error?.description == "/nowhere/at/all cannot be started: No such file or directory")
        #expect(count() <= before)
    }

    @Test("Of a long output the newest lines are kept")
    func tail() {
        var text = OutputTail(limit: 22)
        #expect(text.lastLine == "")
        for number in 0..<100 { text.append(Array("line \(number)\n".utf8)[...]) }
        #expect(text.lines == ["ne 97", "line 98", "line 99"])
        text.append(Array(" \t\n  the end \n\n".utf8)[...])
        #expect(text.lastLine == "the end")
    }
}
