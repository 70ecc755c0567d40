// SPDX-License-Identifier: Apache-2.0
import NodeKit

// Made from what the types of nodes declare; a test compares the two, and says how to make it again.

/// `follower`: how loud its input is, as a control for other nodes. Gives offset + depth * level, where the level is
/// linear (1 is full scale) or in dBFS, -120 at least. Link its output to a parameter, and give offset and depth in
/// the unit of that. attack and release are time constants: after that time 63 % of a step are done; 0 is at once. Of
/// several channels the loudest counts (peak) or their mean power (rms). Infinite samples and NaN count as 0.
public struct Follower: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// what the level is
    public enum Detector: String, Sendable, CaseIterable {
        case peak
        case rms
    }

    /// of the level
    public enum Scale: String, Sendable, CaseIterable {
        case linear
        case db
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `attack`: time constant of the rise; in ms, 0 to 2000, 10 without it
    /// - `release`: time constant of the fall; in ms, 0 to 5000, 100 without it
    /// - `depth`: what the level is multiplied by; -96000 to 96000, 1 without it
    /// - `offset`: what is added; -96000 to 96000, 0 without it
    /// - `detector`: what the level is; "peak" without it
    /// - `window`: time constant of the mean of rms; in ms, 0.1 to 5000, 10 without it
    /// - `scale`: of the level; "linear" without it
    /// - `channels`: audio channels in, measured together; 1 to 64, 1 without it
    public init(
        _ called: String? = nil, attack: Double? = nil, release: Double? = nil, depth: Double? = nil,
        offset: Double? = nil, detector: Detector? = nil, window: Double? = nil, scale: Scale? = nil,
        channels: Int? = nil, inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "follower",
            [
                ("attack", said(attack)), ("release", said(release)), ("depth", said(depth)), ("offset", said(offset)),
                ("detector", said(detector)), ("window", said(window)), ("scale", said(scale)),
                ("channels", said(channels)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `record`: records to a file. The suffix of `path` chooses the format: .wav (32-bit float, RF64 beyond 4 GiB),
/// .flac (24 bits), .ogg, .opus. {date} and {time} in it stand for the start of the recording, and so does what
/// `date` knows, as in %Y-%m-%d_%H-%M-%S. While it is recorded a file is called NAME.part.wav; it plays at any time.
/// What is beyond full scale is clipped in integer formats, and that is counted and told. An existing file is kept:
/// the new one is called NAME-2, NAME-3, ... unless `overwrite` is set; one that is being recorded is kept even then.
/// When the audio stops and comes back, the recording goes on.
public struct Record: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// noise that takes the place of what rounding to integers would add
    public enum Dither: String, Sendable, CaseIterable {
        case none
        case tpdf
        case shaped
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `path`: file to write; {date}, {time} and %Y... are filled in
    /// - `literal`: the name of the file is as `path` says: nothing is filled in; false without it
    /// - `descriptor`: an open file of this process, in a render: it gets a stream in WAV format, and `path` is what
    ///   it is called; 0 to 1048576
    /// - `channels`: audio channels; 1 to 64, 1 without it
    /// - `overwrite`: replaces an existing file; false without it
    /// - `autostart`: records from the first block on, not from `start`; true without it
    /// - `limit`: ends the recording; 0: never; in s, 0 to 1000000000.0, 0 without it
    /// - `publish`: gives out what is recorded as audio too, for programs that subscribe to it; false without it
    /// - `publishFrames`: of a block of that audio, which has rate and channels of the file; in frames, 16 to 65536,
    ///   1024 without it
    /// - `interruptionLimit`: ends a recording to which nothing has come for so long; 0: it waits; in s, 0 to
    ///   1000000000.0, 0 without it
    /// - `fill`: silence takes the place of what is missing, so that the file keeps the time; false without it
    /// - `preroll`: of what came before `start`, a recording has so much; in s, 0 to 600, 0 without it
    /// - `split`: the next file begins after so long; 0: never; in s, 0 to 1000000000.0, 0 without it
    /// - `splitSize`: the next file begins when this one is so large; 0: never; in MB, 0 to 1000000000.0, 0 without
    ///   it
    /// - `stamp`: a .wav says when it was recorded (broadcast wave), unless it is rendered; true without it
    /// - `bits`: of a sample: 16, 24 or 32 (.wav), 16 or 24 (.flac); 16 to 32
    /// - `float`: samples of a .wav are floats, and nothing is clipped; unset: those of 32 bits are
    /// - `dither`: noise that takes the place of what rounding to integers would add; "tpdf" without it
    /// - `quality`: of .ogg, from the smallest to the best; of .flac, from the fastest to the smallest; 0 to 1
    /// - `rate`: of the file; unset: that of the audio; in Hz, 4000 to 384000
    /// - `fileChannels`: of the file: 1, the mean of all, or as many as come; 1 to 64
    public init(
        _ called: String? = nil, path: String, literal: Bool? = nil, descriptor: Int? = nil, channels: Int? = nil,
        overwrite: Bool? = nil, autostart: Bool? = nil, limit: Double? = nil, publish: Bool? = nil,
        publishFrames: Int? = nil, interruptionLimit: Double? = nil, fill: Bool? = nil, preroll: Double? = nil,
        split: Double? = nil, splitSize: Double? = nil, stamp: Bool? = nil, bits: Int? = nil, float: Bool? = nil,
        dither: Dither? = nil, quality: Double? = nil, rate: Double? = nil, fileChannels: Int? = nil,
        inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "record",
            [
                ("path", said(path)), ("literal", said(literal)), ("descriptor", said(descriptor)),
                ("channels", said(channels)), ("overwrite", said(overwrite)), ("autostart", said(autostart)),
                ("limit", said(limit)), ("publish", said(publish)), ("publish_frames", said(publishFrames)),
                ("interruption_limit", said(interruptionLimit)), ("fill", said(fill)), ("preroll", said(preroll)),
                ("split", said(split)), ("split_size", said(splitSize)), ("stamp", said(stamp)), ("bits", said(bits)),
                ("float", said(float)), ("dither", said(dither)), ("quality", said(quality)), ("rate", said(rate)),
                ("file_channels", said(fileChannels)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `transcribe`: makes text of speech. What is said between two pauses is an item: a message of `text`, and the event
/// transcribe.final, with what the engine knows of its words. While it is said there are partial texts, each of which
/// replaces the one before. With `gated` an item is what is said while the control `gate` is above 0.5, and half a
/// second before. Engines: moonshine (`voicegraph models install moonshine-base-en`), pocketsphinx (Debian's packages
/// libpocketsphinx3 and pocketsphinx-en-us), sherpa with a model of your own of most languages, or a command.
/// Recognition never holds up the audio; when it falls behind, that is told.
public struct Transcribe: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// what recognizes; auto: moonshine where it is installed, else pocketsphinx
    public enum Engine: String, Sendable, CaseIterable {
        case auto
        case moonshine
        case pocketsphinx
        case sherpa
        case command
    }

    /// of which family the model of the engine sherpa is
    public enum Kind: String, Sendable, CaseIterable {
        case whisper
        case moonshine
        case transducer
        case canary
        case paraformer
        case dolphin
        case omnilingual
        case medasr
        case senseVoice = "sense-voice"
        case nemoCtc = "nemo-ctc"
        case zipformerCtc = "zipformer-ctc"
        case wenetCtc = "wenet-ctc"
        case telespeechCtc = "telespeech-ctc"
        case fireRed = "fire-red"
        case fireRedCtc = "fire-red-ctc"
        case streamingTransducer = "streaming-transducer"
        case streamingParaformer = "streaming-paraformer"
        case streamingZipformerCtc = "streaming-zipformer-ctc"
        case streamingNemoCtc = "streaming-nemo-ctc"
        case streamingTOne = "streaming-t-one"
    }

    /// what tells speech from other sound, without `gated`
    public enum Detector: String, Sendable, CaseIterable {
        case auto
        case silero
        case webrtc
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `engine`: what recognizes; auto: moonshine where it is installed, else pocketsphinx; "auto" without it
    /// - `model`: another model: the name of one for moonshine, a folder for pocketsphinx and sherpa
    /// - `kind`: of which family the model of the engine sherpa is
    /// - `language`: what is spoken; "en-US" without it
    /// - `partials`: whether there are partial texts, or the seconds between them; 0.4 without it
    /// - `silence`: how long a pause ends an item; in s, 0.1 to 10, 0.6 without it
    /// - `maxSegment`: how long an item may be; it is cut where it is quietest near its end, and goes on as the next;
    ///   in s, 2 to 30, 15 without it
    /// - `gated`: listens only while the control input `gate` is above 0.5, and each time is an item; false without
    ///   it
    /// - `detector`: what tells speech from other sound, without `gated`; "auto" without it
    /// - `behind`: what happens when recognition is `max_behind` seconds behind: what comes is heard as far as there
    ///   is room, or all that waits is dropped; "catch up" without it
    /// - `maxBehind`: how far it may be behind; in s, 1 to 600, 30 without it
    /// - `speakers`: only what these say becomes text, as the port `speaker` tells; "*": whoever is known. Where that
    ///   is not told, nothing
    /// - `minConfidence`: while the control input `strict` is above 0.5, what the engine is less sure of is no text;
    ///   unless it is said: 0.78 with moonshine, nothing with others; 0 to 1
    /// - `autostart`: listens from the first block on, not from `start`; true without it
    /// - `keyphrases`: pocketsphinx hears only these phrases
    /// - `threshold`: how unlike a keyphrase may be; 0 to 1, 1e-20 without it
    /// - `grammar`: a JSGF file; pocketsphinx hears only what it allows
    /// - `command`: reads WAV (16-bit mono, 16 kHz) and writes text: a line for the shell, or a program and its
    ///   arguments
    /// - `timeLimit`: how long the command may take for an item; in s, 0.1 to 3600, 30 without it
    public init(
        _ called: String? = nil, engine: Engine? = nil, model: String? = nil, kind: Kind? = nil,
        language: String? = nil, partials: SettingValue? = nil, silence: Double? = nil, maxSegment: Double? = nil,
        gated: Bool? = nil, detector: Detector? = nil, behind: String? = nil, maxBehind: Double? = nil,
        speakers: [String]? = nil, minConfidence: Double? = nil, autostart: Bool? = nil, keyphrases: [String]? = nil,
        threshold: Double? = nil, grammar: String? = nil, command: [String]? = nil, timeLimit: Double? = nil,
        inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "transcribe",
            [
                ("engine", said(engine)), ("model", said(model)), ("kind", said(kind)), ("language", said(language)),
                ("partials", said(partials)), ("silence", said(silence)), ("max_segment", said(maxSegment)),
                ("gated", said(gated)), ("detector", said(detector)), ("behind", said(behind)),
                ("max_behind", said(maxBehind)), ("speakers", said(speakers)), ("min_confidence", said(minConfidence)),
                ("autostart", said(autostart)), ("keyphrases", said(keyphrases)), ("threshold", said(threshold)),
                ("grammar", said(grammar)), ("command", said(command)), ("time_limit", said(timeLimit)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `wake`: opens a gate when it hears a phrase. The control output `open` is 1 for `seconds` after a phrase was
/// heard. With `until_turn` it stays open while the control input `turn` is above 0.5, and closes when that falls;
/// `seconds` is then how long it waits for a turn. `closed` is the opposite, for `mute` of a vad. "okay nabu", "hey
/// jarvis", "hey mycroft" and "alexa" have small models (`voicegraph models install micro-wakeword`), and so have
/// words of your own in the folder wake-words of the models. For all others PocketSphinx listens (Debian's packages
/// libpocketsphinx3 and pocketsphinx-en-us); a phrase of three or four syllables is told best from others.
public struct Wake: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// what listens; auto: a small model where the phrase has one, else pocketsphinx
    public enum Engine: String, Sendable, CaseIterable {
        case auto
        case microWakeword = "micro-wakeword"
        case pocketsphinx
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `phrase`: what opens the gate; several may
    /// - `engine`: what listens; auto: a small model where the phrase has one, else pocketsphinx; "auto" without it
    /// - `threshold`: how unlike a phrase may be: 1e-10 for short ones, down to 1e-50 for long ones; 0 to 1, 1e-20
    ///   without it
    /// - `seconds`: how long it stays open; in s, 0.1 to 3600, 8 without it
    /// - `untilTurn`: stays open until `turn` falls; false without it
    /// - `language`: what is spoken; "en-US" without it
    /// - `model`: a folder with another model of PocketSphinx
    public init(
        _ called: String? = nil, phrase: [String], engine: Engine? = nil, threshold: Double? = nil,
        seconds: Double? = nil, untilTurn: Bool? = nil, language: String? = nil, model: String? = nil,
        inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "wake",
            [
                ("phrase", said(phrase)), ("engine", said(engine)), ("threshold", said(threshold)),
                ("seconds", said(seconds)), ("until_turn", said(untilTurn)), ("language", said(language)),
                ("model", said(model)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}
