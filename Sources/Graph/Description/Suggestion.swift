// SPDX-License-Identifier: Apache-2.0

/// Finds what a mistyped name was meant to be. Comparing costs length times length per candidate, so that a budget
/// keeps a file full of mistakes from taking seconds; when it is used up there are no more suggestions.
public struct Suggester: Sendable {
    private var budget = 4_000_000

    /// A full budget.
    public init() {}

    /// "did you mean 'x'?", or `otherwise` when nothing is close.
    public mutating func hint(_ name: String, among candidates: some Sequence<String>, otherwise: String = "") -> String
    {
        nearest(name, among: candidates).map { "did you mean '\($0)'?" } ?? otherwise
    }

    /// The closest candidate by edit distance, ignoring case; nil when none is close. Of equals the first in
    /// alphabetical order, so that the answer does not depend on hashing.
    public mutating func nearest(_ name: String, among candidates: some Sequence<String>) -> String? {
        let typed = Array(name.lowercased().utf8)
        guard !typed.isEmpty, typed.count <= 64 else { return nil }
        var limit = max(1, typed.count / 3)
        var best: String?
        for candidate in candidates where abs(candidate.utf8.count - typed.count) <= limit {
            let letters = Array(candidate.lowercased().utf8)
            budget -= typed.count * letters.count + 16
            guard budget > 0 else { return best }
            let distance = editDistance(typed, letters)
            if distance < limit || (distance == limit && (best == nil || candidate < best!)) {
                limit = distance
                best = candidate
            }
        }
        return best
    }
}

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
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
