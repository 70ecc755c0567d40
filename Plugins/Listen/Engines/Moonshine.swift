// SPDX-License-Identifier: Apache-2.0
import Glibc
import Models
import NodeKit

/// Which model of Moonshine to read.
struct MoonshineChoice: Sendable {
    /// The name of the model that is used unless settings name another.
    static let model = "moonshine-base-en"

    let folder: ModelFolder
    let models: String

    /// Looks whether the model is there. [control]
    init(_ settings: Settings, models: String) throws(NodeError) {
        let language = try settings[RecognizerChoice.language]
        let name = try settings[RecognizerChoice.model]
        guard language.lowercased().hasPrefix("en") || name != nil else {
            throw NodeError(
                "the model \(Self.model) knows English only, not \(language)",
                hint: "name another `model`, or another `engine`", key: RecognizerChoice.language.name)
        }
        folder = try ModelFolder(name ?? Self.model, in: models)
        _ = try ModelFolder(OnnxRuntime.model, in: models)
        self.models = models
    }
}

/// Moonshine (N. Jeffries and others, "Moonshine: Speech Recognition for Live Transcription and Voice Commands", 2024,
/// arXiv 2410.15608): an encoder that hears up to some 15 s at a time, and a decoder that writes one token after the other.
/// What is not whole yet is decoded again and again.
final class Moonshine: Recognizer {
    /// Of 60 things that four voices said, it was surer of 38 of 40 that it understood, and less sure of 7 of 9 murmurs that it
    /// took for words.
    static let sureness = 0.78
    private static let (firstToken, lastToken) = (1, 2)
    /// As the authors do: more tokens than this in a second are the model going round in circles.
    private static let tokensPerSecond = 6.5
    /// The encoder needs some samples; silence is added to what is shorter.
    private static let shortest = 8000
    /// Heads of attention and their width in the base model, and in the tiny one.
    private static let shapes = [8: [8, 52], 6: [8, 36]]

    private let abort: AbortFlag
    private let encoder, decoder: OnnxSession
    private let tokens: MoonshineTokens
    /// What the decoder remembers, without tokens yet, by the name under which it takes it.
    private let empty: [(name: String, value: OnnxValue)]
    private let logits: String
    /// What the decoder gives to remember, and the name under which it takes it again.
    private let memories: [(given: String, taken: String)]
    private var samples: [Float] = []
    /// The newest text, how sure each of its tokens and its end are, and of how many samples it is.
    private var decoded: (count: Int, tokens: [Int], sureness: [Float]) = (0, [], [])

    /// Reads the model; `note` takes what there is to tell of it. [worker]
    init(_ choice: MoonshineChoice, abort: AbortFlag, note: (vg_log_level, String) -> Void) throws(NodeError) {
        self.abort = abort
        let runtime = try OnnxRuntime.load(from: choice.models)
        tokens = try MoonshineTokens(choice.folder.file("tokenizer.bin"))
        let files = choice.folder
        encoder = try .reading(runtime, ready: files.file("encoder_model.ort"), note: note)
        decoder = try .reading(runtime, ready: files.file("decoder_model_merged.ort"), note: note)
        try encoder.require(inputs: ["input_values"], outputs: [])
        try decoder.require(inputs: ["input_ids", "encoder_hidden_states", "use_cache_branch"], outputs: [])
        let past = decoder.inputs.filter { $0.hasPrefix("past_key_values") }
        // Key and value, of the decoder's own and of the encoder's, in each layer.
        guard let shape = Self.shapes[past.count / 4], past.count % 4 == 0, encoder.outputs.count == 1,
            let first = decoder.outputs.first, decoder.outputs.count == past.count + 1
        else {
            throw NodeError("\(choice.folder.path) has another model than Moonshine's: it has \(past.count) memories")
        }
        logits = first
        memories = decoder.outputs.dropFirst().map { name in
            (name, name.hasPrefix("present") ? "past_key_values" + name.dropFirst("present".count) : name)
        }
        var empty: [(name: String, value: OnnxValue)] = []
        for name in past {
            empty.append((name, try OnnxValue(runtime, [Float](), shape: [1, shape[0], 0, shape[1]])))
        }
        self.empty = empty
        try decoder.require(inputs: memories.map(\.taken), outputs: [])
    }

