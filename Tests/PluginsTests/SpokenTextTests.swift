// SPDX-License-Identifier: Apache-2.0
import SpokenText
import Testing

@Suite("Texts to be spoken") struct SpokenTextTests {
    /// What is said of an answer that comes in pieces of so many scalars.
    private func said(_ text: String, by size: Int) -> SpokenText {
        var markdown = Markdown(.answer)
        var result = SpokenText()
        let scalars = Array(text.unicodeScalars)
        for start in stride(from: 0, to: scalars.count, by: size) {
            var view = String.UnicodeScalarView()
            view.append(contentsOf: scalars[start..<min(start + size, scalars.count)])
            result.append(markdown.take(String(view)))
        }
        result.append(markdown.finish())
        return result
    }

    @Test(
        "An answer is said without its marks, the same in pieces of any size",
        arguments: [
            (
                "2 * 3 = 6, snake_case, 2*3*4, 2**3, x**2, a*b, x *= 2",
                "2 * 3 = 6, snake_case, 2*3*4, 2**3, x**2, a*b, x *= 2"
            ),
            ("__init__ _it_ ***both*** un*frigging*believable **Note**s", "init it both unfriggingbelievable Notes"),
            ("这是**重点**内容。", "这是重点内容。"), ("## Head ##\n#hashtag #5", "Head \n#hashtag #5"),
            ("Title\n=====\n> quote **b**\n---\n1. one", "Title\n quote b\n1. one"),
            ("![alt text](x.png) and [ref][1], text[^1].\n\n[1]: https://x.y\n", "alt text and ref, text.\n\n\n"),
            (
                "<https://www.foo.org/x>, www.bar.de/abc and http://localhost:8080/v1.",
                "foo.org, bar.de and localhost:8080."
            ),
            ("a <b>bold</b> x<br>y 3 < 5 a<b &amp; AT&T", "a bold x y 3 < 5 a<b & AT&T"),
            ("5* hotel, \\*not\\*, ~~gone~~ ~5, [laughs]", "5* hotel, *not*, gone ~5, [laughs]"),
            ("``x`y`` and `a_b`", "x`y and a_b"), ("~~~\ncode\n~~~\nDone.", "Done."), ("Hello!", "Hello!"),
        ])
    func answers(written: String, spoken: String) {
        for size in [1, 2, 3, 7, 1000] { #expect(said(written, by: size).text == spoken, "\(size)") }
        // Each scalar stands where it says.
        let scalars = Array(written.unicodeScalars)
        let result = said(written, by: 3)
        #expect(result.origins.compactMap { $0 } == result.origins.compactMap { $0 }.sorted())
        for (scalar, origin) in zip(result.scalars, result.origins) where scalar.properties.isAlphabetic {
            #expect(scalars[origin!] == scalar)
        }
    }

    @Test(
        "A text that is read keeps what is no mark, and a line that ends without one is followed by a pause",
        arguments: [
            ("**All done.** Next one.", "All done. Next one."), ("Apple\nBanana", "Apple.\nBanana"),
            ("Apple\r\nBanana\n\nPear", "Apple.\r\nBanana\n\nPear"), ("* milk\n* bread", "milk.\nbread"),
            ("# Plan\nText,\nmore", "Plan.\nText,\nmore"),
            ("2 * 3, snake_case | x > 3 <b> C:\\*", "2 * 3, snake_case | x > 3 <b> C:\\*"),
            ("[the page](https://e.c) at https://e.c/x", "the page at https://e.c/x"),
            ("```\na_b *c*\n```\nend", "a_b *c*\nend"),
            ("- 5 degrees", "- 5 degrees"),
            (
                "The quick brown fox jumps over the lazy dog and then\nit sleeps on, as it always does at this time of day",
                "The quick brown fox jumps over the lazy dog and then\nit sleeps on, as it always does at this time of day"
            ),
        ])
    func texts(written: String, spoken: String) {
        #expect(SpokenText(reading: written).text == spoken)
    }

    /// Where the sentences of a text end.
    private func sentences(_ text: String) -> [String] {
        let scalars = Array(text.unicodeScalars)
        var result: [String] = []
        var (start, place) = (0, 0)
        func add(_ end: Int) {
            var view = String.UnicodeScalarView()
            view.append(contentsOf: scalars[start..<end])
            result.append(String(view))
            (start, place) = (end, end)
        }
        while place < scalars.count {
            if Sentences.isMark(scalars[place]),
                case .at(let end) = Sentences.end(at: place, in: scalars, from: start, isWhole: true)
            {
                add(end)
            } else if place > start, Sentences.isBreak(at: place, in: scalars, from: start) {
                add(place)
            } else {
                place += 1
            }
        }
        if start < scalars.count { add(scalars.count) }
        return result
    }

    @Test(
        "Sentences end where they do in their script, and not behind short forms",
        arguments: [
            ["नमस्ते, मैं ठीक हूँ।", " आप कैसे हैं?"], ["هل أنت بخير؟", " نعم."], ["میں ٹھیک ہوں۔", " آپ؟"],
            ["Բարև ձեզ։", " Ինչպես"],
            ["ሰላም ነው።", " እንዴት"], ["မင်္ဂလာပါ။", "နေကောင်းလား။"], ["「元気です。」", "あなたは"], ["你好!", "我很好。"],
            ["She said \"no!\" and left.", " (Yes.)", " Ok."],
            ["Take room No. 5 on.", " No.", " I won't."], ["Apples vs. pears, approx. two.", " Dr. No is here."],
            ["Am 3. Mai kommt er.", " Im 19. Jahrhundert auch.", " Er ist 3.", " Du nicht."],
            ["Pi is 3.14.", " Now on."],
            ["1. Milk, e.g. this.", " So do I.", " In 1980.", " Then."], ["Well... okay."],
            ["วันนี้อากาศดีมากและฉันอยากไปตลาดกับเพื่อนของฉัน", " แล้วกินข้าว"],
        ])
    func ends(expected: [String]) {
        #expect(sentences(expected.joined()) == expected)
    }
}
