// SPDX-License-Identifier: Apache-2.0
import Models
import NodeKit
import TestSupport

@testable import Pronunciation

/// How texts are said. What they sound like is what misaki says of them, by which the voices have learnt.
@Suite struct PronunciationTests {
    private static let isInstalled = TestModels.have("hibari")

    private func pronouncer(_ accent: Accent) throws -> Pronouncer {
        try Pronouncer(accent, from: TestModels.folder + "/hibari") { "[\($0)]".unicodeScalars.map { $0 } }
    }

    private func said(_ text: String, _ accent: Accent = .american) throws -> String {
        try text.split(separator: "\n").map { try String(pronouncer(accent).pronounce(String($0)).phonemes) }
            .joined(separator: "\n")
    }

    @Test("Numbers, dates, names and what is written in one way and said in two", .enabled(if: isInstalled))
    func sentences() throws {
        let american = try pronouncer(.american)
        let british = try pronouncer(.british)
        for (text, inAmerican, inBritish) in Self.sentences {
            #expect(String(american.pronounce(text).phonemes) == inAmerican, "\(text)")
            #expect(String(british.pronounce(text).phonemes) == inBritish, "\(text)")
        }
    }

    @Test(
        "What no lexicon knows is spelled by the caller, addresses by their parts, emoji by their names",
        .enabled(if: isInstalled))
    func unknown() throws {
        let pronouncer = try pronouncer(.american)
        for (text, written) in [
            ("See https://www.example.org/a-b.", "See www dot example dot org slash a dash b."),
            ("Write to me@example.org!", "Write to me at example dot org!"),
            ("Done 👍🏽, now 🇩🇪.", "Done thumbs up sign, now flag D E."),
            ("It was −5 to +7 at #3 = ok.", "It was -5 to plus 7 at number 3 equals ok."),
            ("5 μm or 1 µg, ΔE of α, not Ελλάδα", "5 micrometers or 1 microgram, delta E of alpha, not Ελλάδα"),
            ("a 10:30:455 b 25:10 c 9/2 d 13/40/2020", "a ten thirty:455 b 25:10 c September second d 13/40/2020"),
        ] { #expect(pronouncer.written(text) == written) }
        #expect(try said("Zyzzyx's 你好") == "[Zyzzyx's] [你好]")
        #expect(try said("\u{0}\u{7} \u{FFFD}").unicodeScalars.allSatisfy { $0.isASCII })
        #expect(try said("").isEmpty && said(" \t ").isEmpty)
    }

    @Test("The nets spell unknown words", .enabled(if: TestModels.have("hibari", "onnxruntime"))) func nets() throws {
        let runtime = try OnnxRuntime.load(from: TestModels.folder)
        for (name, words) in [
            ("oov", ["juliacomputing": "ʤˈulɪˌækəmpjˈuTɪŋ", "Mäkisara": "mˌɛkɪsˈɑɹɹə", "zlib": "zlˈɪb", "你好": nil]),
            ("oov_gb", ["juliacomputing": "ʤˈuːlɪˌakəmpjˈuːtɪŋ", "Mäkisara": "mˌɛkɪsˈɑːɹə"]),
        ] {
            let net = try SpellingNet(TestModels.folder + "/hibari/" + name, runtime)
            for (word, sounds) in words { #expect(net.say(word).map { String($0) } == sounds, "\(word)") }
        }
    }

    @Test("Each word knows what it stands for in the text", .enabled(if: isInstalled)) func places() throws {
        let text = "Dr. Smith paid $3.50 at 9:30 pm, on 10/12/2019 — don't ask."
        let said = try pronouncer(.american).pronounce(text)
        let scalars = Array(text.unicodeScalars)
        #expect(
            said.words.map { String(scalars[$0.text]) }
                == ["Dr.", "Smith", "paid", "$3.50", "at", "9:30 pm", "on", "10/12/2019", "don't", "ask"])
        #expect(zip(said.words, said.words.dropFirst()).allSatisfy { $0.phonemes.upperBound <= $1.phonemes.lowerBound })
        #expect(said.words.map(\.text.lowerBound) == said.words.map(\.text.lowerBound).sorted())
    }

    @Test("Any text is said, whatever is in it", .enabled(if: isInstalled)) func anything() throws {
        let pronouncer = try pronouncer(.american)
        var random = TestRandom(seed: 5)
        let pieces = [
            "a", "the", "1", "12", ",", ".", "'", "-", " ", "$", "№", "é", "ß", "你", "\u{301}", "👩‍👧", "9:30", "10/12",
            "(", "\"",
            "\n", "°C", "#", "@", "x.com", "I", "IV", "st", "’", "…", "km", "/", "%", "\u{0}", "İ", "ǅ", "²", "½",
        ]
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 1...12, using: &random)).map { _ in pieces.randomElement(using: &random)! }
                .joined()
            let said = pronouncer.pronounce(text)
            let count = text.unicodeScalars.count
            #expect(
                said.words.allSatisfy { $0.text.upperBound <= count && !$0.text.isEmpty }, "\(text.debugDescription)")
        }
    }

    @Test("Numbers in words")
    func numbers() {
        for (digits, cardinal, ordinal) in [
            ("0", "zero", "zeroth"), ("21", "twenty-one", "twenty-first"), ("100", "one hundred", "one hundredth"),
            ("112", "one hundred and twelve", "one hundred and twelfth"),
            ("1001", "one thousand and one", "one thousand and first"), ("1000000", "one million", "one millionth"),
            ("30", "thirty", "thirtieth"), ("0012", "twelve", "twelfth"),
        ] {
            #expect(NumberWords.cardinal(digits) == cardinal)
            #expect(NumberWords.ordinal(digits) == ordinal)
        }
        #expect(NumberWords.year("1905") == "nineteen oh-five" && NumberWords.year("1900") == "nineteen hundred")
        #expect(NumberWords.year("2005") == "two thousand and five" && NumberWords.year("2026") == "twenty twenty-six")
        #expect(NumberWords.decimal("3.140") == "three point one four" && NumberWords.decimal("5.0") == "five")
        let endless = String(repeating: "7", count: 60)
        #expect(NumberWords.cardinal(endless).hasPrefix("seven seven seven"))
        let romans = ["IV": 4, "XIV": 14, "XC": 90, "CCCXCIX": 399, "IIII": nil, "VX": nil, "D": nil, "": nil]
        for (letters, value) in romans { #expect(NumberWords.roman(letters.unicodeScalars) == value, "\(letters)") }
    }

    @Test("Stress is moved, made weaker and taken away") func stress() {
        let said = "ɹˈɛkəɹd".scalars
        #expect(String(said.stressed(-2)) == "ɹɛkəɹd" && String(said.stressed(-1)) == "ɹˌɛkəɹd")
        #expect(String(said.stressed(0)) == "ɹˌɛkəɹd" && said.stressed(1) == said && said.stressed(nil) == said)
        let none = "ðə".scalars
        #expect(String(none.stressed(0.5)) == "ðˌə" && String(none.stressed(2)) == "ðˈə" && none.stressed(-0.5) == none)
        #expect("tst".scalars.stressed(2) == "tst".scalars)
    }

    @Test("A table finds each of its entries, and is refused where it is broken") func tables() throws {
        let text = #"{"a": "x", "b\"c": [1, {"d": "}"}], "é": {"N": "1", "V": null}, "e": -1.5}"#
        let table = try JSONTable(Array(text.utf8), path: "t")
        #expect(table["a"].flatMap(table.string) == "x" && table["b"] == nil && table["N"] == nil && table[""] == nil)
        var keys: [String] = []
        table.entries(at: try #require(table["é"])) { key, _ in
            keys.append(String(decoding: table.text[key], as: UTF8.self))
        }
        #expect(keys == ["N", "V"])
        let list = try JSONTable(Array(#"["p", "q"]"#.utf8), path: "t")
        #expect(list["p"] != nil && list["q"] != nil && list["r"] == nil)
        #expect(try JSONTable(Array("{}".utf8), path: "t")["a"] == nil)
        for broken in ["", "x", "{", #"{"a"}"#, #"{"a": "#, #"{"a": "x"#, #"{"a": {"b"}"#, "[1]", #"["a" "b"]"#] {
            let error = #expect(throws: NodeError.self) { try JSONTable(Array(broken.utf8), path: "some.json") }
            #expect(error?.message.contains("some.json") == true, "\(broken)")
        }
    }

    private static let sentences = [
        (
            "I read a book that I will read again; you have read it.",
            "ˌI ɹˈɛd ɐ bˈʊk ðæt ˌI wɪl ɹˈid əɡˈɛn; ju hæv ɹˈɛd ɪt.",
            "ˌI ɹˈɛd ɐ bˈʊk ðat ˌI wɪl ɹˈiːd əɡˈɛn; juː hav ɹˈɛd ɪt."
        ),
        (
            "We live near the live wire of a record shop that records the record.",
            "wˌi lˈɪv nˌɪɹ ðə lˈIv wˈIəɹ ʌv ɐ ɹˈɛkəɹd ʃˈɑp ðæt ɹəkˈɔɹdz ðə ɹˈɛkəɹd.",
            "wˌiː lˈɪv nˌɪə ðə lˈIv wˈIə ɒv ɐ ɹˈɛkɔːd ʃˈɒp ðat ɹɪkˈɔːdz ðə ɹˈɛkɔːd."
        ),
        (
            "The apple and the pear go to Anna and to Bob.",
            "ði ˈæpᵊl ænd ðə pˈɛɹ ɡˌO tʊ ˈɑnə ænd tə bˈɑb.",
            "ði ˈapᵊl and ðə pˈɛː ɡˌQ tʊ ˈanə and tə bˈɒb."
        ),
        (
            "He used to use the used car.",
            "hˌi jˈust tə jˈuz ðə jˈuzd kˈɑɹ.",
            "hˌiː jˈuːst tə jˈuːz ðə jˈuːzd kˈɑː."
        ),
        (
            "The U.S. and the UK met at 9:30 p.m. in Washington, D.C.",
            "ðə jˌuˈɛs ænd ðə jˌukˈA mˈɛt æt nˈIn θˈɜɹTi pˌiˈɛm ɪn wˈɔʃɪŋtən, dˌisˈi",
            "ðə jˌuːˈɛs and ðə jˌuːkˈA mˈɛt at nˈIn θˈɜːti pˌiːˈɛm ɪn wˈɒʃɪŋtᵊn, dˌiːsˈiː"
        ),
        (
            "On 10/12/2019 at 17:05 it was -5°C and 3 km away.",
            "ˌɔn ɑktˈObəɹ twˈɛlfθ, twˈɛnti nˌIntˈin æt sˌɛvəntˈin ˈO fˈIv ɪt wʌz mˈInəs fˈIv dəɡɹˈiz sˈɛlsiəs ænd θɹˈi kəlˈɑməTəɹz əwˈA.",
            "ˌɒn dɪsˈɛmbə tˈɛnθ, twˈɛnti nˌIntˈiːn at sˌɛvntˈiːn ˈQ fˈIv ɪt wɒz mˈInəs fˈIv dɪɡɹˈiːz sˈɛlsɪəs and θɹˈiː kˈɪləmˌiːtəz əwˈA."
        ),
        (
            "She paid $3.50 for it, he £20 and they $3.2 billion.",
            "ʃˌi pˈAd θɹˈi dˈɑləɹz ænd fˈɪfti sˈɛnts fɔɹ ɪt, hi twˈɛnti pˈWndz ænd ðA θɹˈi pYnt tˈu bˈɪljən dˈɑləɹz.",
            "ʃˌiː pˈAd θɹˈiː dˈɒləz and fˈɪfti sˈɛnts fɔː ɪt, hiː twˈɛnti pˈWndz and ðA θɹˈiː pYnt tˈuː bˈɪljən dˈɒləz."
        ),
        (
            "Henry VIII read Chapter IV on Jan. 5th, 1999.",
            "hˈɛnɹi ði ˈAθ ɹˈɛd ʧˈæptəɹ fˈɔɹ ˌɔn ʤˈænjəwˌɛɹi fˈɪfθ, nˌIntˈin nˈIndi nˈIn.",
            "hˈɛnɹi ði ˈAtθ ɹˈɛd ʧˈaptə fˈɔː ˌɒn ʤˈanjʊəɹi fˈɪfθ, nˌIntˈiːn nˈInti nˈIn."
        ),
        (
            "Call 555-1234 or read pages 2-3, about 1/2 of it.",
            "kˈɔl fˈIv fˈIv fˈIv, wˈʌn tˈu θɹˈi fˈɔɹ ɔɹ ɹˈɛd pˈAʤᵻz tˈu tə θɹˈi, əbˈWt wˈʌn hˈæf ʌv ɪt.",
            "kˈɔːl fˈIv fˈIv fˈIv, wˈʌn tˈuː θɹˈiː fˈɔː ɔː ɹˈɛd pˈAʤɪz tˈuː tə θɹˈiː, əbˈWt wˈʌn hˈɑːf ɒv ɪt."
        ),
        (
            "Dr. Smith of 12 Main St. has approx. 1,250 cats.",
            "dˈɑktəɹ smˈɪθ ʌv twˈɛlv mˈAn stɹˈit hæz əpɹˈɑksəmətli wˈʌn θˈWzᵊnd tˈu hˈʌndɹəd fˈɪfti kˈæts.",
            "dˈɒktə smˈɪθ ɒv twˈɛlv mˈAn stɹˈiːt haz əpɹˈɒksɪmətli wˈʌn θˈWzᵊnd tˈuː hˈʌndɹəd fˈɪfti kˈats."
        ),
        (
            "The 747 flew at 1,000,000 ft. in the 1990s.",
            "ðə sˈɛvən hˈʌndɹəd fˈɔɹTi sˈɛvən flˈu æt wˈʌn mˈɪljᵊn fˈit. ɪn ðə nˌIntˈin nˈIndiz.",
            "ðə sˈɛvᵊn hˈʌndɹəd fˈɔːti sˈɛvᵊn flˈuː at wˈʌn mˈɪljən fˈiːt. ɪn ðə nˌIntˈiːn nˈIntiz."
        ),
        (
            "Running dogs wanted the watches that Jones's wives buried.",
            "ɹˈʌnɪŋ dˈɔɡz wˈɑntᵻd ðə wˈɑʧᵻz ðæt ʤˈOnzᵻz wˈIvz bˈɛɹid.",
            "ɹˈʌnɪŋ dˈɒɡz wˈɒntɪd ðə wˈɒʧɪz ðat ʤˈQnzɪz wˈIvz bˈɛɹɪd."
        ),
        (
            "NASA and IBM's CPUs cost 99% less than the HTTP server.",
            "nˈæsə ænd ˌIbˌiˈɛmz sˌipˌijˈuz kˈɔst nˈIndi nˈIn pəɹsˈɛnt lˈɛs ðən ði ˌAʧtˌitˌipˈi sˈɜɹvəɹ.",
            "nˈasə and ˌIbˌiːˈɛmz sˌiːpˌiːjˈuːz kˈɒst nˈInti nˈIn pəsˈɛnt lˈɛs ðən ði ˌAʧtˌiːtˌiːpˈiː sˈɜːvə."
        ),
    ]
}
