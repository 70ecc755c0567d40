// SPDX-License-Identifier: Apache-2.0
import CRealtime

/// Seconds of a clock that only goes forward, since an arbitrary start. [any]
public func monotonicSeconds() -> Double { Double(vg_nanoseconds()) * 1e-9 }
