// SPDX-License-Identifier: Apache-2.0
import CSpeech
import Glibc
import NodeKit

/// Where a language's parts for PocketSphinx are.
struct PocketSphinxModel: Sendable {
    /// Where Debian's packages put their models.
    static let installed = "/usr/share/pocketsphinx/model"

    /// The folder with the acoustic model, and the files with words and their pronunciations.
    let acoustic, dictionary: String
    /// The language model; nil: there is none, so that only phrases and grammars can be searched for.
    let language: String?

    /// Finds the model of a language, or in the folder that the setting `model` names. [control]
    init(_ settings: Settings, host: NodeHost) throws(NodeError) {
        let name = try settings[RecognizerChoice.language]
        let tag = name.lowercased().replacing("_", with: "-")
        let given = try settings[RecognizerChoice.model].map(host.resolve)
        let folder = given ?? "\(Self.installed)/\(tag == "en" ? "en-us" : tag)"
        let files = listing(folder)
        let acoustic = ([folder] + files.map { "\(folder)/\($0)" }).first { access("\($0)/mdef", R_OK) == 0 }
        let dictionary = files.first { $0.hasSuffix(".dict") || $0.hasSuffix(".dic") }
        guard let acoustic, let dictionary else {
            if given != nil {
                throw NodeError(
                    "\(folder) has no model of PocketSphinx",
                    hint: "it needs a folder with `mdef`, and a .dict file", key: RecognizerChoice.model.name)
            }
            throw NodeError(
                "PocketSphinx has no model for \(name)",
                hint: tag.hasPrefix("en")
                    ? PocketSphinxLibrary.cure
                    : "give `model`, a folder with one; or engine = \"sherpa\", which takes models of most languages",
                key: RecognizerChoice.language.name)
        }
        self.acoustic = acoustic
        self.dictionary = "\(folder)/\(dictionary)"
        self.language = files.first { $0.hasSuffix(".lm.bin") && !$0.contains("phone") || $0.hasSuffix(".lm") }
            .map { "\(folder)/\($0)" }
    }

    /// As PocketSphinx takes them.
    var options: [String] { ["-hmm", acoustic, "-dict", dictionary] }

    /// Throws unless the dictionary has every word. [control]
    func require(_ words: [String], key: String) throws(NodeError) {
        guard let bytes = readFile(dictionary) else {
            throw NodeError("cannot read \(dictionary): \(String(cString: strerror(errno)))")
        }
        // A line for each word: the word, a space, how it is spoken.
        let lines = [CChar(10)] + bytes.map { CChar(bitPattern: $0) } + [0]
        for word in words {
            if strstr(lines, "\n\(word) ") == nil {
                throw NodeError(
                    "nobody has told PocketSphinx how \"\(word)\" is spoken",
                    hint: "use words of \(dictionary)", key: key)
            }
        }
    }
}

/// What PocketSphinx searches for.
enum PocketSphinxSearch: Sendable {
    case language(String)
    case grammar(String)
    case phrases([String], threshold: Double)

    static let keyphrases = Key.texts("keyphrases", "pocketsphinx hears only these phrases")
    static let threshold = Key.number(
        "threshold", "how unlike a keyphrase may be", default: 1e-20, in: 1e-50...1)
    static let grammarFile = Key.path("grammar", "a JSGF file; pocketsphinx hears only what it allows")

    /// Whether settings ask for phrases or a grammar.
    static func isAsked(by settings: Settings) throws(NodeError) -> Bool {
        try !settings[keyphrases].isEmpty || settings.gives(grammarFile)
    }

    /// Of a node that transcribes: phrases, a grammar, or what the model's language has. [control]
    init(_ settings: Settings, model: PocketSphinxModel, host: NodeHost) throws(NodeError) {
        let grammar = try settings[Self.grammarFile]
        if try !settings[Self.keyphrases].isEmpty {
            guard grammar == nil else {
                throw NodeError("keyphrases and a grammar exclude each other", key: Self.grammarFile.name)
            }
            try self.init(settings[Self.keyphrases], of: Self.keyphrases, settings, model: model)
        } else if let grammar {
            self = .grammar(host.resolve(grammar))
        } else if let language = model.language {
            self = .language(language)
        } else {
            throw NodeError(
                "the model has no language model", hint: "give keyphrases or a grammar",
                key: RecognizerChoice.model.name)
        }
    }

