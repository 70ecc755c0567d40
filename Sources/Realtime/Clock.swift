// SPDX-License-Identifier: Apache-2.0
import CRealtime

/// Turns differences of `vg_ticks` into seconds: measures the counter's rate against the system's clock.
///
/// Reading the counter costs the audio thread a few nanoseconds and no call; its rate is known only by watching it, the
/// longer the better: about 0.1 % after a millisecond, 1e-6 after a second.
public struct TickClock: Sendable {
    private let start: Instant

    /// Starts watching. [any]
    public init() { start = Instant() }

    /// Ticks per second since `init`. Waits, busy, until a millisecond has been watched. [control]
    public var rate: Double {
        var now = Instant()
        while now.nanoseconds &- start.nanoseconds < 1_000_000 { now = Instant() }
        return Double(now.ticks &- start.ticks) * 1e9 / Double(now.nanoseconds &- start.nanoseconds)
    }

    /// Seconds that `ticks`, a difference of two readings, took. For many differences keep `rate`. [control]
    public func seconds(_ ticks: UInt64) -> Double { Double(ticks) / rate }

    /// Both clocks at one moment, as near as can be had.
    private struct Instant {
        var ticks: UInt64
        var nanoseconds: UInt64

        init() {
            // Of several tries the one least disturbed by interrupts.
            var best = UInt64.max
            (ticks, nanoseconds) = (0, 0)
            for _ in 0..<5 {
                let before = vg_ticks()
                let now = vg_nanoseconds()
                let after = vg_ticks()
                if after &- before < best {
                    best = after &- before
                    ticks = before &+ (after &- before) / 2
                    nanoseconds = now
                }
            }
        }
    }
}
