// SPDX-License-Identifier: Apache-2.0
import Foundation
import Graph
import Host
import NodeKit
import TestSupport

/// How a text is spoken: voice, markup, rate, volume.
@Suite(.serialized) struct VoiceTests {
    private func harness(_ settings: [String: SettingValue] = [:], rate: Double = 48000) throws -> NodeHarness {
        try NodeHarness(pluginType("tts"), byEspeak(settings), rate: rate, offline: true)
    }

    /// What is heard of a text, and the words that are told.
    private func said(
        _ text: String, _ arguments: [String: SettingValue] = [:], by node: NodeHarness
    ) throws -> (samples: [Float], words: [String]) {
        let samples = try spoken(text, arguments, by: node)
        return (samples, node.capture.events("speech.word").compactMap { $0.string("text") })
    }

    @Test("Language tags that espeak-ng resolves are voices, in any spelling")
    func languageTags() throws {
        let tags = [
            "en-US", "en-GB", "en-AU", "en-CA", "en-IN", "de-DE", "de-AT", "de-CH", "fr-FR", "fr-CA", "fr-BE", "es-ES",
            "es-MX", "es-419", "pt-BR", "pt-PT", "zh-CN", "zh-TW", "zh-Hans-CN", "it-IT", "nl-NL", "pl-PL", "ru-RU",
            "ja-JP", "ko-KR", "sv-SE", "da-DK", "nb-NO", "fi-FI", "tr-TR", "el-GR", "cs-CZ", "hu-HU", "ro-RO", "uk-UA",
            "ar-SA", "hi-IN", "vi-VN", "EN-gb", "pt_BR", "de_DE.UTF-8", "zh", "no", "German", "en-GB+f3", "fr-CA+f2",
        ]
        for tag in tags {
            #expect(throws: Never.self, "\(tag)") {
                _ = try NodeInstance(
                    type: pluginType("tts"), name: "n", settings: Settings(byEspeak(["language": .string(tag)])))
            }
        }
    }

    @Test("Who speaks for a region without a voice is told; a voice of just this region is not")
    func fallback() throws {
        func logs(_ voice: String) throws -> [String] {
            try harness(["voice": .string(voice)]).capture.logs.map(\.text)
        }
        #expect(try logs("de-AT") == ["espeak-ng has no voice for \"de-AT\" itself; German speaks"])
        #expect(try logs("fr-CA").first?.hasSuffix("French (France) speaks") == true)
        for exact in ["en-US", "en-GB", "pt-BR", "de", "es-MX", "zh"] { #expect(try logs(exact).isEmpty, "\(exact)") }
        // It is that voice: what differs between two speeches of one voice is little.
        let node = try harness()
        let german = try said("Entschuldigung, wie heißt die Straße", ["voice": .string("de")], by: node).samples
            .count
        let austrian = try said("Entschuldigung, wie heißt die Straße", ["voice": .string("de-AT")], by: node).samples
            .count
        let english = try said("Entschuldigung, wie heißt die Straße", ["voice": .string("en-GB")], by: node).samples
            .count
        #expect(abs(german - austrian) < 1000 && abs(german - english) > 2000, "\(german) \(austrian) \(english)")
    }

    @Test(
        "A voice that is none is refused with what may be meant",
        arguments: [
            ("klingon-opera", "give a language as in en, de-AT or pt-BR, or a voice that `voicegraph voices` lists"),
            ("germn", "did you mean \"German\"?"), ("e-GB", "did you mean \"en-gb\"?"),
            ("en-us+f33", "did you mean \"f3\"?"),
            ("", "give a language as in en, de-AT or pt-BR, or a voice that `voicegraph voices` lists"),
        ])
    func refused(_ voice: String, _ hint: String) throws {
        let error = #expect(throws: NodeError.self) { try harness(["voice": .string(voice)]) }
        #expect(error?.key == "voice")
        #expect(error?.hint.hasPrefix(hint.replacing("?", with: "")) == true, "\(error?.hint ?? "")")
    }

    @Test("SSML is interpreted, and what merely holds a < is read as it stands", .timeLimit(.minutes(5)))
    func markup() throws {
        let node = try harness()
        let marked = "<speak>one <break time=\"1500ms\"/> two &amp; <emphasis>three</emphasis></speak>"
        let plain = try said("one two and three", by: node)
        let heard = try said(marked, by: node)
        #expect(heard.words.filter { $0 != "and" } == ["one", "two", "three"])
        #expect(heard.samples.count > plain.samples.count + 48000)
        // Words are told by their places in the text as it was given.
        let offsets = node.capture.events("speech.word").compactMap { $0.integer("offset") }
        #expect(offsets.first == 7 && offsets.last == marked.distance(to: "three"))
        let declared = try said("  <?xml version=\"1.0\"?>\n<speak version=\"1.1\">one</speak>", by: node)
        #expect(declared.words == ["one"])
        for text in ["one <b> two", "a < b and c > d", "<speaker> one", "one <speak> two"] {
            let read = try said(text, by: node)
            let aloud = try said(text, ["ssml": .bool(false)], by: node)
            #expect(read.words == aloud.words && abs(read.samples.count - aloud.samples.count) < 2400, "\(text)")
        }
        #expect(try said(marked, ["ssml": .bool(false)], by: node).words.contains("emphasis"))
        #expect(try said("one <break time=\"1s\"/> two", ["ssml": .bool(true)], by: node).words == ["one", "two"])
        // A file that a text names is left alone.
        let scratch = try Scratch()
        let loud = Signal.sine(440, rate: 22050, frames: 66150)
        try SoundFile(rate: 22050, samples: [loud]).write(scratch.file("a.wav"))
        let sound =
            "<speak>one <AUDIO src=\"\(scratch.file("a.wav"))\"/><audio src=\"\(scratch.file("a.wav"))\"/></speak>"
        #expect(try said(sound, by: node).samples.count < 48000)
        try node.set(setting: "ssml", to: .string("false"))
        #expect(try said(marked, by: node).words.contains("speak"))
        let error = #expect(throws: NodeError.self) { try harness(["ssml": .integer(1)]) }
        #expect(error?.key == "ssml")
    }

    @Test("The rate does what it says, or is refused", .timeLimit(.minutes(5))) func rate() throws {
        let node = try harness()
        let text = "the quick brown fox jumps over the lazy dog while seven wise men look at the moon"
        func seconds(_ rate: Double) throws -> Double {
            try Double(said(text, ["rate": .number(rate)], by: node).samples.count) / 48000
        }
        let normal = try seconds(175)
        for rate in [80, 120, 250, 350, 450] as [Double] {
            let share = try seconds(rate) * rate / (normal * 175)
            #expect((0.85...1.15).contains(share), "\(rate): \(share)")
        }
        #expect(try abs(seconds(2) - seconds(350)) < 0.05)
        #expect(try abs(seconds(0.5) - seconds(87.5)) < 0.05)
        for rate in [0.25, 0.45, 2.6, 3, 20, 79, 451] {
            let error = #expect(throws: NodeError.self) { try harness(["rate": .number(rate)]) }
            #expect(error?.key == "rate")
        }
    }

    @Test(
        "A volume beyond full scale is limited, which is told and counted", .timeLimit(.minutes(5)),
        arguments: [22050.0, 48000])
    func volume(_ rate: Double) throws {
        let node = try harness(rate: rate)
        let text = "The quick brown fox jumps over the lazy dog."
        let own = try said(text, by: node).samples
        #expect(node.capture.logs.isEmpty && node.capture.counts.isEmpty)
        let loud = try said(text, ["volume": .integer(200)], by: node).samples
        #expect(abs(loud.count - own.count) < Int(rate) / 20)
        #expect(Signal.peak(loud) <= 32767.0 / 32768)
        // Louder by 6 dB but for its peaks, and not cut off: no two samples in a row at full scale.
        let gain = Signal.decibels(Signal.rms(loud) / Signal.rms(own))
        #expect((4...6.1).contains(gain), "\(gain)")
        #expect(!zip(loud, loud.dropFirst()).contains { abs($0) > 0.9999 && abs($1) > 0.9999 })
        let log = try #require(node.capture.logs.first?.text)
        #expect(log.hasPrefix("the voice at volume 200 was beyond full scale, by up to "))
        #expect(log.hasSuffix(" dB; it was limited"))
        #expect(node.capture.counts["limited"] ?? 0 > 0)
        _ = try said(text, ["volume": .integer(200)], by: node)
        #expect(node.capture.logs.isEmpty)
    }
}

extension String {
    /// Unicode scalars before a part.
    fileprivate func distance(to part: String) -> Int? {
        range(of: part).map { unicodeScalars.distance(from: startIndex, to: $0.lowerBound) }
    }
}
