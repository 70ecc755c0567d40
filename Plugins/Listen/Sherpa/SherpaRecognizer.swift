// SPDX-License-Identifier: Apache-2.0
import CSpeech
import Glibc
import NodeKit

/// Recognizes with a model that hears a segment as a whole.
final class SherpaRecognizer: Recognizer {
    private let functions: vg_sherpa
    private let recognizer: UnsafeRawPointer
    private let hasPartials: Bool
    private var samples: [Float] = []

    /// Reads the model, which may take seconds. The library ends the process if it is a broken one. [worker]
    init(_ model: SherpaModel, _ library: SherpaLibrary) throws(NodeError) {
        functions = library.functions
        hasPartials = model.kind.hasPartials
        let texts = CTexts()
        defer { withExtendedLifetime(texts) {} }
        guard var config = model.whole(texts), let recognizer = functions.SherpaOnnxCreateOfflineRecognizer?(&config)
        else { throw model.isRefused }
        self.recognizer = recognizer
    }

    deinit { functions.SherpaOnnxDestroyOfflineRecognizer?(recognizer) }

    func begin(isLive: Bool) throws(NodeError) { samples.removeAll(keepingCapacity: true) }
    func feed(_ samples: ArraySlice<Float>) throws(NodeError) { self.samples += samples }
    func partial(isWanted: () -> Bool) throws(NodeError) -> String? { hasPartials ? try recognized().text : nil }
    func finish(spoken: Int) throws(NodeError) -> Recognition { try recognized() }
    func cancel() {}

    private func recognized() throws(NodeError) -> Recognition {
        guard let stream = functions.SherpaOnnxCreateOfflineStream?(recognizer) else {
            throw NodeError("sherpa-onnx takes no segment")
        }
        defer { functions.SherpaOnnxDestroyOfflineStream?(stream) }
        samples.withUnsafeBufferPointer { samples in
            guard let start = samples.baseAddress else { return }
            functions.SherpaOnnxAcceptWaveformOffline?(stream, Int32(speechRate), start, Int32(samples.count))
        }
        functions.SherpaOnnxDecodeOfflineStream?(recognizer, stream)
        guard let result = functions.SherpaOnnxGetOfflineStreamResult?(stream) else { return Recognition() }
        defer { functions.SherpaOnnxDestroyOfflineRecognizerResult?(result) }
        let tokens = SherpaTokens(
            count: Int(result.pointee.count), texts: result.pointee.tokens_arr, starts: result.pointee.timestamps)
        return tokens.recognition(result.pointee.text, seconds: Double(samples.count) / speechRate)
    }
}

/// Recognizes with a model that hears as it comes.
final class SherpaStream: Recognizer {
    /// Seconds of silence behind a segment: what such a model needs to say its last word.
    private static let tail = 0.66

    private let functions: vg_sherpa
    private let recognizer: UnsafeRawPointer
    private var stream: UnsafeRawPointer?
    private var heard = 0

    /// Reads the model, as above. [worker]
    init(_ model: SherpaModel, _ library: SherpaLibrary) throws(NodeError) {
        functions = library.functions
        let texts = CTexts()
        defer { withExtendedLifetime(texts) {} }
        var config = model.streaming(texts)
        guard let recognizer = functions.SherpaOnnxCreateOnlineRecognizer?(&config) else { throw model.isRefused }
        self.recognizer = recognizer
    }

    deinit {
        cancel()
        functions.SherpaOnnxDestroyOnlineRecognizer?(recognizer)
    }

    func begin(isLive: Bool) throws(NodeError) {
        cancel()
        heard = 0
        stream = functions.SherpaOnnxCreateOnlineStream?(recognizer)
        if stream == nil { throw NodeError("sherpa-onnx takes no segment") }
    }

    func feed(_ samples: ArraySlice<Float>) throws(NodeError) {
        heard += samples.count
        accept(samples)
        decode()
    }

    func partial(isWanted: () -> Bool) throws(NodeError) -> String? { recognition().text }

    func finish(spoken: Int) throws(NodeError) -> Recognition {
        accept([Float](repeating: 0, count: Int(Self.tail * speechRate))[...])
        if let stream { functions.SherpaOnnxOnlineStreamInputFinished?(stream) }
        decode()
        return recognition()
    }

    func cancel() {
        if let stream { functions.SherpaOnnxDestroyOnlineStream?(stream) }
        stream = nil
    }

