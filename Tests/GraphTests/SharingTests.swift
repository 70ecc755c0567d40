// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Testing

@testable import Graph

@Suite("When blocks are shared") struct SharingTests {
    /// Plays blocks of so many ticks of work, which take `length` when shared; returns which of them were shared.
    private func play(_ sharing: inout Sharing, blocks: Int, work: UInt64, length: UInt64, period: UInt64) -> [Bool] {
        (0..<blocks).map { _ in
            let shared = sharing.isShared
            if shared {
                sharing.tookShared(work: work, length: length, period: period, least: 1000)
            } else {
                sharing.tookAlone(length: work, period: period, least: 1000)
            }
            return shared
        }
    }

    @Test("Where it helps, blocks are, but for some to compare with")
    func helps() {
        var sharing = Sharing()
        let shared = play(&sharing, blocks: 10_000, work: 5000, length: 3000, period: 100_000)
        #expect((9900..<10_000).contains(shared.count { $0 }))
    }

    @Test("Where helpers are held up with their parts, one thread does all")
    func heldUp() {
        var sharing = Sharing()
        var count = 0
        for _ in 0..<20_000 {
            if sharing.isShared {
                count += 1
                sharing.tookShared(work: 9000, length: 6000, period: 100_000, least: 1000)
            } else {
                sharing.tookAlone(length: 5000, period: 100_000, least: 1000)
            }
        }
        #expect(count < 1000)
    }

    @Test("A block in which the system held somebody up changes nothing")
    func disturbed() {
        var sharing = Sharing()
        var count = 0
        for block in 0..<10_000 {
            if sharing.isShared {
                count += 1
                let length: UInt64 = block % 50 == 49 ? 500_000 : 3000
                sharing.tookShared(work: 5000, length: length, period: 100_000, least: 1000)
            } else {
                sharing.tookAlone(length: 5000, period: 100_000, least: 1000)
            }
        }
        #expect(count > 9800)
    }

    @Test("Little work is not, and more is again")
    func little() {
        var sharing = Sharing()
        #expect(
            play(&sharing, blocks: 100, work: 900, length: 500, period: 100_000) == [true]
                + [Bool](repeating: false, count: 99))
        // Not at once, where it is hardly more.
        #expect(!play(&sharing, blocks: 1000, work: 1200, length: 800, period: 100_000).contains(true))
        #expect(play(&sharing, blocks: 100, work: 5000, length: 3000, period: 100_000).last == true)
    }

    @Test("Where nobody helps in time it is tried now and then")
    func useless() {
        var sharing = Sharing()
        let shared = play(&sharing, blocks: 100_000, work: 5000, length: 5100, period: 100_000)
        let count = shared.count { $0 }
        #expect(shared.first == true && count > 64 && count < 2000)
    }

    @Test("Much work is always shared, for one thread alone would be a risk")
    func much() {
        var sharing = Sharing()
        #expect(play(&sharing, blocks: 1000, work: 60_000, length: 61_000, period: 100_000).allSatisfy { $0 })
        // Also when it becomes so much while one thread does it.
        _ = play(&sharing, blocks: 1000, work: 5000, length: 5100, period: 100_000)
        #expect(!sharing.isShared)
        #expect(play(&sharing, blocks: 20, work: 90_000, length: 50_000, period: 100_000).last == true)
    }
}

@Suite("Notes of several threads", .timeLimit(.minutes(1))) struct NoteQueueTests {
    @Test("Notes come in order, and what finds no room is refused")
    func order() {
        let queue = NoticeQueue(capacity: 4)
        for round in 0..<100 {
            for number in 0..<4 {
                #expect(
                    queue.writer.put(
                        vg_notice(
                            node: UInt32(number), kind: VG_NOTICE_LOG, text: nil, value: Double(round), position: 0)))
            }
            #expect(!queue.writer.put(vg_notice()))
            for number in 0..<4 {
                let notice = queue.pop()
                #expect(notice?.node == UInt32(number) && notice?.value == Double(round))
            }
            #expect(queue.pop() == nil)
        }
    }
}
