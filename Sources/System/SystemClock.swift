// SPDX-License-Identifier: Apache-2.0
import CRealtime

/// Seconds of a clock that only goes forward, since an arbitrary start. [any]
public func monotonicSeconds() -> Double { Double(vg_nanoseconds()) * 1e-9 }

/// The time of `vg_nanoseconds` in so many seconds; of too many the last that there is. [any]
public func nanoseconds(in seconds: Double) -> UInt64 {
    let (time, isLate) = vg_nanoseconds().addingReportingOverflow(UInt64(saturating: seconds * 1e9))
    return isLate ? .max : time
}
