// SPDX-License-Identifier: Apache-2.0
import Models
import NodeKit

/// What hears a phrase, as the setting `engine` takes it.
enum WakeEngine: String, CaseIterable {
    case auto
    case micro = "micro-wakeword"
    case pocketsphinx
}

/// The phrases that are listened for, each by what knows it.
struct WakePhrases {
    private let words: [MicroWord]
    private let library: TFLite?
    private let model: PocketSphinxModel?
    private let search: PocketSphinxSearch?

    /// Finds what hears phrases that a setting gives; what cannot be had is told. [control]
    init(
        _ phrases: [String], of key: Key<[String]>, _ engine: WakeEngine, _ settings: Settings, _ host: NodeHost
    ) throws(NodeError) {
        let models = host.modelFolder
        let known = engine == .pocketsphinx ? [] : MicroWord.all(in: models) { host.log(VG_LOG_WARNING, $0) }
        let plain = phrases.map(MicroWord.plain)
        words = plain.compactMap { phrase in known.first { $0.phrase == phrase } }
        let others = plain.filter { phrase in !known.contains { $0.phrase == phrase } }
        // Where the models are missing, this is what is told.
        library = engine == .micro || !words.isEmpty ? try MicroWord.library(in: models) : nil
        if engine == .micro, let other = others.first {
            throw NodeError(
                "no small model knows \"\(other)\"", hint: "there are " + known.map(\.phrase).joined(separator: ", "),
                key: key.name)
        }
        guard !others.isEmpty else {
            (model, search) = (nil, nil)
            return
        }
        let model = try PocketSphinxModel(settings, host: host)
        search = try PocketSphinxSearch(others, of: key, settings, model: model)
        self.model = model
        _ = try PocketSphinxLibrary.load()
    }

    /// Makes what hears them. [worker]
    func detectors() throws(NodeError) -> [any WakeDetector] {
        var result: [any WakeDetector] = []
        if let library, !words.isEmpty { result.append(try MicroWake(words, library)) }
        if let model, let search { result.append(try SphinxWake(model, search)) }
        return result
    }
}