    func begin(isLive: Bool) throws(NodeError) {
        samples.removeAll(keepingCapacity: true)
        decoded = (0, [], [])
    }

    func feed(_ samples: ArraySlice<Float>) throws(NodeError) { self.samples += samples }

    func partial(isWanted: () -> Bool) throws(NodeError) -> String? {
        try decode(isWanted: isWanted) ? tokens.text(decoded.tokens) : nil
    }

    func finish(spoken: Int) throws(NodeError) -> Recognition {
        if decoded.count < spoken || decoded.count == 0 { _ = try decode { true } }
        // The mean of how likely each token was, as a geometric one, since they follow each other.
        let sum = decoded.sureness.reduce(0) { $0 + Double(log($1)) }
        return Recognition(
            text: tokens.text(decoded.tokens), confidence: exp(sum / Double(max(1, decoded.sureness.count))))
    }

    func cancel() {}

    /// Makes the text of all samples; false: it was not wanted any more. The text of before, of fewer samples, mostly begins the
    /// new one: it is looked through at once, and only what follows the part that is still right is written token by token.
    private func decode(isWanted: () -> Bool) throws(NodeError) -> Bool {
        var heard = samples
        if heard.count < Self.shortest { heard += [Float](repeating: 0, count: Self.shortest - heard.count) }
        let audio = try OnnxValue(encoder.runtime, heard, shape: [1, heard.count])
        let hidden = try encoder.run([("input_values", audio)], outputs: encoder.outputs)[0]
        guard isWanted() else { return false }
        let longest = Int(Double(heard.count) / speechRate * Self.tokensPerSecond) + 1
        var text = Array(decoded.tokens.prefix(longest))
        var (best, memory) = try read([Self.firstToken] + text, hidden, after: nil)
        let right = zip(text, best).prefix { $0 == $1.token }.count
        var next = best[right].token
        var sureness = best[...right].map(\.sureness)
        if right < text.count {
            text = Array(text[..<right])
            if next != Self.lastToken { memory = try Self.beginning(of: memory, tokens: 1 + right, encoder.runtime) }
        }
        while next != Self.lastToken, text.count < longest {
            guard isWanted() else { return false }
            text.append(next)
            (best, memory) = try read([next], hidden, after: memory)
            next = best[0].token
            sureness.append(best[0].sureness)
        }
        decoded = (samples.count, text, sureness)
        return true
    }

    /// What the decoder remembers of the first tokens of those that it has read.
    private static func beginning(
        of memory: [(name: String, value: OnnxValue)], tokens: Int, _ runtime: OnnxRuntime
    ) throws(NodeError) -> [(name: String, value: OnnxValue)] {
        var result = memory
        for (index, entry) in memory.enumerated() where !entry.name.contains("encoder") {
            // One text, heads of attention, tokens, width.
            let (elements, shape) = try entry.value.floats()
            guard shape.count == 4, shape[2] >= tokens else { throw NodeError("the model remembers \(shape)") }
            var kept: [Float] = []
            kept.reserveCapacity(shape[1] * tokens * shape[3])
            for head in 0..<shape[1] {
                kept += elements[head * shape[2] * shape[3]..<(head * shape[2] + tokens) * shape[3]]
            }
            result[index].value = try OnnxValue(runtime, kept, shape: [1, shape[1], tokens, shape[3]])
        }
        return result
    }

    /// Lets the decoder read tokens, the first ones or those after what it remembers: the token that it takes for the most
    /// likely after each, and what it remembers then.
    private func read(
        _ given: [Int], _ hidden: OnnxValue, after memory: [(name: String, value: OnnxValue)]?
    ) throws(NodeError) -> (best: [(token: Int, sureness: Float)], memory: [(name: String, value: OnnxValue)]) {
        if abort.isRaised { throw AbortFlag.error }
        let runtime = encoder.runtime
        var kept = memory ?? empty
        let inputs =
            kept + [
                ("input_ids", try OnnxValue(runtime, given.map(Int64.init), shape: [1, given.count])),
                ("encoder_hidden_states", hidden),
                ("use_cache_branch", try OnnxValue(runtime, [memory != nil], shape: [1])),
            ]
        let results = try decoder.run(inputs, outputs: [logits] + memories.map(\.given))
        let (scores, shape) = try results[0].floats()
        let width = shape.last ?? 0
        guard width > 0, scores.count == given.count * width else { throw NodeError("the model gives no scores") }
        for (place, result) in results.dropFirst().enumerated() {
            let name = memories[place].taken
            // What it knows of the encoder's side stays as it was given first.
            if memory != nil, name.contains("encoder") { continue }
            if let known = kept.firstIndex(where: { $0.name == name }) { kept[known].value = result }
        }
        return (given.indices.map { likeliest(scores[$0 * width..<($0 + 1) * width]) }, kept)
    }

