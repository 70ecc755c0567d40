// SPDX-License-Identifier: Apache-2.0
import NodeKit

// Made from what the types of nodes declare; a test compares the two, and says how to make it again.

/// `balance`: makes one side of a stereo signal quieter. The side that position points to, and both in the centre,
/// pass unchanged; the other is multiplied by 1 - |position|.
public struct Balance: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `position`: -1 is left only, 0 both, 1 right only; -1 to 1, 0 without it
    public init(
        _ called: String? = nil, position: Double? = nil, inFile: String = #fileID, atLine: UInt = #line,
        atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "balance", [("position", said(position))], file: inFile, line: atLine, column: atColumn)
    }
}

/// `bitcrush`: fewer bits and fewer samples.
public struct Bitcrush: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `bits`: bits per sample, for 2^bits levels; 1 to 24, 8 without it
    /// - `share`: share of the samples that is kept; 0.01 to 1, 1 without it
    public init(
        _ called: String? = nil, bits: Double? = nil, share: Double? = nil, inFile: String = #fileID,
        atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "bitcrush", [("bits", said(bits)), ("share", said(share))], file: inFile, line: atLine,
            column: atColumn)
    }
}

/// `compressor`: makes loud parts quieter. All channels get the gain that the loudest of them asks for. A sine of 0
/// dBFS peak has a level of 0 dBFS for the peak detector and of -3 dBFS for the RMS detector. Times are time
/// constants: 63 % of the way. With sidechain_channels it listens to the inputs of the bus sidechain and not to its
/// own. The series leaves makeup out.
public struct Compressor: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// what counts as the level
    public enum Detector: String, Sendable, CaseIterable {
        case peak
        case rms
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `thresholdDB`: level above which it makes quieter; in dB, -80 to 0, -18 without it
    /// - `ratio`: decibels above the threshold for each of which one remains; 1 to 100, 4 without it
    /// - `kneeDB`: width of the bend around the threshold; 0 is a corner; in dB, 0 to 24, 6 without it
    /// - `attackMs`: time constant of getting quieter; in ms, 0 to 2000, 20 without it
    /// - `releaseMs`: time constant of getting louder again; in ms, 0 to 5000, 100 without it
    /// - `makeupDB`: gain of the result; in dB, -60 to 60, 0 without it
    /// - `channels`: audio channels in and out; 1 to 64, 1 without it
    /// - `sidechainChannels`: inputs that it listens to in place of its own; 0: none; 0 to 64, 0 without it
    /// - `detector`: what counts as the level; "rms" without it
    /// - `rmsMs`: time constant of the mean square of the RMS detector; in ms, 0 to 1000, 10 without it
    /// - `lookaheadMs`: how early the gain begins to move; the sound is as much later; in ms, 0 to 50, 0 without it
    public init(
        _ called: String? = nil, thresholdDB: Double? = nil, ratio: Double? = nil, kneeDB: Double? = nil,
        attackMs: Double? = nil, releaseMs: Double? = nil, makeupDB: Double? = nil, channels: Int? = nil,
        sidechainChannels: Int? = nil, detector: Detector? = nil, rmsMs: Double? = nil, lookaheadMs: Double? = nil,
        inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "compressor",
            [
                ("threshold_db", said(thresholdDB)), ("ratio", said(ratio)), ("knee_db", said(kneeDB)),
                ("attack_ms", said(attackMs)), ("release_ms", said(releaseMs)), ("makeup_db", said(makeupDB)),
                ("channels", said(channels)), ("sidechain_channels", said(sidechainChannels)),
                ("detector", said(detector)), ("rms_ms", said(rmsMs)), ("lookahead_ms", said(lookaheadMs)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `deesser`: makes hissing consonants quieter. All channels get the gain that the loudest of them asks for, by the
/// peaks of what lies above frequency. Times are time constants: 63 % of the way.
public struct DeEsser: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// what is made quieter: the band above frequency (split) or everything (wide)
    public enum Mode: String, Sendable, CaseIterable {
        case split
        case wide
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `frequency`: where the band begins; at most 0.45 of the rate is used; in Hz, 1000 to 20000, 6000 without it
    /// - `thresholdDB`: peak level of the band above which it works; in dB, -80 to 0, -30 without it
    /// - `ratio`: decibels above the threshold for each of which one remains; 1 to 100, 4 without it
    /// - `rangeDB`: gain at which it stops to get quieter; in dB, -60 to 0, -12 without it
    /// - `attackMs`: time constant of getting quieter; in ms, 0 to 500, 1 without it
    /// - `releaseMs`: time constant of getting louder again; in ms, 0 to 2000, 50 without it
    /// - `channels`: audio channels in and out; 1 to 64, 1 without it
    /// - `mode`: what is made quieter: the band above frequency (split) or everything (wide); "split" without it
    public init(
        _ called: String? = nil, frequency: Double? = nil, thresholdDB: Double? = nil, ratio: Double? = nil,
        rangeDB: Double? = nil, attackMs: Double? = nil, releaseMs: Double? = nil, channels: Int? = nil,
        mode: Mode? = nil, inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "deesser",
            [
                ("frequency", said(frequency)), ("threshold_db", said(thresholdDB)), ("ratio", said(ratio)),
                ("range_db", said(rangeDB)), ("attack_ms", said(attackMs)), ("release_ms", said(releaseMs)),
                ("channels", said(channels)), ("mode", said(mode)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `delay`: delays its channels; may close a feedback loop. Give ms, or frames for a time that is exact at every
/// rate. Only the delayed signal comes out: mix it with the original for an echo. Times between two frames are
/// interpolated (within 0.001 dB up to 0.42 of the sample rate from 16 frames on; by polynomials below that). A
/// change keeps what is in the line. In a feedback loop it lasts at least one block.
public struct Delay: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// fade: a new time fades in within 20 ms; glide: it is reached by playing faster or slower
    public enum Change: String, Sendable, CaseIterable {
        case fade
        case glide
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `ms`: how long; at most longest_ms; in ms, 0 to 60000, 250 without it
    /// - `channels`: audio channels in and out; 1 to 64, 1 without it
    /// - `frames`: how long, exact to the frame; instead of ms; in frames, 0 to 11520000
    /// - `longestMs`: the longest time that ms can be turned to; 2000, or ms if that is more; in ms, 1 to 60000
    /// - `change`: fade: a new time fades in within 20 ms; glide: it is reached by playing faster or slower; "fade"
    ///   without it
    /// - `bend`: how much faster or slower a glide may play: 0.5 is from half to 1.5 times; 0.001 to 1, 0.5 without
    ///   it
    public init(
        _ called: String? = nil, ms: Double? = nil, channels: Int? = nil, frames: Int? = nil, longestMs: Double? = nil,
        change: Change? = nil, bend: Double? = nil, inFile: String = #fileID, atLine: UInt = #line,
        atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "delay",
            [
                ("ms", said(ms)), ("channels", said(channels)), ("frames", said(frames)),
                ("longest_ms", said(longestMs)), ("change", said(change)), ("bend", said(bend)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `denoise`: takes the noise out of a voice. A trained model tells the voice from everything else: `voicegraph
/// models install gtcrn`. What comes out is late by some 50 ms, which is told. Music is noise to it. `mix` adds what
/// came in, in time: 0.9 leaves noise at -20 dB, which sounds more natural. Recognizers hear better without it.
public struct Denoise: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `mix`: how much of what comes out is without noise; 0 to 1, 1 without it
    public init(
        _ called: String? = nil, mix: Double? = nil, inFile: String = #fileID, atLine: UInt = #line,
        atColumn: UInt = #column
    ) {
        node = PlacedNode(called, type: "denoise", [("mix", said(mix))], file: inFile, line: atLine, column: atColumn)
    }
}

/// `downmix`: 5.1 to stereo or mono, stereo to mono, by ITU-R BS.775. Channels of 5.1 come as in files: left, right,
/// centre, LFE, left surround, right surround. Stereo: L + 0.7071 C + 0.7071 Ls and R + 0.7071 C + 0.7071 Rs. Mono:
/// 0.7071 L + 0.7071 R + C + 0.5 Ls + 0.5 Rs. LFE is left out unless lfe_db says how loud it shall be. What is loud
/// in all channels may exceed full scale; normalize = true makes everything quieter so that it cannot.
public struct Downmix: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// what goes out; from stereo always mono
    public enum To: String, Sendable, CaseIterable {
        case stereo
        case mono
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `from`: what comes in; "5.1" without it
    /// - `to`: what goes out; from stereo always mono; "stereo" without it
    /// - `lfeDB`: level of the LFE channel in each output; -120 and below is none; in dB, -120 to 10, -120 without it
    /// - `normalize`: whether the factors of each output are scaled to a sum of 1; false without it
    public init(
        _ called: String? = nil, from: String? = nil, to: To? = nil, lfeDB: Double? = nil, normalize: Bool? = nil,
        inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "downmix",
            [("from", said(from)), ("to", said(to)), ("lfe_db", said(lfeDB)), ("normalize", said(normalize))],
            file: inFile, line: atLine, column: atColumn)
    }
}

/// `duck`: lowers what passes while something else sounds. It is down while a sample of the bus `key` reaches the
/// threshold, or the control input `control` is above 0.5, as vad.speech is; then for the hold time. Link what is to
/// be heard to `key`. Attack and release are the times of the whole way. All channels move together.
public struct Duck: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `depthDB`: gain while something else sounds; in dB, -120 to 0, -15 without it
    /// - `thresholdDB`: peak level of the key that lowers it; in dB, -100 to 0, -45 without it
    /// - `attackMs`: time until it is down; in ms, 1 to 5000, 80 without it
    /// - `holdMs`: how long it stays down after the last loud sample; in ms, 0 to 10000, 500 without it
    /// - `releaseMs`: time until it is up again; in ms, 1 to 20000, 600 without it
    /// - `channels`: audio channels in and out; 1 to 64, 1 without it
    /// - `keyChannels`: inputs that it listens to; 0 to 64, 1 without it
    public init(
        _ called: String? = nil, depthDB: Double? = nil, thresholdDB: Double? = nil, attackMs: Double? = nil,
        holdMs: Double? = nil, releaseMs: Double? = nil, channels: Int? = nil, keyChannels: Int? = nil,
        inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "duck",
            [
                ("depth_db", said(depthDB)), ("threshold_db", said(thresholdDB)), ("attack_ms", said(attackMs)),
                ("hold_ms", said(holdMs)), ("release_ms", said(releaseMs)), ("channels", said(channels)),
                ("key_channels", said(keyChannels)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `echo`: takes out of a microphone what it hears of the loudspeakers. Link the microphone to `in`, and to
/// `reference` what goes to the loudspeakers: the same signal, not what comes back. The way from one to the other is
/// learnt while something sounds, within a second or two, and again when it changes. Somebody who speaks at the same
/// time stays. While nothing sounds, the microphone passes. The reference waits as long as the device says that sound
/// takes to the loudspeaker; the rest of the delay, and the room, have to be shorter than `tail_ms`.
public struct Echo: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// what learns the echo: auto is kalman
    public enum Engine: String, Sendable, CaseIterable {
        case auto
        case kalman
        case speex
        case webrtc
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `engine`: what learns the echo: auto is kalman; "auto" without it
    /// - `referenceChannels`: channels of what is heard; two are mixed; 1 to 2, 1 without it
    /// - `tailMs`: how long the echo of a click lasts, with its delay; in ms, 20 to 1000, 250 without it
    /// - `delayMs`: how much later than is known the echo comes; rather less than it is, or it cannot be taken away;
    ///   in ms, -1000 to 1000, 0 without it
    /// - `suppression`: dB by which what the filter leaves of the echo is lowered at most; false: not at all; 40
    ///   without it
    /// - `noiseSuppression`: dB by which steady noise is lowered; false: not at all; false without it
    /// - `gainControl`: dBFS (root mean square) that speech is brought to; false: it stays as it is; false without it
    public init(
        _ called: String? = nil, engine: Engine? = nil, referenceChannels: Int? = nil, tailMs: Double? = nil,
        delayMs: Double? = nil, suppression: SettingValue? = nil, noiseSuppression: SettingValue? = nil,
        gainControl: SettingValue? = nil, inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "echo",
            [
                ("engine", said(engine)), ("reference_channels", said(referenceChannels)), ("tail_ms", said(tailMs)),
                ("delay_ms", said(delayMs)), ("suppression", said(suppression)),
                ("noise_suppression", said(noiseSuppression)), ("gain_control", said(gainControl)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `eq`: parametric equalizer of up to 32 bands. Each band is a filter as of type filter, with parameters
/// bandN_frequency, bandN_q and, for peak and shelves, bandN_gain_db. kinds = ["lowshelf", "peak", "highshelf"] makes
/// three bands. The bands' default frequencies divide the range of hearing evenly; ten bands are an octave apart,
/// 31.25 Hz to 16 kHz.
public struct EQ: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `band1Frequency`: corner or centre; at most 0.49 of the rate is used; in Hz, 1 to 96000, 44.194176 without
    ///   it
    /// - `band1Q`: quality: the higher, the narrower; 0.01 to 100, 0.7071 without it
    /// - `band1GainDB`: gain of peak and shelves; in dB, -36 to 36, 0 without it
    /// - `band2Frequency`: corner or centre; at most 0.49 of the rate is used; in Hz, 1 to 96000, 176.7767 without it
    /// - `band2Q`: quality: the higher, the narrower; 0.01 to 100, 0.7071 without it
    /// - `band2GainDB`: gain of peak and shelves; in dB, -36 to 36, 0 without it
    /// - `band3Frequency`: corner or centre; at most 0.49 of the rate is used; in Hz, 1 to 96000, 707.1068 without it
    /// - `band3Q`: quality: the higher, the narrower; 0.01 to 100, 0.7071 without it
    /// - `band3GainDB`: gain of peak and shelves; in dB, -36 to 36, 0 without it
    /// - `band4Frequency`: corner or centre; at most 0.49 of the rate is used; in Hz, 1 to 96000, 2828.4272 without
    ///   it
    /// - `band4Q`: quality: the higher, the narrower; 0.01 to 100, 0.7071 without it
    /// - `band4GainDB`: gain of peak and shelves; in dB, -36 to 36, 0 without it
    /// - `band5Frequency`: corner or centre; at most 0.49 of the rate is used; in Hz, 1 to 96000, 11313.709 without
    ///   it
    /// - `band5Q`: quality: the higher, the narrower; 0.01 to 100, 0.7071 without it
    /// - `band5GainDB`: gain of peak and shelves; in dB, -36 to 36, 0 without it
    /// - `bands`: how many; as many as kinds says, else 5; 1 to 32
    /// - `kinds`: the response of each band; peak without it
    /// - `channels`: audio channels in and out; 1 to 64, 1 without it
    public init(
        _ called: String? = nil, band1Frequency: Double? = nil, band1Q: Double? = nil, band1GainDB: Double? = nil,
        band2Frequency: Double? = nil, band2Q: Double? = nil, band2GainDB: Double? = nil, band3Frequency: Double? = nil,
        band3Q: Double? = nil, band3GainDB: Double? = nil, band4Frequency: Double? = nil, band4Q: Double? = nil,
        band4GainDB: Double? = nil, band5Frequency: Double? = nil, band5Q: Double? = nil, band5GainDB: Double? = nil,
        bands: Int? = nil, kinds: [String]? = nil, channels: Int? = nil, inFile: String = #fileID, atLine: UInt = #line,
        atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "eq",
            [
                ("band1_frequency", said(band1Frequency)), ("band1_q", said(band1Q)),
                ("band1_gain_db", said(band1GainDB)), ("band2_frequency", said(band2Frequency)),
                ("band2_q", said(band2Q)), ("band2_gain_db", said(band2GainDB)),
                ("band3_frequency", said(band3Frequency)), ("band3_q", said(band3Q)),
                ("band3_gain_db", said(band3GainDB)), ("band4_frequency", said(band4Frequency)),
                ("band4_q", said(band4Q)), ("band4_gain_db", said(band4GainDB)),
                ("band5_frequency", said(band5Frequency)), ("band5_q", said(band5Q)),
                ("band5_gain_db", said(band5GainDB)), ("bands", said(bands)), ("kinds", said(kinds)),
                ("channels", said(channels)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}
