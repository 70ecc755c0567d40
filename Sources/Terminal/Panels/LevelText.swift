// SPDX-License-Identifier: Apache-2.0

/// A level for people: "-12.3", "0.0", "+1.2", or a sign for silence.
func decibelText(_ level: Double, unicode: Bool) -> String {
    guard level > -200 else { return unicode ? "-∞" : "-inf" }
    return (level >= 0.05 ? "+" : "") + fixed(level, 1)
}

/// A number with a given count of decimals, without a locale.
package func fixed(_ value: Double, _ decimals: Int) -> String {
    guard value.isFinite else { return "-" }
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    let scaled = (value * scale).rounded()
    guard abs(scaled) < 1e15 else { return "-" }
    let digits = String(Int64(abs(scaled)))
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
    let sign = scaled < 0 ? "-" : ""
    return decimals == 0 ? sign + padded : sign + padded.dropLast(decimals) + "." + padded.suffix(decimals)
}
