// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import Host

/// The same work by a node of ours and by an LV2 plugin: entries of a graph file.
private struct Match {
    var item: String
    var channels = 1
    /// What is linked between `in` and `out`.
    var own: [String]
    /// Other nodes of ours and links.
    var others = ""
    var links: [String] = []
    /// The last part of the plugin's URI is its name.
    var plugin: String
    var settings: [String]

    var peer: String { String(plugin.split(separator: "/").last ?? "") }
}

private let swh = "http://plugin.org.uk/swh-plugins/"
private let mda = "http://drobilla.net/plugins/mda/"

private let matches = [
    Match(
        item: "low pass, 12 dB/octave", own: [#"type = "filter""#, #"kind = "lowpass""#, "frequency = 1000"],
        plugin: swh + "buttlow_iir", settings: ["cutoff = 1000", "resonance = 1.41"]),
    Match(
        item: "low pass, 48 dB/octave",
        own: [#"type = "filter""#, #"kind = "lowpass""#, "slope = 48", "frequency = 1000"],
        plugin: swh + "lowpass_iir", settings: ["cutoff = 1000", "stages = 4"]),
    Match(
        item: "equalizer, 1 peak",
        own: [#"type = "filter""#, #"kind = "peak""#, "frequency = 1000", "q = 1.4", "gain_db = 6"],
        plugin: swh + "singlePara", settings: ["fc = 1000", "bw = 1", "gain = 6"]),
    Match(
        item: "equalizer, 3 peaks, 2 shelves",
        own: [
            #"type = "eq""#, #"kinds = ["lowshelf", "peak", "peak", "peak", "highshelf"]"#, "band1_gain_db = 3",
            "band2_gain_db = 3", "band3_gain_db = -3", "band4_gain_db = 3", "band5_gain_db = -3",
        ],
        plugin: swh + "triplePara",
        settings: [
            "gain_L = 3", "fc_L = 63", "gain_1 = 3", "fc_1 = 250", "gain_2 = -3", "fc_2 = 1000", "gain_3 = 3",
            "fc_3 = 4000", "gain_H = -3", "fc_H = 8000",
        ]),
    Match(
        item: "compressor, 2 channels", channels: 2,
        own: [#"type = "compressor""#, "threshold_db = -18", "ratio = 4", "attack_ms = 20", "release_ms = 100"],
        plugin: swh + "sc4",
        settings: ["threshold = -18", "ratio = 4", "knee = 3", "attack = 20", "release = 100", "rms_peak = 0"]),
    Match(
        item: "limiter of true peaks, 2 channels", channels: 2,
        own: [#"type = "limiter""#, "ceiling_db = -9", "release_ms = 100"],
        plugin: "http://gareus.org/oss/lv2/dpl#stereo",
        settings: ["threshold = -9", "release = 0.1", "truepeak = 1"]),
    Match(
        item: "limiter of true peaks beside LSP, 2 channels", channels: 2,
        own: [#"type = "limiter""#, "ceiling_db = -9", "release_ms = 100"],
        plugin: "http://lsp-plug.in/plugins/lv2/limiter_stereo",
        settings: ["th = 0.355", "rt = 20", "ovs = 15", "boost = 0"]),
    Match(
        item: "limiter of samples, 2 channels", channels: 2,
        own: [#"type = "limiter""#, "ceiling_db = -9", "release_ms = 100", "true_peak = false"],
        plugin: swh + "fastLookaheadLimiter", settings: ["limit = -9", "release = 0.1"]),
    Match(
        item: "gate", own: [#"type = "gate""#, "threshold_db = -30", "hold_ms = 50", "release_ms = 50"],
        plugin: swh + "gate", settings: ["threshold = -30", "hold = 50", "decay = 50", "range = -60"]),
    Match(
        item: "de-esser, 2 channels", channels: 2, own: [#"type = "deesser""#, "threshold_db = -30"],
        plugin: mda + "DeEss", settings: ["thresh = 0.4"]),
    Match(
        item: "delay, whole frames", own: [#"type = "delay""#, "ms = 250"], plugin: swh + "delay_n",
        settings: ["delay_time = 0.25"]),
    Match(
        item: "delay, between frames", own: [#"type = "delay""#, "ms = 250.01"], plugin: swh + "delay_c",
        settings: ["delay_time = 0.25001"]),
    Match(
        item: "tremolo", own: [#"type = "gain""#],
        others: "[node.lfo]\ntype = \"lfo\"\nrate = 5\ndepth = 6\noffset = -6\n", links: ["lfo -> node.gain_db"],
        plugin: swh + "ringmod_1i1o1l", settings: ["depthp = 1", "freq = 5"]),
]

/// Our signal processors beside LV2 plugins of their kind, each as the only node of a graph, with the same signal in the
/// same blocks. What an empty graph takes, the copy of the signal into it included, does not count.
func dspBenchmark(_ effort: Effort) throws -> [Row] {
    let scratch = try Scratch()
    let signal = bursts(frames: effort.isQuick ? 1 << 15 : 1 << 17)
    var rows: [Row] = []
    for match in matches {
        progress(match.item)
        for block in [128, 1024] {
            let item = "\(match.item), blocks of \(block)"
            func player(_ entries: [String]?, others: String = "", links: [String] = []) throws -> SignalPlayer {
                let text = graphText(match.channels, entries, others: others, links: links)
                return try SignalPlayer(try scratch.file("dsp.conf", text), signal, block: block)
            }
            let own = match.own + ["channels = \(match.channels)"]
            var players = try [player(nil), player(own, others: match.others, links: match.links)]
            let hasPeer = try isInstalled(match, scratch)
            if hasPeer { players.append(try player(entries(match) + match.settings)) }
            let samples = try interleaved(effort.repetitions, players.map { player in { try player.play() } })
            let costs = samples.dropFirst().map { zip($0, samples[0]).map { $0 - $1 } }
            let row = Row(item, "voicegraph", costs[0], "ns/frame")
            rows.append(hasPeer ? row.compared(costs[0], with: costs[1], match.peer) : row)
            rows.append(hasPeer ? Row(item, match.peer, costs[1], "ns/frame") : .missing(item, match.peer))
        }
    }
    return rows
}

/// The plugin, with its default parameters.
private func entries(_ match: Match) -> [String] { [#"type = "lv2""#, "plugin = \"\(match.plugin)\""] }

private func isInstalled(_ match: Match, _ scratch: Scratch) throws -> Bool {
    let file = try scratch.file("dsp.conf", graphText(match.channels, entries(match)))
    return try PreparedGraph.load(path: file, registry: NodeRegistry()).0 != nil
}

/// A graph of at most one node that hears `in` and is heard at `out`.
private func graphText(_ channels: Int, _ entries: [String]?, others: String = "", links: [String] = []) -> String {
    let all = [entries == nil ? "in -> out" : "in -> node -> out"] + links
    var text = "[graph]\nname = \"vg-dsp\"\nlinks = [\(all.map { "\"\($0)\"" }.joined(separator: ", "))]\n"
    for end in [("in", "input"), ("out", "output")] {
        text += "[node.\(end.0)]\ntype = \"\(end.1)\"\nchannels = \(channels)\n"
    }
    // Guards cost each of them the same, and are measured elsewhere.
    if let entries { text += "[node.node]\nguard = false\n\(entries.joined(separator: "\n"))\n" }
    return text + others
}

/// White noise that comes and goes four times a second, from -60 to -3 dBFS, so that whatever has a threshold crosses it.
private func bursts(frames: Int) -> [Float] {
    var state: UInt32 = 1
    return (0..<frames).map { frame in
        state = state &* 1_664_525 &+ 1_013_904_223
        let level = -31.5 + 28.5 * sin(2 * .pi * 4 * Double(frame) / 48000)
        return Float(Double(Int32(bitPattern: state)) / 2_147_483_648 * pow(10, level / 20))
    }
}

/// A graph that plays a signal again and again, the same in all its channels.
private final class SignalPlayer {
    private let signal: [Float]
    private let block: Int
    private let graph: RunningGraph
    private let driver: OfflineDriver
    private let inputs: [UnsafeMutableBufferPointer<Float>]
    private let output: UnsafeMutableBufferPointer<Float>

    init(_ file: String, _ signal: [Float], block: Int) throws {
        let (prepared, diagnostics) = try PreparedGraph.load(path: file, registry: NodeRegistry())
        guard let prepared else { throw BenchmarkError("\(diagnostics)") }
        if !prepared.degraded.isEmpty { throw BenchmarkError("\(prepared.degraded)") }
        (self.signal, self.block) = (signal, block)
        driver = OfflineDriver(rate: 48000, maxBlock: block)
        graph = try RunningGraph.start(prepared, on: driver)
        var inputs: [UnsafeMutableBufferPointer<Float>] = []
        while let input = driver.buffer(of: "in_\(inputs.count + 1)") { inputs.append(input) }
        guard !inputs.isEmpty, let output = driver.buffer(of: "out_1") else {
            throw BenchmarkError("the graph has no ports")
        }
        (self.inputs, self.output) = (inputs, output)
    }

    deinit { graph.stop() }

    /// Nanoseconds of processor time for a frame, on average.
    func play() throws -> Double {
        graph.pump()
        var loudest: Float = 0
        let time = signal.withUnsafeBufferPointer { samples in
            processorTime {
                for start in stride(from: 0, to: samples.count, by: block) {
                    for input in inputs {
                        memcpy(input.baseAddress!, samples.baseAddress! + start, block * MemoryLayout<Float>.stride)
                    }
                    driver.process(frames: block)
                    loudest = max(loudest, abs(output[block - 1]))
                }
            }
        }
        if loudest == 0 { throw BenchmarkError("a graph is silent") }
        return time / Double(signal.count)
    }
}
