// SPDX-License-Identifier: Apache-2.0
import CSpeech

/// The families of models that sherpa-onnx reads.
enum SherpaKind: String, CaseIterable {
    case whisper, moonshine, transducer, canary, paraformer, dolphin, omnilingual, medasr
    case senseVoice = "sense-voice"
    case nemoCTC = "nemo-ctc"
    case zipformerCTC = "zipformer-ctc"
    case wenetCTC = "wenet-ctc"
    case telespeechCTC = "telespeech-ctc"
    case fireRed = "fire-red"
    case fireRedCTC = "fire-red-ctc"
    case streamingTransducer = "streaming-transducer"
    case streamingParaformer = "streaming-paraformer"
    case streamingZipformerCTC = "streaming-zipformer-ctc"
    case streamingNemoCTC = "streaming-nemo-ctc"
    case streamingTOne = "streaming-t-one"

    /// A file that a model has: how a part of its name begins, blank where it is the only one, and where its path goes.
    struct Part<Model> {
        let name: String
        let place: WritableKeyPath<Model, UnsafePointer<CChar>?>

        init(_ name: String, _ place: WritableKeyPath<Model, UnsafePointer<CChar>?>) {
            (self.name, self.place) = (name, place)
        }
    }

    /// The files of a model that hears a segment as a whole; there may be several ways to divide one.
    typealias Whole = [[Part<vg_sherpa_offline_model>]]
    /// The files of a model that hears as it comes.
    typealias Streaming = [Part<vg_sherpa_online_model>]

    /// Nil: it hears as it comes.
    var whole: Whole? {
        switch self {
        case .whisper: [[Part("encoder", \.whisper.encoder), Part("decoder", \.whisper.decoder)]]
        case .moonshine:
            [
                [
                    Part("preprocess", \.moonshine.preprocessor), Part("encode", \.moonshine.encoder),
                    Part("uncached", \.moonshine.uncached_decoder), Part("cached", \.moonshine.cached_decoder),
                ], [Part("encoder", \.moonshine.encoder), Part("decoder", \.moonshine.merged_decoder)],
            ]
        case .transducer:
            [
                [
                    Part("encoder", \.transducer.encoder), Part("decoder", \.transducer.decoder),
                    Part("joiner", \.transducer.joiner),
                ]
            ]
        case .canary: [[Part("encoder", \.canary.encoder), Part("decoder", \.canary.decoder)]]
        case .fireRed: [[Part("encoder", \.fire_red_asr.encoder), Part("decoder", \.fire_red_asr.decoder)]]
        case .paraformer: [[Part("", \.paraformer.model)]]
        case .dolphin: [[Part("", \.dolphin.model)]]
        case .omnilingual: [[Part("", \.omnilingual.model)]]
        case .medasr: [[Part("", \.medasr.model)]]
        case .senseVoice: [[Part("", \.sense_voice.model)]]
        case .nemoCTC: [[Part("", \.nemo_ctc.model)]]
        case .zipformerCTC: [[Part("", \.zipformer_ctc.model)]]
        case .wenetCTC: [[Part("", \.wenet_ctc.model)]]
        case .telespeechCTC: [[Part("", \.telespeech_ctc)]]
        case .fireRedCTC: [[Part("", \.fire_red_asr_ctc.model)]]
        case .streamingTransducer, .streamingParaformer, .streamingZipformerCTC, .streamingNemoCTC, .streamingTOne: nil
        }
    }

    /// Empty: it hears a segment as a whole.
    var streaming: Streaming {
        switch self {
        case .streamingTransducer:
            [
                Part("encoder", \.transducer.encoder), Part("decoder", \.transducer.decoder),
                Part("joiner", \.transducer.joiner),
            ]
        case .streamingParaformer: [Part("encoder", \.paraformer.encoder), Part("decoder", \.paraformer.decoder)]
        case .streamingZipformerCTC: [Part("", \.zipformer2_ctc.model)]
        case .streamingNemoCTC: [Part("", \.nemo_ctc.model)]
        case .streamingTOne: [Part("", \.t_one_ctc.model)]
        default: []
        }
    }

    /// The rate that its model hears, in Hz.
    var rate: Int32 { self == .streamingTOne ? 8000 : 16000 }

    /// Whether a text of a part of a segment is worth its time: Whisper takes as long for a word as for half a minute.
    var hasPartials: Bool { self != .whisper }

    /// The languages that it takes by their codes, as its model was trained; nil: a model of this family has its own.
    var languages: Set<String>? {
        switch self {
        case .whisper: Self.whisperLanguages
        case .senseVoice: ["zh", "en", "ja", "ko", "yue"]
        case .canary: ["en", "de", "es", "fr"]
        default: nil
        }
    }

    /// Of github.com/openai/whisper, tokenizer.py: what its models of many languages know.
    private static let whisperLanguages = Set(
        """
        en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml \
        cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am \
        yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue
        """.split(separator: " ").map(String.init))
}
