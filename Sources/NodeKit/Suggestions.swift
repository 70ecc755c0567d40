// SPDX-License-Identifier: Apache-2.0
/// What a user may have meant by `word`: the nearest of `candidates`, best first, at most `limit`. [control]
package func suggestions(for word: String, among candidates: [String], limit: Int = 3) -> [String] {
    let wanted = Array(word.lowercased().utf8)
    // Comparing costs length times length.
    guard !wanted.isEmpty, wanted.count <= 128 else { return [] }
    var scored: [(distance: Int, candidate: String)] = []
    for candidate in candidates {
        let lowered = candidate.lowercased()
        let text = Array(lowered.utf8)
        let allowed = max(1, min(wanted.count, text.count) / 3)
        if abs(text.count - wanted.count) <= allowed {
            let distance = editDistance(wanted, text)
            if distance <= allowed { scored.append((distance, candidate)) }
        } else if wanted.count >= 3, lowered.contains(word.lowercased()) {
            scored.append((allowed + 1, candidate))
        }
    }
    scored.sort { ($0.distance, $0.candidate) < ($1.distance, $1.candidate) }
    // Far worse than the best is no help: long names have many neighbours.
    let worst = 2 * (scored.first?.distance ?? 0)
    return scored.prefix { $0.distance <= worst }.prefix(limit).map(\.candidate)
}

/// "did you mean a or b?", or nothing.
package func didYouMean(_ word: String, among candidates: [String]) -> String {
    let found = suggestions(for: word, among: candidates)
    return found.isEmpty ? "" : "did you mean \(found.joined(separator: " or "))?"
}
