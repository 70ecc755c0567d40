// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A level for people: "-12.3", "0.0", "+1.2", or a sign for silence.
func decibelText(_ level: Double, unicode: Bool) -> String {
    guard level > -200 else { return unicode ? "-∞" : "-inf" }
    return (level >= 0.05 ? "+" : "") + fixed(level, 1)
}
