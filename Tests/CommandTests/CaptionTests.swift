// SPDX-License-Identifier: Apache-2.0
import TestSupport

@testable import Host
@testable import Film

/// Texts cut into captions.
@Suite struct CaptionTests {
    private static let long =
        "When the committee that had been appointed by the council in the spring finally presented its report on the state of the bridges, the roads and the waterways of the whole region, nobody in the crowded hall expected that the chairman would simply put down his papers, look at the clock and leave without a single word."

    private static let texts = [
        "Well-known e-mail, and/or don't: 3.14 is pi.", "It costs $5.50 (about €5) today.", "$5 is cheap. #1 is best.",
        "Call 555-1234 at 10:30 on 2024-01-02.", "Visit https://www.example.com/a?b=c today.", "¿Qué tal? ¡Muy bien!",
        "“Quoted,” she said. (Really.) — “Yes…” «Non!»", "« Oui », dit-il. L’été, c’est bien, n’est-ce pas ?",
        "Am 3. Mai kostet das 3,50 € im Straßencafé. Dr. Maier, z. B., zahlt nicht. Warum?", "a", "...",
        "\n x\t y  z\u{3000}w \n",
        "今天天气很好。我们去公园吧！", "a 👨‍👩‍👧 b e\u{301} c", long, long + " " + long, String(repeating: "x", count: 300),
        "See https://example.com/" + String(repeating: "long/", count: 9) + "page now, or "
            + String(repeating: "0123456789", count: 7) + " then.",
        String(repeating: "今日の天気はとてもいいですから、公園へ散歩に行きましょうと彼女は言いました。", count: 4),
        String(repeating: "我们明天上午九点在公园门口见面然后一起去吃饭", count: 6),
        "「オンライン会議」は３時です。" + String(repeating: "ーっ", count: 60), String(repeating: "วันนี้อากาศดีมาก", count: 12),
        String(repeating: "오늘 날씨가 아주 좋습니다 ", count: 20), String(repeating: "यह एक लंबा वाक्य है जो चलता रहता है ", count: 8),
        String(repeating: "Yes. No. ", count: 40), String(repeating: "word ", count: 700),
    ]

    private func said(_ cue: Cue) -> String { cue.lines.map { $0.map(\.text).joined() }.joined(separator: " ") }
    private func columns(_ line: String) -> Int {
        let letters = CaptionLetters(line)
        return letters.columns(letters.letters.indices)
    }
    private func bare(_ text: String) -> String { String(text.filter { !$0.isWhitespace }) }

    @Test(
        "Captions have all of a text, nothing besides, in two lines of 42 columns, for seven seconds at most, in a row",
        arguments: texts.indices, [0.5, 4, 40])
    func whole(_ index: Int, pace: Double) {
        let text = Self.texts[index]
        let length = Double(text.unicodeScalars.count) / 15 * pace
        var words: [CaptionText.Word] = []
        // As an engine tells them: pieces of numbers and words, in an order that is not always theirs.
        for (offset, scalar) in text.unicodeScalars.enumerated() where scalar.properties.isAlphabetic && offset % 3 == 0
        {
            words.append(.init(offset: offset, start: length * Double(offset) / Double(text.unicodeScalars.count) + 2))
            if offset % 9 == 0 { words.append(.init(offset: max(0, offset - 4), start: words.last!.start)) }
        }
        for known in [[], words] {
            var track = CueTrack()
            let cut = CaptionText(text, start: 2, end: 2 + length, words: known).cues
            let cues = cut.compactMap { track.add($0) } + [track.end()].compactMap { $0 }
            #expect(bare(cues.map(said).joined()) == bare(text))
            for cue in cues {
                let lines = cue.lines.map { columns($0.map(\.text).joined()) }
                let isOneWord = !said(cue).contains(" ")
                #expect(lines.count <= 2 && lines.allSatisfy { $0 <= (isOneWord ? 84 : 42) }, "\(said(cue))")
                #expect(cue.end > cue.start && cue.end - cue.start <= 7000 && cue.start >= 2000)
                #expect(cue.lines.allSatisfy { !bare($0.map(\.text).joined()).isEmpty })
            }
            for (one, next) in zip(cues, cues.dropFirst()) { #expect(one.end <= next.start) }
            // Where the text has no blank a caption has none.
            if !text.contains(where: \.isWhitespace) { #expect(cues.map(said).joined() == text) }
        }
    }

    @Test("Captions end at sentences, then at commas, and not in numbers, short forms or before closing marks")
    func places() {
        func cues(_ text: String) -> [String] {
            CaptionText(text, start: 0, end: Double(text.count) / 15).cues.map(said)
        }
        #expect(
            cues("Good morning to you. This is it, they said.") == ["Good morning to you.", "This is it, they said."])
        let long = cues(Self.long)
        #expect((4...5).contains(long.count) && long.allSatisfy { $0.count > 40 }, "\(long)")
        #expect(long[0] == "When the committee that had been appointed by the council in the spring finally")
        #expect(cues("Dr. Smith of St. Ives saw 3.5 of them on May 3. Then he left.").count == 1)
        #expect(cues("Das war am 3. Mai, sagt er.") == ["Das war am 3. Mai, sagt er."])
        #expect(cues("今天天气很好。我们去公园吧！") == ["今天天气很好。", "我们去公园吧！"])
        #expect(
            cues("L’été, c’est bien, n’est-ce pas ? Oui, bien sûr.") == [
                "L’été, c’est bien, n’est-ce pas ?", "Oui, bien sûr.",
            ])
        for cue in cues(String(repeating: "「オンライン会議」は、３時です", count: 12)) {
            #expect(!"」、すー".contains(cue.first!) && !"「".contains(cue.last!), "\(cue)")
        }
    }

