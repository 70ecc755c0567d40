// SPDX-License-Identifier: Apache-2.0
import CSpeech
import Glibc
import Models
import NodeKit

/// A model of the user's that sherpa-onnx is to read: a folder, and of which family it is.
struct SherpaModel: Sendable {
    static let kind = Key<SherpaKind?>.choice("kind", "of which family the model of the engine sherpa is")

    let folder: String
    let kind: SherpaKind
    /// Where the library is.
    let models: String
    /// As the model takes it; blank: it finds out.
    let language: String
    /// The paths of its files, by the parts of their names.
    private let files: [String: String]
    private let tokens: String

    /// Finds the files, and looks whether the library is there. [control]
    init(_ settings: Settings, host: NodeHost) throws(NodeError) {
        models = host.modelFolder
        guard let kind = try settings[Self.kind] else {
            throw NodeError(
                "the engine \"sherpa\" needs `kind`, the family of the model",
                hint: "such as whisper, transducer or sense-voice: `voicegraph nodes transcribe` has all",
                key: Self.kind.name)
        }
        self.kind = kind
        guard let name = try settings[RecognizerChoice.model] else {
            throw NodeError(
                "the engine \"sherpa\" needs `model`, the folder of a model",
                hint: "models that can be had: https://k2-fsa.github.io/sherpa/onnx/pretrained_models",
                key: RecognizerChoice.model.name)
        }
        language = try Self.language(settings, kind)
        // A name alone is a folder among the models that are installed, as well as one beside the file of the graph.
        let isInstalled = !name.contains("/") && ModelFolder.isInstalled(name, in: models)
        folder = isInstalled ? models + "/" + name : host.resolve(name)
        let names = listing(folder)
        tokens = try Self.file(in: folder, names.filter { $0.hasSuffix("tokens.txt") }, "tokens.txt", kind)
        files = try Self.files(of: kind, in: folder, names)
        _ = try ModelFolder(SherpaLibrary.model, in: models)
        _ = try ModelFolder(OnnxRuntime.model, in: models)
    }

    /// The code of the language that settings give, without its country.
    private static func language(_ settings: Settings, _ kind: SherpaKind) throws(NodeError) -> String {
        guard settings.gives(RecognizerChoice.language), let known = kind.languages else { return "" }
        let given = try settings[RecognizerChoice.language]
        let code = String(given.lowercased().prefix { $0 != "-" && $0 != "_" })
        guard known.contains(code) else {
            throw NodeError(
                "\(kind.rawValue) does not know the language \(given)",
                hint: known.count < 10
                    ? "it knows \(known.sorted().joined(separator: ", "))"
                    : "it is a code such as en, de or pt-BR; without `language` the model finds out",
                key: RecognizerChoice.language.name)
        }
        return code
    }

    private static func files(
        of kind: SherpaKind, in folder: String, _ names: [String]
    ) throws(NodeError) -> [String: String] {
        let models = names.filter { $0.hasSuffix(".onnx") || $0.hasSuffix(".ort") }
        let ways = kind.whole.map { $0.map { $0.map(\.name) } } ?? [kind.streaming.map(\.name)]
        func fitting(_ part: String) -> [String] {
            models.filter { name in
                part.isEmpty || name.split { "-.".contains($0) }.contains { $0.hasPrefix(part) }
            }
        }
        let way = ways.first { $0.allSatisfy { !fitting($0).isEmpty } } ?? ways.last ?? []
        var files: [String: String] = [:]
        for part in way {
            files[part] = try file(in: folder, fitting(part), part.isEmpty ? "model.onnx" : part + ".onnx", kind)
        }
        return files
    }

    /// The only one of these, or the only one of 8 bits, which needs less time and memory.
    private static func file(
        in folder: String, _ names: [String], _ usual: String, _ kind: SherpaKind
    ) throws(NodeError) -> String {
        let small = names.filter { $0.contains("int8") }
        let left = small.isEmpty ? names : small
        guard let name = left.first else {
            throw NodeError(
                "\(folder) has no model of the kind \(kind.rawValue): there is no file such as \(usual)",
                key: RecognizerChoice.model.name)
        }
        if left.count > 1 {
            throw NodeError(
                "\(folder) has several files for \(usual): \(shortened(left.joined(separator: ", ")))",
                hint: "give a folder with one of them", key: RecognizerChoice.model.name)
        }
        let path = folder + "/" + name
        guard let start = readFile(path, most: 64) else {
            throw NodeError(
                "cannot read \(path): \(String(cString: strerror(errno)))", key: RecognizerChoice.model.name)
        }
        if start.isEmpty || String(decoding: start, as: UTF8.self).hasPrefix("version https://git-lfs") {
            throw NodeError(
                start.isEmpty ? "\(path) is empty" : "\(path) only says where Git LFS has the model",
                hint: start.isEmpty ? "fetch it again" : "git lfs pull", key: RecognizerChoice.model.name)
        }
        return path
    }

    /// As the library takes it where a segment is heard as a whole; nil: it is not. The texts are those of `texts`.
    func whole(_ texts: CTexts) -> vg_sherpa_offline_config? {
        guard let ways = kind.whole else { return nil }
        var config = vg_sherpa_offline_config()
        config.feat_config = vg_sherpa_features(sample_rate: kind.rate, feature_dim: 80)
        config.decoding_method = texts.add("greedy_search")
        config.model_config.tokens = texts.add(tokens)
        config.model_config.num_threads = 1
        config.model_config.provider = texts.add("cpu")
        for part in ways.joined() {
            if let path = files[part.name] { config.model_config[keyPath: part.place] = texts.add(path) }
        }
        switch kind {
        case .whisper:
            config.model_config.whisper.language = texts.add(language)
            config.model_config.whisper.task = texts.add("transcribe")
            // What the library adds behind a segment, in its frames; -1: as it likes.
            config.model_config.whisper.tail_paddings = -1
        case .senseVoice:
            config.model_config.sense_voice.language = texts.add(language.isEmpty ? "auto" : language)
            config.model_config.sense_voice.use_itn = 1
        case .canary:
            config.model_config.canary.src_lang = texts.add(language.isEmpty ? "en" : language)
            config.model_config.canary.tgt_lang = config.model_config.canary.src_lang
            config.model_config.canary.use_pnc = 1
        default: break
        }
        return config
    }

    /// The same where it hears as it comes.
    func streaming(_ texts: CTexts) -> vg_sherpa_online_config {
        var config = vg_sherpa_online_config()
        config.feat_config = vg_sherpa_features(sample_rate: kind.rate, feature_dim: 80)
        config.decoding_method = texts.add("greedy_search")
        config.model_config.tokens = texts.add(tokens)
        config.model_config.num_threads = 1
        config.model_config.provider = texts.add("cpu")
        for part in kind.streaming {
            if let path = files[part.name] { config.model_config[keyPath: part.place] = texts.add(path) }
        }
        return config
    }
}