    private func accept(_ samples: ArraySlice<Float>) {
        samples.withUnsafeBufferPointer { samples in
            guard let stream, let start = samples.baseAddress else { return }
            functions.SherpaOnnxOnlineStreamAcceptWaveform?(stream, Int32(speechRate), start, Int32(samples.count))
        }
    }

    private func decode() {
        guard let stream else { return }
        while functions.SherpaOnnxIsOnlineStreamReady?(recognizer, stream) == 1 {
            functions.SherpaOnnxDecodeOnlineStream?(recognizer, stream)
        }
    }

    private func recognition() -> Recognition {
        guard let stream, let result = functions.SherpaOnnxGetOnlineStreamResult?(recognizer, stream) else {
            return Recognition()
        }
        defer { functions.SherpaOnnxDestroyOnlineRecognizerResult?(result) }
        let tokens = SherpaTokens(
            count: Int(result.pointee.count), texts: result.pointee.tokens_arr, starts: result.pointee.timestamps)
        return tokens.recognition(result.pointee.text, seconds: Double(heard) / speechRate)
    }
}

extension SherpaModel {
    /// Reads the model. [worker]
    func recognizer() throws(NodeError) -> any Recognizer {
        let library = try SherpaLibrary.load(from: models)
        return kind.whole == nil ? try SherpaStream(self, library) : try SherpaRecognizer(self, library)
    }

    fileprivate var isRefused: NodeError {
        NodeError(
            "sherpa-onnx does not read \(folder) as \(kind.rawValue)",
            hint: "it may be of another `kind`, or not whole", key: Self.kind.name)
    }
}

/// The pieces of words that a model wrote, and when.
struct SherpaTokens {
    var texts: [String] = []
    /// Seconds, one for each text; empty: they are not known.
    var starts: [Double] = []

    init(_ texts: [String], starts: [Double]) { (self.texts, self.starts) = (texts, starts) }

    init(count: Int, texts: UnsafePointer<UnsafePointer<CChar>>?, starts: UnsafePointer<Float>?) {
        guard let texts, count > 0 else { return }
        self.texts = (0..<count).map { String(cString: texts[$0]) }
        if let starts { self.starts = (0..<count).map { Double(starts[$0]) } }
    }

    func recognition(_ text: UnsafePointer<CChar>?, seconds: Double) -> Recognition {
        let text = trimmed(text.map { String(cString: $0) } ?? "")
        return Recognition(text: text, words: words(of: text, seconds: seconds))
    }

    /// The words of a text of so many seconds: one begins at a piece with a mark or a space, or with a letter that is a word
    /// of its own. Empty where pieces and text do not fit.
    func words(of text: String, seconds: Double) -> [Recognition.Word] {
        guard starts.count == texts.count else { return [] }
        var words: [Recognition.Word] = []
        for (piece, start) in zip(texts, starts) {
            // The lower one eighth block, U+2581, stands for a space.
            let isNew = piece.first.map { $0 == " " || $0 == "\u{2581}" || Self.isWord($0) } ?? false
            let letters = piece.filter { $0 != " " && $0 != "\u{2581}" }
            if isNew || words.isEmpty {
                words.append(Recognition.Word(text: letters, start: start, end: start))
            } else {
                words[words.count - 1].text += letters
            }
        }
        words.removeAll { $0.text.isEmpty }
        guard words.map(\.text).joined() == text.filter({ $0 != " " }) else { return [] }
        // A word lasts until the next one, and none longer than a second: behind it may be a pause.
        for index in words.indices {
            let next = index + 1 < words.count ? words[index + 1].start : seconds
            words[index].end = max(words[index].start, min(next, words[index].start + 1))
        }
        return words
    }

    /// Whether a letter is written without spaces around words: those of Chinese and Japanese.
    private static func isWord(_ letter: Character) -> Bool {
        letter.unicodeScalars.first.map { (0x3040...0x30ff).contains($0.value) || (0x3400...0x9fff).contains($0.value) }
            ?? false
    }
}

/// Texts for C, which live as long as this.
final class CTexts {
    private var texts: [UnsafeMutablePointer<CChar>] = []

    deinit { for text in texts { free(text) } }

    func add(_ text: String) -> UnsafePointer<CChar>? {
        guard let copy = strdup(text) else { return nil }
        texts.append(copy)
        return UnsafePointer(copy)
    }
}
