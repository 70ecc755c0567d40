// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import TestSupport

@Suite("Service managers", .serialized, .timeLimit(.minutes(5)))
struct ServiceManagerTests {
    @Test("What is told comes in one message, at a path and at an abstract name", arguments: [false, true])
    func told(abstract: Bool) throws {
        let socket = try NotifySocket(abstract: abstract)
        let manager = try ServiceManager(socket: socket.name)
        try manager.tell("READY=1", "STATUS=It plays\nin two lines.")
        try manager.tell("WATCHDOG=1")
        #expect(socket.received == [["READY=1", "STATUS=It plays in two lines."], ["WATCHDOG=1"]])
    }

    @Test("The environment names it, and children are not told") func environment() throws {
        let socket = try NotifySocket()
        func find(_ variables: [String: String]) throws -> ServiceManager? {
            for (name, value) in variables { setenv(name, value, 1) }
            defer {
                for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
                    #expect(getenv(name) == nil)
                    unsetenv(name)
                }
            }
            return try ServiceManager.ofEnvironment()
        }
        #expect(try find([:]) == nil)
        #expect(try find(["WATCHDOG_USEC": "1000"]) == nil)
        let manager = try #require(try find(["NOTIFY_SOCKET": socket.name]))
        #expect(manager.patience == nil)
        try manager.tell("READY=1")
        #expect(socket.count("READY=1") == 1)
        let own = String(getpid())
        for (process, patience) in [(nil, 1.5), (own, 1.5), ("1", nil)] as [(String?, Double?)] {
            let variables = ["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "1500000", "WATCHDOG_PID": process]
            #expect(try find(variables.compactMapValues { $0 })?.patience == patience, "\(process ?? "none")")
        }
        #expect(try find(["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "soon"])?.patience == nil)
    }

    @Test(
        "A socket that cannot be used is an error that names it",
        arguments: ["vsock:2:1", "relative", "/", "@", "/" + String(repeating: "x", count: 200)])
    func unusable(name: String) {
        let error = #expect(throws: SystemError.self) { try ServiceManager(socket: name) }
        #expect(error?.description.hasPrefix("cannot tell the service manager at \(name): ") == true)
    }

    @Test("A manager that is gone is an error of what is told, and costs nothing else") func gone() throws {
        var socket: NotifySocket? = try NotifySocket()
        let manager = try ServiceManager(socket: socket!.name)
        socket = nil
        let error = #expect(throws: SystemError.self) { try manager.tell("STATUS=It plays.") }
        #expect(error?.action == "cannot tell the service manager STATUS=It plays.")
    }

    @Test("A manager that does not read keeps nobody for long") func full() throws {
        let socket = try NotifySocket()
        let manager = try ServiceManager(socket: socket.name)
        let error = #expect(throws: SystemError.self) { for _ in 0..<100_000 { try manager.tell("WATCHDOG=1") } }
        #expect(error?.code == EAGAIN)
        #expect(!socket.received.isEmpty)
        try manager.tell("READY=1")
        #expect(socket.count("READY=1") == 1)
    }

    @Test("The watchdog is fed after half of its patience, and only when what must turn has turned") func pulse() {
        var pulse = ServicePulse(patience: 10, at: 100, turns: 7)
        let asked: [(time: Double, turns: UInt64, due: Bool)] = [
            (104.9, 8, false), (105, 8, true), (106, 9, false), (110, 8, false), (118, 8, false), (119, 9, true),
            (120, 10, false), (124, 10, true),
        ]
        for (time, turns, due) in asked { #expect(pulse.isDue(at: time, turns: turns) == due, "\(time)") }
        #expect(pulse.step == 1)
        var never = ServicePulse(patience: .infinity, at: 0, turns: 0)
        #expect(!never.isDue(at: 1e9, turns: 1) && never.step == 2)
    }
}
