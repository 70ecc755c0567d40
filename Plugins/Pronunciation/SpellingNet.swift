// SPDX-License-Identifier: Apache-2.0
import JSON
import Models
import NodeKit

/// A net that says words which no lexicon has, letter by letter. What it gives is collapsed as in connectionist temporal
/// classification (Graves and others, 2006): what is repeated counts once, and 0 is nothing.
public final class SpellingNet: Sendable {
    private let inputs: [Unicode.Scalar: Int64]
    private let outputs: [Unicode.Scalar]
    private let longest: Int
    private let session: Lock<OnnxSession>

    /// Reads NAME.onnx, and NAME.json which says of its letters and sounds. [worker]
    public init(_ name: String, _ runtime: OnnxRuntime) throws(NodeError) {
        let path = name + ".json"
        let json = try? JSON(PackedFile.read(path))
        func scalars(_ key: String) -> [Unicode.Scalar] {
            json?[key]?.items.compactMap { $0.string?.unicodeScalars.first } ?? []
        }
        let letters = scalars("in")
        inputs = Dictionary(zip(letters, (1...).lazy.map(Int64.init)), uniquingKeysWith: { $1 })
        outputs = scalars("out")
        longest = json?["maxlen"]?.integer ?? 0
        guard !letters.isEmpty, !outputs.isEmpty, longest > 0 else {
            throw NodeError("\(path) does not describe a net", hint: "remove and install it again: voicegraph models")
        }
        let session = try OnnxSession(runtime, path: name + ".onnx")
        try session.require(inputs: ["chars"], outputs: ["ids"])
        self.session = Lock(session)
    }

    /// What a word sounds like, of a long one part by part; nil: it has no letter that the net knows, or cannot be computed.
    /// [worker]
    public func say(_ word: String) -> [Unicode.Scalar]? {
        var letters = word.unicodeScalars.compactMap { inputs[$0] }[...]
        if letters.isEmpty { return nil }
        var sounds: [Unicode.Scalar] = []
        while !letters.isEmpty {
            guard let part = say(Array(letters.prefix(longest))) else { return nil }
            sounds += part
            letters = letters.dropFirst(longest)
        }
        return sounds
    }

    private func say(_ letters: [Int64]) -> [Unicode.Scalar]? {
        let given = session.withLock { session -> [Int64]? in
            guard let input = try? OnnxValue(session.runtime, letters, shape: [1, letters.count]) else {
                return nil
            }
            return try? session.run([("chars", input)], outputs: ["ids"]).first?.integers().elements
        }
        guard let given else { return nil }
        var sounds: [Unicode.Scalar] = []
        var last: Int64 = 0
        for id in given {
            if id != last, id > 0, id <= outputs.count { sounds.append(outputs[Int(id) - 1]) }
            last = id
        }
        return sounds
    }
}
