// SPDX-License-Identifier: GPL-3.0-or-later
import Glibc
import JSON
import Models
import NodeKit

/// What the file beside a model of Piper says of the voice (github.com/OHF-Voice/piper1-gpl, docs/TRAINING.md).
struct PiperDescription: Sendable {
    /// The model's file.
    let model: String
    /// Hz.
    let rate: Double
    /// The voice of espeak-ng whose phonemes it was trained with.
    let espeakVoice: String
    /// As in "en-us".
    let language: String
    /// How much it varies, how long sounds are, and how much that varies.
    let noise, length, widthNoise: Float
    private let idsOfPhonemes: [Unicode.Scalar: [Int64]]

    init(_ folder: ModelFolder) throws(NodeError) {
        guard let file = names(in: folder.path).sorted().first(where: { $0.hasSuffix(".onnx.json") }) else {
            throw NodeError(
                "the model \(folder.name) has no description of a voice",
                hint: "voicegraph models remove \(folder.name); voicegraph models install \(folder.name)")
        }
        let path = folder.file(file)
        guard let json = Self.read(path), let rate = json["audio"]?["sample_rate"]?.double,
            let voice = json["espeak"]?["voice"]?.string, let map = json["phoneme_id_map"]?.fields,
            (1000...768_000).contains(rate), ["^", "_", "$"].allSatisfy({ map[$0] != nil })
        else { throw NodeError("\(path) does not describe a voice of piper", hint: "install the model again") }
        func scale(_ key: String, _ otherwise: Double) -> Float {
            Float(json["inference"]?[key]?.double ?? otherwise)
        }
        model = String(path.dropLast(".json".utf8.count))
        self.rate = rate
        espeakVoice = voice
        language = voice.lowercased()
        noise = scale("noise_scale", 0.667)
        length = scale("length_scale", 1)
        widthNoise = scale("noise_w", 0.8)
        var ids: [Unicode.Scalar: [Int64]] = [:]
        for (phoneme, numbers) in map {
            guard let scalar = phoneme.unicodeScalars.first, phoneme.unicodeScalars.count == 1 else { continue }
            ids[scalar] = numbers.items.compactMap { $0.integer.map(Int64.init) }
        }
        idsOfPhonemes = ids
    }

    private static func read(_ path: String) -> JSON? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0, bytes.count < 1 << 24 {
            bytes += buffer[..<count]
        }
        return try? JSON(bytes)
    }

    /// What the model takes: a start, each phoneme and a pad behind it, an end. What the voice does not know is left out.
    func ids(of phonemes: String) -> [Int64] {
        let pad = idsOfPhonemes["_"] ?? []
        var result = (idsOfPhonemes["^"] ?? []) + pad
        for scalar in phonemes.unicodeScalars {
            guard let ids = idsOfPhonemes[scalar] else { continue }
            result += ids + pad
        }
        return result + (idsOfPhonemes["$"] ?? [])
    }
}
