// SPDX-License-Identifier: Apache-2.0
import System
import Testing

@testable import Host

@Suite("The pump's thread") struct PumpThreadTests {
    @Test("A round that is awaited begins at once, and the last need not be waited for", .timeLimit(.minutes(1)))
    func wake() {
        let rounds = Lock(0)
        let pump = PumpThread()
        pump.start {
            rounds.withLock { $0 += 1 }
            rounds.signal()
            return 3600
        }
        for number in 1...5 {
            let came = rounds.wait(until: monotonicSeconds() + 50) { $0 >= number ? true : nil }
            #expect(came == true, "round \(number)")
            pump.wake()
        }
        pump.stop()
    }

    @Test("Series that somebody reads are looked for more often") func period() {
        #expect(RunningGraph.pumpPeriod(block: 128, rate: 48000, isAwaited: false) == 1.0 / 60)
        #expect(RunningGraph.pumpPeriod(block: 128, rate: 48000, isAwaited: true) == 1.0 / 120)
        #expect(RunningGraph.pumpPeriod(block: 480, rate: 48000, isAwaited: true) == 0.01)
        #expect(RunningGraph.pumpPeriod(block: 4096, rate: 48000, isAwaited: true) == 1.0 / 60)
    }

    @Test("A bus gives frames while a reader takes them, and only then") func frames() {
        let bus = EventBus()
        let frame = Published.frame(SeriesFrame(node: "meter", time: 1, rows: [.init("rms", [0])]))
        let events = bus.subscribe(.latest) { if case .event = $0 { true } else { false } }
        bus.publish(frame)
        #expect(!bus.givesFrames)
        let all = bus.subscribe(.latest)
        bus.publish(frame)
        #expect(bus.givesFrames)
        events.cancel()
        all.cancel()
    }
}
