// SPDX-License-Identifier: Apache-2.0
import Glibc
import JSON
import Models
import NodeKit

/// A wake word with a model of its own, as microWakeWord trains them (K. Ahrendt, github.com/kahrendt/microWakeWord): a file in
/// JSON beside the model says which phrase it is and from when on it was heard.
struct MicroWord: Equatable, Sendable {
    /// The name of the model that has some, and the library for all.
    static let model = "micro-wakeword"
    /// The folder beside it for those of one's own.
    static let own = "wake-words"

    /// In small letters.
    var phrase: String
    var path: String
    /// Mean of the last `count` probabilities from which on it was heard.
    var cutoff: Double
    var count: Int

    /// The library that computes them. [control]
    static func library(in models: String) throws(NodeError) -> TFLite {
        try TFLite.load(ModelFolder(model, in: models).file("libtensorflowlite_c.so"))
    }

    /// Those that are installed, and those of one's own, which go before. What is none goes to `warn`. [control]
    static func all(in models: String, warn: (String) -> Void) -> [MicroWord] {
        guard ModelFolder.isInstalled(model, in: models) else { return [] }
        return [own, model].flatMap { name in
            let folder = models + "/" + name
            return names(in: folder).filter { $0.hasSuffix(".json") && $0 != "manifest.json" }.sorted().compactMap {
                file in
                let word = MicroWord(file: file, in: folder)
                if word == nil, name == own { warn("\(folder)/\(file) describes no wake word") }
                return word
            }
        }
    }

    private init?(file: String, in folder: String) {
        guard let bytes = readFile("\(folder)/\(file)"), bytes.count < 1 << 16, let json = try? JSON(bytes),
            let phrase = json["wake_word"]?.string, let model = json["model"]?.string, !model.contains("/"),
            let cutoff = json["micro"]?["probability_cutoff"]?.double,
            let count = json["micro"]?["sliding_window_size"]?.integer, (0...1).contains(cutoff),
            (1...100).contains(count)
        else { return nil }
        self.phrase = Self.plain(phrase)
        path = "\(folder)/\(model)"
        (self.cutoff, self.count) = (cutoff, count)
    }

    /// A phrase in small letters, with one blank between words.
    static func plain(_ phrase: String) -> String {
        phrase.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

/// Hears wake words by small models.
final class MicroWake: WakeDetector {
    private final class Word {
        let word: MicroWord
        let model: TFLiteModel
        var features: [Float] = []
        var probabilities: [Double] = []

        init(_ word: MicroWord, _ library: TFLite) throws(NodeError) {
            self.word = word
            model = try TFLiteModel(library, path: word.path)
            guard model.inputs > 0, model.inputs % MicroFeatures.bands == 0 else {
                throw NodeError("\(word.path) is no model of a wake word: it takes \(model.inputs) numbers")
            }
        }

        func reset() throws(NodeError) {
            try model.reset()
            features = []
            probabilities = []
        }

        /// Takes the features of 10 ms; whether the phrase was heard.
        func take(_ more: [Float]) throws(NodeError) -> Bool {
            features += more
            if features.count < model.inputs { return false }
            probabilities.append(Double(try model.run(features).first ?? 0))
            features = []
            if probabilities.count > word.count { probabilities.removeFirst() }
            guard probabilities.count == word.count else { return false }
            return probabilities.reduce(0, +) / Double(word.count) > word.cutoff
        }
    }

    private let features: MicroFeatures
    private let words: [Word]
    private var heard = 0

    init(_ words: [MicroWord], _ library: TFLite) throws(NodeError) {
        features = try MicroFeatures()
        var all: [Word] = []
        for word in words { all.append(try Word(word, library)) }
        self.words = all
    }

    func begin() throws(NodeError) {
        heard = 0
        features.reset()
        for word in words { try word.reset() }
    }

    func take(_ samples: ArraySlice<Float>) throws(NodeError) -> [HeardPhrase] {
        heard += samples.count
        var result: [HeardPhrase] = []
        try features.take(samples) { (features) throws(NodeError) in
            for word in words where try word.take(features) {
                result.append(HeardPhrase(phrase: word.word.phrase, start: nil, end: Double(heard) / speechRate))
                // The same would be heard in what comes next.
                try word.reset()
            }
        }
        return result
    }
}
