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

    @Test("Rounds come as often as somebody needs them, and rest otherwise") func period() {
        func rounds(_ block: Int, _ pace: RunningGraph.Pace) -> Double {
            (1 / RunningGraph.pumpPeriod(block: block, rate: 48000, pace)).rounded()
        }
        #expect([128, 480, 4096].map { rounds($0, .resting) } == [60, 60, 60])
        #expect([128, 480, 4096].map { rounds($0, .read) } == [120, 100, 60])
        #expect([64, 128, 480, 4096].map { rounds($0, .changing) } == [480, 375, 100, 60])
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
