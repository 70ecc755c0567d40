// SPDX-License-Identifier: Apache-2.0
import CSpeech
import Models
import NodeKit

/// The library sherpa-onnx, which reads models of many families. Where a model is broken it ends its process.
struct SherpaLibrary: @unchecked Sendable {
    // Sendable: addresses of functions; what they work on is one thread's at a time.
    let functions: vg_sherpa

    /// What `voicegraph models` calls it.
    static let model = "sherpa-onnx"
    /// The version whose structs are known here.
    private static let version = "2.0.1"

    private static let loaded = Lock<SherpaLibrary?>(nil)

    /// Loads it, once a process. [worker]
    static func load(from models: String) throws(NodeError) -> SherpaLibrary {
        try loaded.withLock { loaded throws(NodeError) in
            if let loaded { return loaded }
            // It asks for ONNX Runtime by its name, and gets the one that is there already.
            _ = try OnnxRuntime.load(from: models)
            let library = try SherpaLibrary(
                Library(ModelFolder(model, in: models).file("libsherpa-onnx-c-api.so")))
            let found = library.functions.SherpaOnnxGetVersionStr?().map { String(cString: $0) } ?? "no version"
            guard found == version else {
                throw NodeError(
                    "sherpa-onnx \(version) is needed, and \(found) is in \(models)",
                    hint: "voicegraph models remove \(model); voicegraph models install \(model)")
            }
            loaded = library
            return library
        }
    }

    private init(_ library: Library) throws(NodeError) {
        var functions = vg_sherpa()
        functions.SherpaOnnxGetVersionStr = try library.function("SherpaOnnxGetVersionStr")
        functions.SherpaOnnxCreateOfflineRecognizer = try library.function("SherpaOnnxCreateOfflineRecognizer")
        functions.SherpaOnnxDestroyOfflineRecognizer = try library.function("SherpaOnnxDestroyOfflineRecognizer")
        functions.SherpaOnnxCreateOfflineStream = try library.function("SherpaOnnxCreateOfflineStream")
        functions.SherpaOnnxDestroyOfflineStream = try library.function("SherpaOnnxDestroyOfflineStream")
        functions.SherpaOnnxAcceptWaveformOffline = try library.function("SherpaOnnxAcceptWaveformOffline")
        functions.SherpaOnnxDecodeOfflineStream = try library.function("SherpaOnnxDecodeOfflineStream")
        functions.SherpaOnnxGetOfflineStreamResult = try library.function("SherpaOnnxGetOfflineStreamResult")
        functions.SherpaOnnxDestroyOfflineRecognizerResult = try library.function(
            "SherpaOnnxDestroyOfflineRecognizerResult")
        functions.SherpaOnnxCreateOnlineRecognizer = try library.function("SherpaOnnxCreateOnlineRecognizer")
        functions.SherpaOnnxDestroyOnlineRecognizer = try library.function("SherpaOnnxDestroyOnlineRecognizer")
        functions.SherpaOnnxCreateOnlineStream = try library.function("SherpaOnnxCreateOnlineStream")
        functions.SherpaOnnxDestroyOnlineStream = try library.function("SherpaOnnxDestroyOnlineStream")
        functions.SherpaOnnxOnlineStreamAcceptWaveform = try library.function("SherpaOnnxOnlineStreamAcceptWaveform")
        functions.SherpaOnnxIsOnlineStreamReady = try library.function("SherpaOnnxIsOnlineStreamReady")
        functions.SherpaOnnxDecodeOnlineStream = try library.function("SherpaOnnxDecodeOnlineStream")
        functions.SherpaOnnxOnlineStreamInputFinished = try library.function("SherpaOnnxOnlineStreamInputFinished")
        functions.SherpaOnnxGetOnlineStreamResult = try library.function("SherpaOnnxGetOnlineStreamResult")
        functions.SherpaOnnxDestroyOnlineRecognizerResult = try library.function(
            "SherpaOnnxDestroyOnlineRecognizerResult")
        self.functions = functions
    }
}
