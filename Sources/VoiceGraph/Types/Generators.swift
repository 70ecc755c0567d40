// SPDX-License-Identifier: Apache-2.0
import NodeKit

// Made from what the types of nodes declare; a test compares the two, and says how to make it again.

/// `file`: plays an audio file. Has as many outputs as the file has channels, or as `channels` says: a mono file is
/// then played on all, any other on one as the mean of its channels. A file at the graph's own rate is passed bit for
/// bit, others are resampled. `start` and `end` choose a part of it, also for `loop`, to the frame.
public struct File: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `path`: what to play: WAV, FLAC, OGG, MP3, AIFF, ...
    /// - `loop`: starts again at the end; false without it
    /// - `start`: where in the file to begin; in s, 0 to 1000000, 0 without it
    /// - `end`: where in the file to end; unset: its end; in s, 0 to 1000000
    /// - `channels`: outputs, whatever the file has; 1 to 64
    public init(
        _ called: String? = nil, path: String, loop: Bool? = nil, start: Double? = nil, end: Double? = nil,
        channels: Int? = nil, inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "file",
            [
                ("path", said(path)), ("loop", said(loop)), ("start", said(start)), ("end", said(end)),
                ("channels", said(channels)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `tone`: test signals: sine, square, saw, triangle, sweep, noise, pink, impulse. level_db is the peak level.
/// square, saw and triangle are band-limited: harmonics up to 0.455 of the sample rate have the amplitudes of the
/// ideal wave, aliases are below -90 dB; level_db is the peak of the ideal wave, and the edges of square and saw
/// swing up to 2.1 dB beyond it. The frequency of a sweep at the time t is start * (end / start)^(t / seconds). pink
/// falls by 3 dB an octave (within 0.2 dB from 20 Hz to 0.475 of the rate); its rms is 15 dB below level_db, which
/// its peaks all but never reach. What is beyond half the rate is silent, and the log says so. All channels carry the
/// same signal, but for noise and pink, where each has its own.
public struct Tone: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// the kind of signal
    public enum Wave: String, Sendable, CaseIterable {
        case sine
        case square
        case saw
        case triangle
        case sweep
        case noise
        case pink
        case impulse
        case silence
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `frequency`: of sine, square, saw and triangle; silent beyond half the rate; in Hz, 0.1 to 96000, 440
    ///   without it
    /// - `levelDB`: peak level in dBFS; -120 and below is silence; in dB, -120 to 0, -20 without it
    /// - `wave`: the kind of signal; "sine" without it
    /// - `channels`: audio channels out; 1 to 64, 1 without it
    /// - `start`: where a sweep begins; in Hz, 0.1 to 96000, 20 without it
    /// - `end`: where a sweep ends; in Hz, 0.1 to 96000, 20000 without it
    /// - `seconds`: how long a sweep takes; in s, 0.01 to 3600, 10 without it
    /// - `repeat`: whether a sweep begins again; if not, it fades in its last 5 ms; true without it
    /// - `period`: from impulse to impulse; the first is at once; in s, 0.0001 to 3600, 1 without it
    /// - `seed`: of noise and pink: another seed, another noise; 1 without it
    public init(
        _ called: String? = nil, frequency: Double? = nil, levelDB: Double? = nil, wave: Wave? = nil,
        channels: Int? = nil, start: Double? = nil, end: Double? = nil, seconds: Double? = nil, `repeat`: Bool? = nil,
        period: Double? = nil, seed: Int? = nil, inFile: String = #fileID, atLine: UInt = #line,
        atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "tone",
            [
                ("frequency", said(frequency)), ("level_db", said(levelDB)), ("wave", said(wave)),
                ("channels", said(channels)), ("start", said(start)), ("end", said(end)), ("seconds", said(seconds)),
                ("repeat", said(`repeat`)), ("period", said(period)), ("seed", said(seed)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `tts`: speaks text. Speaks what `text` says when it starts, then every message that arrives, as the action `speak`
/// does: a message stops the speech before it unless `queue` is set, a blank one only stops. Messages of one item are
/// spoken one after another; what comes of one that was stopped is dropped. Events tell what is heard, at the frame
/// at which it is: the latency of the graph behind the node and of the device counts. Link `speech` of a vad to
/// `hold`, and the voice is silent while somebody speaks.
public struct TTS: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// what speaks; hibari and piper need models (`voicegraph models install hibari`, `piper-joe`); auto: hibari or
    /// piper where a voice of theirs speaks what is wanted, else espeak-ng
    public enum Engine: String, Sendable, CaseIterable {
        case auto
        case espeakNg = "espeak-ng"
        case hibari
        case flite
        case piper
        case command
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `text`: spoken once when the graph starts; "" without it
    /// - `language`: used when no voice is given, as in en-US
    /// - `engine`: what speaks; hibari and piper need models (`voicegraph models install hibari`, `piper-joe`); auto:
    ///   hibari or piper where a voice of theirs speaks what is wanted, else espeak-ng; "auto" without it
    /// - `command`: of the engine command: a program and its arguments, or a line for the shell; it reads a text from
    ///   its standard input and writes a WAV file to its standard output, once a sentence
    /// - `timeLimit`: how long the command may take for a sentence; in s, 0.1 to 3600, 30 without it
    /// - `queue`: texts wait for their turn instead of stopping one another; false without it
    /// - `holdAfterMs`: `hold` shorter than this does nothing, as a cough; in ms, 0 to 5000, 0 without it
    /// - `holdReleaseMs`: what is held goes on so long after `hold` fell; in ms, 0 to 30000, 500 without it
    /// - `duckOthers`: lowers what other programs play through PipeWire by 12 dB while it speaks, but no calls,
    ///   notifications and screen readers; with a JACK server lead them through a duck node; false without it
    /// - `voice`: voice of the engine or language tag, as in en-GB; of espeak-ng with +f3 a variant; without one
    ///   heart, en-us, kal16 or the first that is installed
    /// - `rate`: words per minute (80 to 450), or a multiple of 175 (0.46 to 2.57); 0.46 to 450, 175 without it
    /// - `pitch`: of the voice, 50 is its own; piper's cannot be set; 0 to 99, 50 without it
    /// - `volume`: of the voice, 100 is its own; it is limited to full scale; in %, 0 to 200, 100 without it
    /// - `ssml`: whether texts are SSML; auto: those that begin with <speak>; hibari, flite and piper do not
    ///   understand it; "auto" without it
    public init(
        _ called: String? = nil, text: String? = nil, language: String? = nil, engine: Engine? = nil,
        command: [String]? = nil, timeLimit: Double? = nil, queue: Bool? = nil, holdAfterMs: Double? = nil,
        holdReleaseMs: Double? = nil, duckOthers: Bool? = nil, voice: String? = nil, rate: Double? = nil,
        pitch: Int? = nil, volume: Int? = nil, ssml: SettingValue? = nil, inFile: String = #fileID,
        atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "tts",
            [
                ("text", said(text)), ("language", said(language)), ("engine", said(engine)),
                ("command", said(command)), ("time_limit", said(timeLimit)), ("queue", said(queue)),
                ("hold_after_ms", said(holdAfterMs)), ("hold_release_ms", said(holdReleaseMs)),
                ("duck_others", said(duckOthers)), ("voice", said(voice)), ("rate", said(rate)), ("pitch", said(pitch)),
                ("volume", said(volume)), ("ssml", said(ssml)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}
