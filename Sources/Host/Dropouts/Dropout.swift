// SPDX-License-Identifier: Apache-2.0
import Drivers
import Graph
import NodeKit

/// A gap in the sound, or a cycle that came so near to one that it was only luck: what was seen, and whose fault it was.
/// Several cycles in a row with one cause are one dropout. All times are in seconds.
public struct Dropout: Sendable, Equatable {
    /// Whose fault it was.
    public enum Cause: String, Sendable, CaseIterable {
        /// A node took too long.
        case node
        /// All nodes together take too long.
        case graph
        /// The audio thread was ready to run, or the whole process stood still, while others had the processors.
        case scheduling
        /// We were called late: another program before us in the server's graph was slow.
        case upstream
        /// The server itself, or the sound card's driver, was late.
        case server
        /// We were called and done in time; another program was late.
        case elsewhere
        /// The whole program was stopped, as by Ctrl-Z, and goes on.
        case stopped
    }

    /// Whose fault it was.
    public var cause: Cause
    /// Whether a server that was late tells of less than the tenth of a block, of cycles of ours that were in time: what a
    /// timer's thread wakes late by on a machine that is busy, which the buffer of a device makes up for.
    var isTrifle: Bool { cause == .server && took > 0 && took < 0.1 * period && lateness < 0.1 * period }

    /// The node at fault, or of several light ones that are timed together all; empty if it was none.
    public var nodes: [String]
    /// What the cause took in the worst cycle: the node, the graph, or the waiting.
    public var took: Double
    /// What 99 of 100 cycles of the node did not exceed before, or what the graph takes on average.
    public var usual: Double
    /// The time that the block lasts.
    public var period: Double
    /// How much too late we were called.
    public var lateness: Double
    /// How long we worked.
    public var busy: Double
    /// How long the audio thread waited for a processor, around that time.
    public var waited: Double
    /// Frames since the start, of the worst cycle; 0: it was not seen.
    public var position: UInt64
    /// Cycles that were late.
    public var cycles: Int
    /// Dropouts that the driver reported of them.
    public var xruns: Int

    /// Describes a dropout.
    public init(
        cause: Cause, nodes: [String] = [], took: Double, usual: Double = 0, period: Double, lateness: Double = 0,
        busy: Double = 0, waited: Double = 0, position: UInt64 = 0, cycles: Int = 1, xruns: Int = 0
    ) {
        self.cause = cause
        self.nodes = nodes
        self.took = took
        self.usual = usual
        self.period = period
        self.lateness = lateness
        self.busy = busy
        self.waited = waited
        self.position = position
        self.cycles = cycles
        self.xruns = xruns
    }

    /// What happened, in plain words.
    public var text: String {
        func milliseconds(_ seconds: Double) -> String { decimal(seconds * 1000) + " ms" }
        let block = "a block of \(milliseconds(period))"
        switch cause {
        case .node where nodes.count > 1:
            return "one of the nodes \(nodes.joined(separator: ", ")) took \(milliseconds(took)) of \(block)"
        case .node:
            return "node '\(nodes.first ?? "")' took \(milliseconds(took)) of \(block), usually \(milliseconds(usual))"
        case .graph:
            let most = nodes.first.map { ", most of it node '\($0)'" } ?? ""
            return "the graph took \(milliseconds(took)) of \(block)\(most)"
        case .scheduling:
            return "the audio thread was not scheduled for \(milliseconds(took)), in \(block)"
        case .upstream:
            return "not triggered by the server/upstream: called \(milliseconds(took)) late, in \(block); "
                + "a program before this one in the JACK graph was slow"
        case .server:
            return took > 0
                ? "not triggered by the server in time: it was \(milliseconds(took)) late, in \(block)"
                : "the server reports a dropout; this graph was done in time, and there is no other program"
        case .elsewhere:
            return "another JACK program was late; this graph was done \(milliseconds(took)) into \(block)"
        case .stopped:
            return "the program was stopped for " + (took < 1 ? milliseconds(took) : decimal(took) + " s")
        }
    }

    /// What to do about it.
    public var advice: String {
        switch cause {
        case .node: "give that node less to do, isolate it, or use larger blocks"
        case .graph: "use larger blocks or fewer nodes"
        case .scheduling: "see that the audio thread is realtime, and what else keeps the processors busy"
        case .upstream: "look at the programs that this one listens to (jack_lsp -c)"
        case .server: "use larger blocks, or give the server realtime priority"
        case .elsewhere: "look at the other JACK programs, or use larger blocks"
        case .stopped: "to be silent for a while, mute a node (voicegraph ctl mute NODE on) rather than press Ctrl-Z"
        }
    }

    /// As fields of an event or of JSON, with the text and the advice.
    public var fields: [String: SettingValue] {
        [
            "cause": .string(cause.rawValue), "nodes": .list(nodes.map { .string($0) }), "took": .number(took),
            "usual": .number(usual), "period": .number(period), "late": .number(lateness), "busy": .number(busy),
            "waited": .number(waited), "position": .integer(Int64(clamping: position)),
            "cycles": .integer(Int64(cycles)), "xruns": .integer(Int64(xruns)), "text": .string(text),
            "advice": .string(advice),
        ]
    }
}

extension NodeTiming {
    /// As fields of JSON, in microseconds.
    public var fields: [String: SettingValue] {
        [
            "blocks": .integer(Int64(clamping: count)), "minimum_us": .number(minimum * 1e6),
            "average_us": .number(average * 1e6), "p99_us": .number(p99 * 1e6), "maximum_us": .number(maximum * 1e6),
            "recent_average_us": .number(recent * 1e6), "recent_maximum_us": .number(recentMaximum * 1e6),
        ]
    }
}

/// With two digits after the point below ten, else one.
private func decimal(_ value: Double) -> String {
    let places = value < 10 ? 100.0 : 10
    let scaled = Int64((max(0, min(value, 1e12)) * places).rounded())
    let (whole, part) = (scaled / Int64(places), scaled % Int64(places))
    return "\(whole)." + (places > 10 && part < 10 ? "0" : "") + "\(part)"
}
