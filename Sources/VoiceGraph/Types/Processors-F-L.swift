// SPDX-License-Identifier: Apache-2.0
import NodeKit

// Made from what the types of nodes declare; a test compares the two, and says how to make it again.

/// `filter`: low and high pass, shelves, peak, notch, band pass, all pass. The responses of the Audio EQ Cookbook;
/// bandpass has 0 dB at its peak. At q = 0.7071 lowpass and highpass are Butterworth filters, of higher order with a
/// slope above 12, and shelves have no hump. gain_db is there for peak and shelves only. All parameters may move at
/// any speed. Infinite samples and NaN count as 0.
public struct Filter: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// the response
    public enum Kind: String, Sendable, CaseIterable {
        case lowpass
        case highpass
        case lowshelf
        case highshelf
        case peak
        case notch
        case bandpass
        case allpass
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `kind`: the response
    /// - `frequency`: corner or centre; at most 0.49 of the rate is used; in Hz, 1 to 96000, 1000 without it
    /// - `q`: quality: the higher, the narrower; 0.01 to 100, 0.7071 without it
    /// - `gainDB`: gain of peak and shelves; in dB, -36 to 36, 0 without it
    /// - `slope`: of lowpass and highpass, per octave: 12, 24, 36 or 48; in dB, 12 to 48, 12 without it
    /// - `channels`: audio channels in and out; 1 to 64, 1 without it
    public init(
        _ called: String? = nil, kind: Kind, frequency: Double? = nil, q: Double? = nil, gainDB: Double? = nil,
        slope: Int? = nil, channels: Int? = nil, inFile: String = #fileID, atLine: UInt = #line,
        atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "filter",
            [
                ("kind", said(kind)), ("frequency", said(frequency)), ("q", said(q)), ("gain_db", said(gainDB)),
                ("slope", said(slope)), ("channels", said(channels)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `gain`: louder or quieter. Multiplies every channel by gain_db. A change is a ramp that is even in decibels.
public struct Gain: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `gainDB`: gain of all channels; -120 and below is silence; in dB, -120 to 36, 0 without it
    /// - `channels`: audio channels in and out; 1 to 64, 1 without it
    public init(
        _ called: String? = nil, gainDB: Double? = nil, channels: Int? = nil, inFile: String = #fileID,
        atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "gain", [("gain_db", said(gainDB)), ("channels", said(channels))], file: inFile, line: atLine,
            column: atColumn)
    }
}

/// `gate`: silences what is quieter than a threshold. All channels open and close together, by the magnitude of their
/// samples. hold_ms should be longer than half a period of the lowest sound: a sine is quiet at every zero. Attack
/// and release are time constants: 63 % of the way.
public struct Gate: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `thresholdDB`: peak level that opens it; in dB, -100 to 0, -45 without it
    /// - `hysteresisDB`: how far below the threshold the level must fall until it closes; in dB, 0 to 40, 6 without
    ///   it
    /// - `attackMs`: time constant of opening; in ms, 0 to 2000, 1 without it
    /// - `holdMs`: how long it stays open after the last loud sample; in ms, 0 to 5000, 100 without it
    /// - `releaseMs`: time constant of closing; in ms, 0 to 5000, 100 without it
    /// - `rangeDB`: gain while it is closed; -120 is silence; in dB, -120 to 0, -60 without it
    /// - `channels`: audio channels in and out; 1 to 64, 1 without it
    public init(
        _ called: String? = nil, thresholdDB: Double? = nil, hysteresisDB: Double? = nil, attackMs: Double? = nil,
        holdMs: Double? = nil, releaseMs: Double? = nil, rangeDB: Double? = nil, channels: Int? = nil,
        inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "gate",
            [
                ("threshold_db", said(thresholdDB)), ("hysteresis_db", said(hysteresisDB)),
                ("attack_ms", said(attackMs)), ("hold_ms", said(holdMs)), ("release_ms", said(releaseMs)),
                ("range_db", said(rangeDB)), ("channels", said(channels)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `limiter`: keeps the true peak below a ceiling. All channels get the gain that the loudest of them asks for. What
/// stays 0.15 dB below the ceiling passes unchanged. The sound is later by lookahead_ms and 35 frames; the host makes
/// up for it. With true_peak = false it looks at the samples alone, in half of the time, and is later by lookahead_ms
/// less a frame.
public struct Limiter: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `ceilingDB`: true peak, in dBTP, or sample peak that is not exceeded; in dB, -40 to 0, -1 without it
    /// - `releaseMs`: time constant of getting louder again; in ms, 1 to 5000, 100 without it
    /// - `channels`: audio channels in and out; 1 to 64, 1 without it
    /// - `lookaheadMs`: how early the gain begins to fall; at least 16 frames; in ms, 0.1 to 50, 5 without it
    /// - `truePeak`: whether what lies between the samples stays below the ceiling too; true without it
    public init(
        _ called: String? = nil, ceilingDB: Double? = nil, releaseMs: Double? = nil, channels: Int? = nil,
        lookaheadMs: Double? = nil, truePeak: Bool? = nil, inFile: String = #fileID, atLine: UInt = #line,
        atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "limiter",
            [
                ("ceiling_db", said(ceilingDB)), ("release_ms", said(releaseMs)), ("channels", said(channels)),
                ("lookahead_ms", said(lookaheadMs)), ("true_peak", said(truePeak)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}
