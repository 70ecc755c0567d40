// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Finds what a mistyped name was meant to be. Looking at a candidate costs a little, comparing costs length times
/// length: a budget for all searches together keeps a file full of mistakes from taking seconds. When it is used up
/// there are no more suggestions.
public struct Suggester: Sendable {
    /// What all searches may still cost: letters compared with letters, about.
    private(set) var budget = 4_000_000

    /// A full budget.
    public init() {}

    /// "did you mean 'x'?", or `otherwise` when nothing is close.
    public mutating func hint(_ name: String, among candidates: some Sequence<String>, otherwise: String = "") -> String
    {
        nearest(name, among: candidates).map { "did you mean '\($0)'?" } ?? otherwise
    }

    /// The closest candidate by edit distance, ignoring case, else the shortest that begins with three typed letters or
    /// more, as "gain_db" does with "gain"; nil when none is close. Of equals the first in alphabetical order, so that the
    /// answer does not depend on hashing.
    public mutating func nearest(_ name: String, among candidates: some Sequence<String>) -> String? {
        let typed = Array(name.lowercased().utf8)
        guard budget > 0, !typed.isEmpty, typed.count <= 64 else { return nil }
        var limit = max(1, typed.count / 3)
        var best: String?
        var longer: String?
        for candidate in candidates {
            budget -= 1
            // What was found in a part of the candidates would depend on their order.
            guard budget > 0 else { return nil }
            if best == nil, typed.count >= 3, begins(candidate, with: typed) {
                let order = (candidate.utf8.count, candidate)
                if longer.map({ order < ($0.utf8.count, $0) }) ?? true { longer = candidate }
            }
            guard abs(candidate.utf8.count - typed.count) <= limit else { continue }
            let letters = Array(candidate.lowercased().utf8)
            budget -= typed.count * letters.count + 16
            let distance = editDistance(typed, letters)
            if distance < limit || (distance == limit && (best == nil || candidate < best!)) {
                limit = distance
                best = candidate
            }
        }
        return best ?? longer
    }

    private mutating func begins(_ candidate: String, with typed: [UInt8]) -> Bool {
        guard candidate.utf8.count > typed.count, let first = candidate.utf8.first, first | 32 == typed[0] | 32 else {
            return false
        }
        budget -= typed.count
        return candidate.prefix(typed.count).lowercased().utf8.elementsEqual(typed)
    }
}
