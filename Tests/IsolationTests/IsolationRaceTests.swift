// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import NodeKit
import Synchronization
import TestSupport

@testable import Host
@testable import Isolation

/// The audio thread, the supervisor, the reader of the channel and the control side at once.
@Suite(.serialized, .timeLimit(.minutes(10))) struct IsolationRaceTests {
    /// A thread that plays, and tells how often.
    private final class Player: @unchecked Sendable {
        // Sendable: the driver is the thread's own until it has ended.
        let driver: HandDriver
        let ending = Atomic(false)
        private var worker: Worker?

        init(_ driver: HandDriver) throws {
            self.driver = driver
            worker = try Worker { [self] in
                while !ending.load(ordering: .acquiring) {
                    driver.process()
                    usleep(200)
                }
            }
        }

        func end() {
            ending.store(true, ordering: .releasing)
            worker?.join()
        }
    }

    @Test(
        "Nothing is torn when a child dies while everybody is busy with it",
        arguments: ["isolate = true", "isolate = \"group\""])
    func busy(isolate: String) throws {
        let registry = try Unruly.shared.registry(
            testPolicy {
                $0.blockShare = 1
                $0.patience = 20
            })
        let scratch = try Scratch()
        let path = try scratch.write("graph.conf", unrulyGraph(isolate))
        let (loaded, _) = try PreparedGraph.load(path: path, registry: registry)
        let ready = try #require(loaded)
        let told = ready.bus.subscribe(.lossless)
        let driver = HandDriver(block: 256)
        let graph = try RunningGraph.start(ready, on: driver)
        let player = try Player(driver)
        defer { player.end() }
        var (started, failed) = (0, 0)
        func pump() {
            graph.pump()
            while let item = told.poll() {
                guard case .event(let event) = item else { continue }
                if event.name == "plugin.started" { started += 1 }
                if event.name == "plugin.failed" { failed += 1 }
            }
        }
        for round in 1...8 {
            try eventuallyNow("round \(round): there is a child") {
                pump()
                return registry.isolator.children.first?.process != nil && started == failed
            }
            for number in 0..<20 {
                try graph.send(.text("remember \(number)"), to: "odd", port: "do")
                try graph.set("odd", "gain", to: Float(number % 4))
                if number == 10, let process = registry.isolator.children.first?.process { kill(process, SIGKILL) }
                graph.perform("odd", "save", ["folder": .string(scratch.file("state"))], patience: 1) { _ in }
                graph.perform("odd", "preset", ["preset": .string("\(number + 1)")], patience: 1) { _ in }
                _ = graph.isIdle
                pump()
            }
            try eventuallyNow("round \(round): it failed") {
                pump()
                return failed >= round
            }
        }
        player.end()
        graph.stop()
        #expect(failed >= 8)
        #expect(registry.isolator.children.first.map { $0.asked > 0 } ?? true)
    }
}