    /// Phrases that a setting gives, of words that the model knows. [control]
    init(
        _ given: [String], of key: Key<[String]>, _ settings: Settings, model: PocketSphinxModel
    ) throws(NodeError) {
        let phrases = given.map {
            $0.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
        if phrases.isEmpty || phrases.contains("") { throw NodeError("a phrase is empty", key: key.name) }
        try model.require(phrases.flatMap { $0.split(separator: " ").map(String.init) }, key: key.name)
        self = .phrases(phrases, threshold: try settings[Self.threshold])
    }

    /// Makes a decoder that searches for it. [worker]
    func decoder(_ model: PocketSphinxModel) throws(NodeError) -> PocketSphinx {
        switch self {
        case .language(let path): return try PocketSphinx(model.options + ["-lm", path])
        case .grammar(let path):
            do throws(NodeError) { return try PocketSphinx(model.options + ["-jsgf", path]) } catch {
                throw NodeError(
                    "\(path): \(error.message)", hint: "it must be a JSGF grammar", key: Self.grammarFile.name)
            }
        case .phrases(let phrases, let threshold):
            // The library reads such a list from a file only.
            let list = Array(phrases.map { "\($0) /\(threshold)/\n" }.joined().utf8)
            let file = vg_memory_file(list, list.count)
            if file < 0 { throw NodeError("no memory for \(phrases.count) phrases") }
            defer { close(file) }
            return try PocketSphinx(model.options + ["-kws", "/proc/self/fd/\(file)"])
        }
    }
}

/// PocketSphinx (D. Huggins-Daines and others, 2006): hidden Markov models, and a language model, a grammar or phrases. It
/// works while audio comes; but what a voice and its microphone have in common it knows only when it has heard some seconds,
/// and understands half as well before. So the first segments are looked at again as a whole, as are those for which nobody
/// waits.
final class PocketSphinxRecognizer: Recognizer {
    private let decoder: PocketSphinx
    /// Whether it knows how sure it is: of phrases and grammars there is nothing to compare with.
    private let hasConfidence: Bool
    private var isLive = true
    /// The segment, if it will be looked at as a whole.
    private var samples: [Float] = []
    /// Samples of the segments before it.
    private var heard = 0
    /// Samples after which it knows the voice.
    private static let enough = 8 * 16000

    /// Reads the model. [worker]
    init(_ model: PocketSphinxModel, _ search: PocketSphinxSearch) throws(NodeError) {
        decoder = try search.decoder(model)
        if case .language = search { hasConfidence = true } else { hasConfidence = false }
    }

    func begin(isLive: Bool) throws(NodeError) {
        self.isLive = isLive
        samples = []
        if isLive { try decoder.begin() }
    }

    func feed(_ samples: ArraySlice<Float>) throws(NodeError) {
        if !isLive || heard < Self.enough { self.samples += samples }
        if isLive { try decoder.take(samples) }
    }

    func partial(isWanted: () -> Bool) throws(NodeError) -> String? { isLive ? decoder.text ?? "" : nil }
    func cancel() { decoder.end() }

    func finish(spoken: Int) throws(NodeError) -> Recognition {
        heard += samples.count
        if !samples.isEmpty {
            try decoder.begin()
            try decoder.take(samples[...], isWhole: true)
            samples = []
        }
        decoder.end()
        let words = decoder.segments.compactMap { segment -> Recognition.Word? in
            guard let text = Self.word(segment.text) else { return nil }
            return Recognition.Word(
                text: text, start: Double(segment.first) / PocketSphinx.frameRate,
                end: Double(segment.last + 1) / PocketSphinx.frameRate,
                confidence: hasConfidence ? segment.confidence : nil)
        }
        let sum = words.reduce(0) { $0 + ($1.confidence ?? 0) }
        return Recognition(
            text: decoder.text ?? "", words: words,
            confidence: hasConfidence && !words.isEmpty ? sum / Double(words.count) : nil)
    }

    /// A word without the number of its pronunciation; nil: silence or noise.
    private static func word(_ text: String) -> String? {
        if text.isEmpty || text.hasPrefix("<") || text.hasPrefix("[") || text.hasPrefix("++") { return nil }
        return text.firstIndex(of: "(").map { String(text[..<$0]) } ?? text
    }
}

/// The names in a folder, sorted; none if it cannot be read. [control]
func listing(_ folder: String) -> [String] {
    guard let open = opendir(folder) else { return [] }
    defer { closedir(open) }
    var names: [String] = []
    while let entry = readdir(open) {
        let name = withUnsafePointer(to: entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
}
