// SPDX-License-Identifier: Apache-2.0
import CRealtime

/// Lets a crash end this program at once, by its signal and with a line on standard error, so that whoever keeps it alive
/// can start it again. Whoever sets `SWIFT_BACKTRACE` in the environment gets Swift's backtrace instead, for which the
/// runtime stops every thread: that takes seconds, and with realtime threads minutes. Call it first of all. [main]
public func endCrashesQuickly() { vg_crash_quickly() }
