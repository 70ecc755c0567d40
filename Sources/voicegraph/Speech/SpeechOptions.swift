// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import GraphFile
import Host
import NodeKit

/// What is to be spoken: words, a file, or standard input.
struct TextOptions: ParsableArguments {
    @Option(help: "A file with the text, in UTF-8.", completion: .file())
    var file: String?

    @Argument(help: "The text; - reads it from standard input.")
    var text: [String] = []

    func validate() throws {
        if file != nil, !text.isEmpty { throw ValidationError("give a text or --file, not both") }
        if file == nil, text.isEmpty { throw ValidationError("give a text, - for standard input, or --file FILE") }
    }

    /// Reads it; what is empty or no text ends the command with the reason.
    func read() throws -> String {
        let bytes: [UInt8]
        if let file {
            let descriptor = open(file, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw fail("cannot read \(file): \(String(cString: strerror(errno)))") }
            defer { close(descriptor) }
            bytes = try readAll(descriptor, file)
        } else if text == ["-"] {
            bytes = try readAll(STDIN_FILENO, "standard input")
        } else {
            bytes = Array(text.joined(separator: " ").utf8)
        }
        let source = file ?? (text == ["-"] ? "standard input" : "the text")
        guard let whole = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw fail("\(source) is no text in UTF-8")
        }
        var rest = whole[...]
        // What editors put before a text.
        if rest.unicodeScalars.first == "\u{FEFF}" { rest.unicodeScalars.removeFirst() }
        while let first = rest.first, first.isWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        guard !rest.isEmpty else { throw fail("\(source) is empty: there is nothing to say") }
        return String(rest)
    }

    private func readAll(_ descriptor: Int32, _ name: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw fail("cannot read \(name): \(String(cString: strerror(errno)))") }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= 64 << 20 else { throw fail("\(name) is longer than 64 MB; speak it in parts") }
        }
    }
}

/// How it is to be spoken.
struct VoiceOptions: ParsableArguments {
    @Option(help: "A voice of the engine, or a language tag; `voicegraph voices` lists them.")
    var voice: String?

    @Option(help: "Words per minute (80 to 450), or a multiple of 175.")
    var rate: Double?

    @Option(help: "Of the voice; 50 is its own.")
    var pitch: Int?

    @Option(help: ArgumentHelp("Of the voice; 100 is its own.", valueName: "percent"))
    var volume: Int?

    @Option(help: "The language, where no voice is given, as in en-US.")
    var language: String?

    @Option(help: ArgumentHelp("Whether the text is SSML: auto, true or false.", valueName: "auto|true|false"))
    var ssml: String?

    func validate() throws {
        if let rate, !(0.46...450).contains(rate) {
            throw ValidationError("--rate must be from 80 to 450, or a factor")
        }
        if let pitch, !(0...99).contains(pitch) { throw ValidationError("--pitch must be from 0 to 99") }
        if let volume, !(0...200).contains(volume) { throw ValidationError("--volume must be from 0 to 200") }
        if let ssml, !["auto", "true", "false"].contains(ssml) {
            throw ValidationError("--ssml must be auto, true or false")
        }
    }

    /// As settings of a tts node, or arguments of its action.
    var settings: [String: SettingValue] {
        var settings: [String: SettingValue] = [:]
        settings["voice"] = voice.map { .string($0) }
        settings["rate"] = rate.map { .number($0) }
        settings["pitch"] = pitch.map { .integer(Int64($0)) }
        settings["volume"] = volume.map { .integer(Int64($0)) }
        settings["language"] = language.map { .string($0) }
        settings["ssml"] = ssml.map { .string($0) }
        return settings
    }
}

/// What may speak.
private let engineNames = ["auto", "espeak-ng", "hibari", "flite", "piper", "command"]

/// What speaks.
struct EngineOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What speaks: auto (hibari or piper where a voice of theirs is installed for the language, else espeak-ng), "
                + "espeak-ng, hibari, flite, piper or command.", valueName: "name"), completion: .list(engineNames))
    var engine: String?

    @Option(help: ArgumentHelp("Of the engine command: what the shell runs for each sentence.", valueName: "line"))
    var command: String?

    func validate() throws {
        if let engine, !engineNames.contains(engine) {
            throw ValidationError(
                "--engine must be \(engineNames.dropLast().joined(separator: ", ")) or \(engineNames.last ?? "")")
        }
        if engine == "command", command == nil { throw ValidationError("--engine command needs --command LINE") }
    }

    /// As settings of a tts node.
    var settings: [String: SettingValue] {
        var settings: [String: SettingValue] = [:]
        settings["engine"] = .string(engine ?? (command == nil ? "auto" : "command"))
        settings["command"] = command.map { .string($0) }
        return settings
    }
}

/// The graph of the commands that speak by themselves: a voice, and an output.
enum SpeechGraph {
    static let voice = "voice"

    static func description(_ settings: [String: SettingValue], channels: Int) -> GraphDescription {
        let keys = settings.keys.sorted()
        return GraphDescription(
            name: "voicegraph-speech",
            nodes: [
                NodeDescription(
                    name: voice, type: StandardType.speech, entries: settings.mapValues { Entry($0) }, keys: keys,
                    required: true),
                NodeDescription(
                    name: "speakers", type: StandardType.output,
                    entries: ["channels": Entry(.integer(Int64(channels)))],
                    keys: ["channels"], required: true),
            ], links: [LinkDescription(from: Endpoint(voice), to: Endpoint("speakers"))],
            baseFolder: currentFolder())
    }

    /// The same to the speakers, as an output does that a file describes with it.
    static func aloud(_ settings: [String: SettingValue]) -> GraphDescription {
        var graph = description(settings, channels: 2)
        graph.nodes[1].entries["connect"] = Entry(.list([.string("system:playback_*")]))
        graph.nodes[1].keys.append("connect")
        return graph
    }
}

/// Says what is wrong with a graph that no file says: there are no lines to show.
func failure(of diagnostics: [Diagnostic]) -> ExitCode {
    let errors = diagnostics.filter { $0.severity == .error }
    return fail(errors.map(\.fault.description).joined(separator: "; "))
}
