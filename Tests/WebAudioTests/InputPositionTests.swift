// SPDX-License-Identifier: Apache-2.0
import TestSupport

@testable import WebAudio

@Suite struct InputPositionTests {
    private func position(_ first: UInt32 = 0) -> InputPosition {
        var position = InputPosition(rate: 48_000)
        #expect(position.take(first, frames: 480) == .begins(lost: 0))
        return position
    }

    @Test("A client may begin anywhere, and its positions go on after 2^32") func wrap() {
        var position = position(.max - 479)
        #expect(position.take(0, frames: 480) == .follows)
        #expect(position.take(960, frames: 480) == .missing(480))
        #expect(position.total == 4 * 480)
    }

    @Test("What is missing is told up to a fifth of a second; more is a new beginning") func missing() {
        var position = position()
        #expect(position.take(480 + 9600, frames: 480) == .missing(9600))
        #expect(position.take(10_560 + 9601, frames: 480) == .begins(lost: 9601))
        #expect(position.take(20_641 + 48_000 * 61, frames: 480) == .begins(lost: 0))
        #expect(position.total == 480 + 9600 + 3 * 480)
    }

    @Test("What was there already is told; what goes back far is a new beginning") func back() {
        var position = position()
        #expect(position.take(0, frames: 480) == .repeated(480))
        #expect(position.take(240, frames: 480) == .repeated(240))
        #expect(position.take(720, frames: 480) == .follows)
        // An end that goes back is none.
        #expect(position.take(100, frames: 10) == .repeated(10))
        #expect(position.take(1200, frames: 480) == .follows)
        #expect(position.total == 1680)
        var far = InputPosition(rate: 48_000)
        #expect(far.take(1_000_000, frames: 480) == .begins(lost: 0))
        #expect(far.take(0, frames: 480) == .begins(lost: 0))
    }
}
