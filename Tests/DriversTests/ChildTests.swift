// SPDX-License-Identifier: Apache-2.0
import Glibc
import Realtime
import Synchronization
import TestSupport

@testable import Drivers

@Suite("Child processes", .timeLimit(.minutes(5)))
struct ChildTests {
    private final class Child: Sendable {
        let id = Atomic<pid_t>(0)
        let output = Atomic<Int32>(-1)

        func start(_ arguments: [String], endSignal: Int32) {
            var strings = arguments.map { strdup($0) }
            strings.append(nil)
            var output: Int32 = -1
            // Without the variables of the tests: a sanitizer loaded into them is not meant for the child.
            var environment: [UnsafeMutablePointer<CChar>?] = [strdup("PATH=/usr/bin:/bin"), nil]
            defer { free(environment[0]) }
            id.store(vg_child_start(strings, &environment, &output, endSignal), ordering: .releasing)
            self.output.store(output, ordering: .releasing)
            for string in strings { free(string) }
        }

        /// Waits for its end; what it printed and how it ended.
        func finish() -> (text: String, status: Int32) {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 256)
            let output = self.output.load(ordering: .acquiring)
            while true {
                let count = read(output, &buffer, buffer.count)
                if count <= 0 { break }
                bytes += buffer[..<count]
            }
            close(output)
            var status: Int32 = 0
            waitpid(id.load(ordering: .acquiring), &status, 0)
            return (String(decoding: bytes, as: UTF8.self), status)
        }
    }

    @Test("A child ends with the thread that started it, as it does with the whole process")
    func endsWithUs() async throws {
        let child = Child()
        DriverThread(name: "vgt-parent") { child.start(["/usr/bin/sleep", "1000"], endSignal: SIGTERM) }.join()
        #expect(child.id.load(ordering: .acquiring) > 0)
        #expect(child.finish().status & 0x7f == SIGTERM)
    }

    @Test("A child has its own process group, an empty input, and its outputs come to us")
    func surroundings() async throws {
        let child = Child()
        child.start(
            ["/bin/sh", "-c", "echo $$; ps -o pgid= -p $$ >&2; cat"], endSignal: SIGKILL)
        let result = child.finish()
        let id = child.id.load(ordering: .acquiring)
        let lines = result.text.split(separator: "\n").map { $0.filter { $0 != " " } }
        #expect(lines == ["\(id)", "\(id)"])
        #expect(result.status == 0)
    }

    @Test("A program that is not there is told at once")
    func missing() {
        let child = Child()
        child.start(["/nowhere/at/all"], endSignal: SIGKILL)
        #expect(child.id.load(ordering: .acquiring) == -ENOENT)
    }

    @Test("Of a long output the newest lines are kept")
    func boundedText() {
        var text = BoundedText(limit: 22)
        for number in 0..<100 { text.append(Array("line \(number)\n".utf8)[...]) }
        #expect(text.lines == ["ne 97", "line 98", "line 99"])
    }
}
