// SPDX-License-Identifier: Apache-2.0
import GraphFile
import TestSupport

@Suite struct SuggestionTests {
    /// Names that are counted when they are looked at.
    private struct Counted: Sequence, IteratorProtocol {
        final class Count {
            var value = 0
        }

        let names: [String]
        let looks: Count
        var place = 0

        mutating func next() -> String? {
            guard place < names.count else { return nil }
            looks.value += 1
            defer { place += 1 }
            return names[place]
        }
    }

    @Test("What is meant is found, also behind swapped letters, and of equals the first in the alphabet")
    func nearest() {
        var suggester = Suggester()
        #expect(suggester.nearest("toen", among: ["gain", "tone", "tune"]) == "tone")
        #expect(suggester.nearest("gian", among: ["again", "gain"]) == "gain")
        #expect(suggester.nearest("nodx", among: ["nodb", "noda"]) == "noda")
        #expect(suggester.nearest("reverb", among: ["tone", "gain"]) == nil)
    }

    @Test("All searches together look at so much and no more, whether names are alike or not", arguments: [3, 11])
    func bounded(length: Int) {
        let looks = Counted.Count()
        let names = (0..<1000).map { String(repeating: "a", count: length - 3) + "\($0 + 1000)".dropFirst() }
        var suggester = Suggester()
        for _ in 0..<20_000 {
            _ = suggester.hint("xxxxxxxxxxx", among: Counted(names: names, looks: looks), otherwise: "none")
        }
        #expect(looks.value >= 1000 && looks.value <= 4_000_000)
        // Later ones get the answer that there is without a search, even for a name that is there.
        #expect(suggester.hint(names[5], among: names, otherwise: "none") == "none")
    }
}
