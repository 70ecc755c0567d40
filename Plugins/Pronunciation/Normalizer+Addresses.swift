// SPDX-License-Identifier: Apache-2.0

/// What is read by its parts: addresses of the web and of people, and pictures in the text.
extension Normalizer {
    private static let domains: Set = [
        "com", "org", "net", "edu", "gov", "io", "co", "uk", "de", "fr", "info", "biz", "us", "ca", "au", "tv", "me",
        "ly",
        "ai", "dev", "app", "eu",
    ]
    private static let names: [Unicode.Scalar: String] = [
        ".": " dot ", "/": " slash ", "@": " at ", "-": " dash ", "_": " underscore ", ":": " colon ",
        "?": " question mark ",
        "=": " equals ", "&": " and ", "#": " hash ", "~": " tilde ", "+": " plus ", "%": " percent ",
    ]

    /// As in https://example.org/a and me@example.org: "example dot org slash a", "me at example dot org".
    func address(_ scan: TextScan) -> Found {
        guard let next = scan.next, next.isWordLetter || next.isDigit, scan.before.map(isBoundary) ?? true else {
            return nil
        }
        var after = scan
        while let scalar = after.next, !scalar.isSpace, !"<>()[]{}\"“”,;".unicodeScalars.contains(scalar) {
            after.place += 1
        }
        // What ends the sentence is none of it.
        while after.place > scan.place, let last = after[-1], ".!?:'’".unicodeScalars.contains(last) {
            after.place -= 1
        }
        let word = scan.text(scan.place..<after.place)
        guard isAddress(word) else { return nil }
        var begin = scan.place
        if let scheme = word.firstRange(of: "://") { begin += word[..<scheme.upperBound].unicodeScalars.count }
        var parts: [Part] = []
        var same = begin
        for place in begin..<after.place {
            guard let name = Self.names[scan[place - scan.place] ?? " "] else { continue }
            // At the end nothing follows it.
            if place + 1 == after.place {
                parts.append(.same(same..<place))
                return (after.place, parts)
            }
            parts += [.same(same..<place), .text(name)]
            same = place + 1
        }
        return (after.place, parts + [.same(same..<after.place)])
    }

    private func isBoundary(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isSpace || "<([{\"“".unicodeScalars.contains(scalar)
    }

    private func isAddress(_ word: String) -> Bool {
        if ["http://", "https://", "ftp://", "www."].contains(where: { word.lowercased().hasPrefix($0) }) {
            return word.utf8.count > 8
        }
        let parts = word.split(separator: "@", omittingEmptySubsequences: false)
        let host = (parts.last ?? "").prefix { $0 != "/" }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        func isLabel(_ label: Substring) -> Bool {
            !label.isEmpty
                && label.unicodeScalars.allSatisfy { $0.isWordLetter || $0.isDigit || $0 == "-" || $0 == "_" }
        }
        guard labels.count > 1, labels.allSatisfy(isLabel) else { return false }
        if parts.count == 2 {
            return !parts[0].isEmpty
                && parts[0].unicodeScalars.allSatisfy { $0.isOfWord || "+-.".unicodeScalars.contains($0) }
        }
        return parts.count == 1 && Self.domains.contains(labels.last!.lowercased())
    }

    /// Emoji are said by their names (Unicode's), without what only changes their looks.
    func emoji(_ scan: TextScan) -> Found {
        guard let next = scan.next, !next.isASCII else { return nil }
        if next == "\u{200D}" || (0xFE00...0xFE0F).contains(next.value) || next.properties.isEmojiModifier {
            return (scan.place + 1, [])
        }
        let isShown = next.properties.isEmojiPresentation || next.properties.isEmoji && scan[1] == "\u{FE0F}"
        guard isShown, symbols[next] == nil else { return nil }
        // The letters of a flag.
        if (0x1F1E6...0x1F1FF).contains(next.value), let letter = Unicode.Scalar(next.value - 0x1F1E6 + 65) {
            let isFirst = scan.before.map { !(0x1F1E6...0x1F1FF).contains($0.value) } ?? true
            return (scan.place + 1, [.text(isFirst ? " flag \(letter)" : " \(letter) ")])
        }
        guard let name = next.properties.name?.lowercased() else { return (scan.place + 1, [.text(" ")]) }
        return (scan.place + 1, [.text(" \(name.map { $0 == "-" ? " " : "\($0)" }.joined()) ")])
    }
}
