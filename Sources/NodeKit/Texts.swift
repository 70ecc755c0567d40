// SPDX-License-Identifier: Apache-2.0

/// Insertions, deletions, replacements and swaps of neighbours between two texts (optimal string alignment).
package func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in 1...a.count {
        var row = [i]
        for j in 1...b.count {
            let same = a[i - 1] == b[j - 1]
            var cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1))
            if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { cost = min(cost, beforeLast[j - 2] + 1) }
            row.append(cost)
        }
        (beforeLast, last) = (last, row)
    }
    return last[b.count]
}

/// At most 60 characters of a text that came from a file.
package func shortened(_ text: String) -> String { text.count <= 60 ? text : text.prefix(57) + "..." }

/// A path as it is found from a folder; an empty folder is the current one.
package func join(_ folder: String, _ path: String) -> String {
    path.hasPrefix("/") || folder.isEmpty ? path : folder == "/" ? "/" + path : folder + "/" + path
}

/// A text without white space at its ends.
package func trimmed(_ text: some StringProtocol) -> String {
    let begin = text.drop { $0.isWhitespace }
    guard let last = begin.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(begin[...last])
}

/// Seconds as a person writes them: to the millisecond.
package func secondsText(_ seconds: Double) -> String {
    let rounded = (seconds * 1000).rounded() / 1000
    return rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int(rounded))" : "\(rounded)"
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

/// Seconds as m:ss or h:mm:ss.
package func clock(_ seconds: Double) -> String {
    let total = seconds.isFinite ? Int(min(max(seconds, 0), 1e9)) : 0
    func two(_ value: Int) -> String { value < 10 ? "0\(value)" : String(value) }
    let (hours, minutes) = (total / 3600, total / 60 % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(total % 60))" : "\(minutes):\(two(total % 60))"
}