    @Test("Times are those of the words where they are known, in proportion where not") func times() {
        var item = Transcription.Item(text: "One two, three four.", start: 1, end: 9)
        item.words = [("one", 1.0, 1.4), ("TWO", 1.5, 2.0), ("three", 4.0, 4.5), ("four", 8.5, 9.0)].map {
            .init(text: $0.0, start: $0.1, end: $0.2)
        }
        let cues = CaptionText(item, later: 10).cues
        #expect(cues.map { [$0.start, $0.end] } == [[11_000, 12_000], [14_000, 19_000]])
        #expect(cues.map(said) == ["One two,", "three four."])
        let even = CaptionText(String(repeating: "ten letter ", count: 20), start: 0, end: 22).cues
        #expect(even.first?.start == 0 && even.last?.end == 22_000)
        for cue in even { #expect(abs(cue.end - cue.start - 100 * said(cue).count) <= 200) }
        #expect(
            CaptionFormat.vtt.text(cues[0], number: 1)
                == "00:00:11.000 --> 00:00:12.000\nOne <00:00:11.500>two,\n\n")
    }

    @Test("Captions at the same time follow each other, each for a moment, and none is without a length") func track() {
        func cue(_ start: Int, _ end: Int) -> Cue { Cue(start: start, end: end, lines: [[.init(text: "x")]]) }
        func row(_ cues: [Cue]) -> [[Int]] {
            var track = CueTrack()
            return (cues.compactMap { track.add($0) } + [track.end()].compactMap { $0 }).map { [$0.start, $0.end] }
        }
        #expect(row([cue(0, 500), cue(500, 900)]) == [[0, 500], [500, 900]])
        #expect(row([cue(0, 5000), cue(3000, 8000)]) == [[0, 3000], [3000, 8000]])
        #expect(row([cue(0, 5000), cue(200, 4000)]) == [[0, 1000], [1000, 4000]])
        #expect(row([cue(5, 5), cue(5, 5), cue(3, 3)]) == [[5, 6], [6, 7], [7, 8]])
        #expect(row([cue(9000, 9500), cue(100, 200)]) == [[9000, 9500], [9500, 9600]])
    }

    @Test("What is marked up is shown without its elements, and its places are found") func markup() {
        let spoken =
            "<?xml version=\"1.0\"?><speak>It costs <emphasis>$5.50</emphasis> &amp; &#x20AC;1.<!-- <b> --><p>A</p><p>B</p> <![CDATA[<c>]]></speak>"
        let shown = ShownText(spoken)
        #expect(
            shown.text.split(whereSeparator: \.isWhitespace).joined(separator: " ") == "It costs $5.50 & €1. A B <c>")
        let offset = spoken.unicodeScalars.distance(
            from: spoken.startIndex, to: spoken.range(of: "5.50")!.lowerBound)
        #expect(shown.text.unicodeScalars.dropFirst(shown.offset(of: offset)).starts(with: "5.50 ".unicodeScalars))
        for plain in ["<3 is a heart", "a <b> c", "<speaker> x"] { #expect(ShownText(plain).text == plain) }
        #expect(ShownText("<b>x</b>", markup: "true").text == "x")
        #expect(ShownText("<speak>x</speak>", markup: "false").text == "<speak>x</speak>")
    }

    @Test("Captions of others are shown as our own: two lines of 42 letters, for 1 to 7 s, without their marks")
    func file() {
        let file = CaptionFile(
            text: """
                \u{FEFF}WEBVTT

                NOTE 00:01 --> no caption

                first
                00:01.000 --> 00:03.000 align:start line:0
                <v Ann>I &lt;3 <00:00:01.500>you</v>
                and {\\an8}yours &amp; mine

                2
                01:00:00,000 --> 01:00:20,000
                \(Self.long)

                00:00:30,000 --> 00:00:30,200
                Yes.

                00:00:30,300 --> 00:00:30,500
                No.

                00:00:40,000 --> 00:00:55,000
                It stays for long.

                """)
        let blocks = file.subRip.split(separator: "\n\n").map { $0.split(separator: "\n").map(String.init) }
        #expect(blocks[0] == ["1", "00:00:01,000 --> 00:00:03,000", "I <3 you", "and yours & mine"])
        #expect(blocks[1] == ["2", "00:00:30,000 --> 00:00:31,000", "Yes. No."])
        #expect(blocks[2] == ["3", "00:00:40,000 --> 00:00:47,000", "It stays for long."])
        #expect(blocks.dropFirst(3).allSatisfy { $0.count <= 4 && $0.dropFirst(2).allSatisfy { columns($0) <= 42 } })
        #expect(bare(blocks.dropFirst(3).flatMap { $0.dropFirst(2) }.joined()) == bare(Self.long))
        #expect(CaptionFile(text: "no captions").subRip.isEmpty)
    }
}
