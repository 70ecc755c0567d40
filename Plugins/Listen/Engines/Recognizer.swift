// SPDX-License-Identifier: Apache-2.0
import Models
import NodeKit
import Synchronization

/// Makes text of speech, one segment after the other, mono at 16 kHz. By one thread at a time. After an error the next
/// segment begins anew.
protocol Recognizer: AnyObject {
    /// A segment begins; unless it is live nobody wants to know of it before its end. [worker]
    func begin(isLive: Bool) throws(NodeError)
    /// The next samples of the segment. [worker]
    func feed(_ samples: ArraySlice<Float>) throws(NodeError)
    /// What the segment says so far; nil: that is not known before its end. What takes long asks now and then whether it is
    /// still wanted, and gives nil where it is not. [worker]
    func partial(isWanted: () -> Bool) throws(NodeError) -> String?
    /// The segment has ended: what it says. After its first `spoken` samples nobody has spoken. [worker]
    func finish(spoken: Int) throws(NodeError) -> Recognition
    /// The segment is given up. [worker]
    func cancel()
}

/// What was recognized in a segment.
struct Recognition: Equatable {
    /// One word of it.
    struct Word: Equatable {
        var text: String
        /// Seconds since the segment began.
        var start, end: Double
        /// 0 to 1.
        var confidence: Double?
    }

    var text = ""
    /// Where the engine knows them.
    var words: [Word] = []
    /// 0 to 1, where the engine knows it.
    var confidence: Double?
}

/// Raised by another thread when nobody waits for a recognition any more.
final class AbortFlag: Sendable {
    private let raised = Atomic<Bool>(false)

    /// Whether it is raised. [any]
    var isRaised: Bool {
        get { raised.load(ordering: .relaxed) }
        set { raised.store(newValue, ordering: .relaxed) }
    }

    /// What a recognition that was given up throws.
    static let error = NodeError("it was given up")
}

/// An engine that settings name and whose parts are there; it is not loaded yet.
struct RecognizerChoice: @unchecked Sendable {
    // Sendable: what `load` holds are texts, numbers, the host's log and a flag, both for any thread.

    static let engine = Key.choice(
        "engine", "what recognizes; auto: moonshine where it is installed, else pocketsphinx", default: Engine.auto)
    static let model = Key.text(
        "model", "another model: the name of one for moonshine, a folder for pocketsphinx and sherpa", names: .file)
    static let language = Key.text("language", "what is spoken", default: "en-US")

    /// The values of the setting `engine`.
    enum Engine: String, CaseIterable {
        case auto, moonshine, pocketsphinx, sherpa, command
    }

    /// "moonshine", "pocketsphinx", "sherpa" or "command".
    let name: String
    /// How sure it is at least of most that it hears right, on its own scale; 0: that says too little.
    let sureness: Double
    /// Reads what it needs, which may take a second. [worker]
    let load: () throws(NodeError) -> any Recognizer

    /// Finds the engine that settings ask for, and looks whether its parts are there. [control]
    init(_ settings: Settings, host: NodeHost, abort: AbortFlag) throws(NodeError) {
        let engine = try Self.find(settings, host: host)
        name = engine.rawValue
        sureness = engine == .moonshine ? Moonshine.sureness : 0
        switch engine {
        case .moonshine:
            let choice = try MoonshineChoice(settings, models: host.modelFolder)
            load = { () throws(NodeError) in try Moonshine(choice, abort: abort) { host.log($0, $1) } }
        case .command:
            let command = try CommandRecognizer.Command(settings, host: host)
            load = { () throws(NodeError) in CommandRecognizer(command, abort: abort) }
        case .sherpa:
            let model = try SherpaModel(settings, host: host)
            load = { () throws(NodeError) in try model.recognizer() }
        case .pocketsphinx, .auto:
            let (model, search) = try Self.pocketSphinx(settings, host: host)
            load = { () throws(NodeError) in try PocketSphinxRecognizer(model, search) }
        }
    }

    /// The parts of PocketSphinx. Where they are missing and no engine was asked for, the hint names the other one as well.
    private static func pocketSphinx(
        _ settings: Settings, host: NodeHost
    ) throws(NodeError) -> (PocketSphinxModel, PocketSphinxSearch) {
        let (wanted, isSearch) = (try settings[engine], try PocketSphinxSearch.isAsked(by: settings))
        do throws(NodeError) {
            let model = try PocketSphinxModel(settings, host: host)
            let search = try PocketSphinxSearch(settings, model: model, host: host)
            _ = try PocketSphinxLibrary.load()
            return (model, search)
        } catch {
            var error = error
            if wanted == .auto, !isSearch, error.hint == PocketSphinxLibrary.cure {
                error.hint += ", or voicegraph models install \(MoonshineChoice.model)"
            }
            throw error
        }
    }

    /// What `auto` stands for here, or the engine that is named.
    private static func find(_ settings: Settings, host: NodeHost) throws(NodeError) -> Engine {
        let wanted = try settings[engine]
        if wanted != .auto { return wanted }
        if try !settings[CommandRecognizer.Command.line].isEmpty { return .command }
        let isSearch = try PocketSphinxSearch.isAsked(by: settings)
        let isEnglish = try settings[language].lowercased().hasPrefix("en")
        let isInstalled = [MoonshineChoice.model, OnnxRuntime.model].allSatisfy {
            ModelFolder.isInstalled($0, in: host.modelFolder)
        }
        return isInstalled && !isSearch && isEnglish ? .moonshine : .pocketsphinx
    }
}
