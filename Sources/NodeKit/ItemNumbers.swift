// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Numbers for the items of a node (`Message.item`), each higher than all before it. Whoever gets the messages remembers
/// items, so those of an instance that takes another's place, after a change of its settings or a crash, must not be
/// numbered as that one's were: in a live graph the numbers go on from the milliseconds since 1970. Offline they begin
/// with 1, so that equal renders tell equal things.
public struct ItemNumbers: Sendable {
    /// The number given last.
    public private(set) var last: UInt64 = 0

    /// None is given yet.
    public init() {}

    /// The next number.
    public mutating func next(offline: Bool) -> UInt64 {
        if last == 0, !offline {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            last = UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
        }
        last += 1
        return last
    }
}