    /// The token with the highest score, and how likely it is beside the second, 0.5 to 1: of these two alone, since the sum over
    /// all would take as long as a tenth of the model.
    private func likeliest(_ scores: ArraySlice<Float>) -> (token: Int, sureness: Float) {
        var best = scores.startIndex
        var second = -Float.infinity
        for index in scores.indices.dropFirst() {
            let score = scores[index]
            if score > scores[best] { (second, best) = (scores[best], index) } else if score > second { second = score }
        }
        return (best - scores.startIndex, 1 / (1 + exp(second - scores[best])))
    }
}

/// The pieces of words that a model writes: each has its length in bytes before it, of one byte below 128, else of two.
struct MoonshineTokens {
    private var pieces: [ArraySlice<UInt8>] = []

    /// Reads the file. [worker]
    init(_ path: String) throws(NodeError) {
        guard let bytes = readFile(path) else {
            throw NodeError(
                "cannot read \(path): \(String(cString: strerror(errno)))",
                hint: "remove and install it again: voicegraph models")
        }
        try self.init(bytes: bytes, of: path)
    }

    init(bytes: [UInt8], of path: String) throws(NodeError) {
        var place = 0
        while place < bytes.count {
            var length = Int(bytes[place])
            place += 1
            if length >= 128, place < bytes.count {
                length += Int(bytes[place]) * 128 - 128
                place += 1
            }
            guard place + length <= bytes.count else {
                throw NodeError("\(path) is cut short", hint: "remove and install it again: voicegraph models")
            }
            pieces.append(bytes[place..<place + length])
            place += length
        }
        if pieces.count < 1000 { throw NodeError("\(path) is no list of tokens") }
    }

    /// What tokens say.
    func text(_ tokens: [Int]) -> String {
        var bytes: [UInt8] = []
        for token in tokens where pieces.indices.contains(token) {
            let piece = pieces[token]
            if let byte = Self.byte(piece) { bytes.append(byte) } else if !Self.isMark(piece) { bytes += piece }
        }
        // The lower one eighth block, U+2581, stands for a space.
        let text = String(decoding: bytes, as: UTF8.self)
        return trimmed(String(text.map { $0 == "\u{2581}" ? " " : $0 }))
    }

    /// The byte that a piece such as <0x0A> stands for.
    private static func byte(_ piece: ArraySlice<UInt8>) -> UInt8? {
        guard piece.count == 6, piece.starts(with: Array("<0x".utf8)), piece.last == UInt8(ascii: ">") else {
            return nil
        }
        return UInt8(String(decoding: piece.dropFirst(3).prefix(2), as: UTF8.self), radix: 16)
    }

    /// Whether a piece such as </s> or <unk> is no text.
    private static func isMark(_ piece: ArraySlice<UInt8>) -> Bool {
        piece.count > 2 && piece.first == UInt8(ascii: "<") && piece.last == UInt8(ascii: ">")
    }
}

/// A file, or its first bytes, `most`; nil: it cannot be read, as `errno` says. [control]
func readFile(_ path: String, most: Int = .max) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    while bytes.count < most {
        var count = 0
        let part = [UInt8](unsafeUninitializedCapacity: min(1 << 16, most - bytes.count)) { buffer, size in
            count = read(file, buffer.baseAddress, buffer.count)
            size = max(0, count)
        }
        if count < 0, errno == EINTR { continue }
        if count < 0 { return nil }
        if count == 0 { break }
        bytes += part
    }
    return bytes
}
