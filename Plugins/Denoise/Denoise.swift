// SPDX-License-Identifier: Apache-2.0
import Frames
import Glibc
import NodeKit

/// Takes the noise out of a voice.
final class Denoise: AudioNode {
    static let calls: NodeCalls = [.poll, .latency, .wait]
    static let descriptor = NodeDescriptor(
        "denoise", "takes the noise out of a voice",
        doc: """
            A trained model tells the voice from everything else: `voicegraph models install gtcrn`. What comes out is late \
            by some 50 ms, which is told. Music is noise to it. `mix` adds what came in, in time: 0.9 leaves noise at \
            -20 dB, which sounds more natural. Recognizers hear better without it.
            """,
        ports: Port.audio(VG_INPUT, channels: 1, doc: "the voice with noise")
            + Port.audio(VG_OUTPUT, channels: 1, doc: "the voice"),
        parameters: Knob.all,
        series: [Series("reduction", "how much quieter it became", unit: "dB", rate: 10, width: 1)],
        needs: [Need(["onnxruntime", Gtcrn.model])], otherNames: ["denoiser", "rnnoise", "noise-suppression"],
        flags: VG_IN_PLACE, process: { Denoise.process($0, $1, $2) })

    enum Knob: Int, ParameterList {
        case mix

        var parameter: Parameter {
            switch self {
            case .mix: Parameter("mix", "how much of what comes out is without noise", 0...1, default: 1)
            }
        }
    }

    struct Processor: BitwiseCopyable {
        let worker: FrameWorker.Processor
        /// What came in, as long ago as what comes out: a ring whose length is a power of two.
        let line: AudioArray<Float>
        let latency: Int
        var written = 0
    }

    /// Beyond +24 dBFS nothing is sound.
    private static let loudest: Float = 16
    /// Seconds that a frame may take to compute.
    private static let patience = 0.012

    private let host: NodeHost
    private let model: Gtcrn
    private var worker: FrameWorker?
    private var line: AudioArrayMemory<Float>?
    private var isOffline = false

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        model = try Gtcrn(models: host.modelFolder)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        worker?.end()
        isOffline = preparation.offline
        try model.reset()
        let hop = max(8, Int((Gtcrn.hop * preparation.rate).rounded()))
        let cleaning = try Cleaning(hop, model, host)
        let worker = FrameWorker(
            preparation, inputs: 1, frame: hop, time: Int(Self.patience * preparation.rate), delay: hop
        ) { inputs, output, end in cleaning.work(inputs[0], &output, end) }
        var length = 1
        while length < worker.latency + preparation.maxBlock { length *= 2 }
        let line = AudioArrayMemory<Float>(repeating: 0, count: length)
        (self.worker, self.line) = (worker, line)
        return Processor(worker: worker.processor, line: line.array, latency: worker.latency)
    }

    func activate() {
        // Offline it works where it is waited for.
        if isOffline { return }
        do throws(NodeError) { try worker?.start() } catch { host.health(.failed(error.message)) }
    }

    func deactivate() { worker?.end() }

    func wait(frames: Int) { if isOffline { worker?.work() } }

    var latency: Int { worker?.latency ?? 0 }

    func poll() {
        guard let frames = worker?.takeLost(), frames > 0 else { return }
        host.count("dropped", frames)
        host.log(VG_LOG_WARNING, "\(frames) frames were lost: the processor is busy with something else")
    }

    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let (mask, frames) = (state.line.count &- 1, block.frames)
        let input = block.input(0)
        for frame in 0..<frames {
            let sample = input[frame]
            // False also for what is no number.
            state.line[(state.written &+ frame) & mask] = sample.magnitude <= loudest ? sample : 0
        }
        state.worker.process(block)
        let mix = block[Knob.mix]
        if !mix.isSteady || mix.value != 1 {
            let output = block.output(0)
            for frame in 0..<frames {
                let dry = state.line[(state.written &+ frame &- state.latency) & mask]
                output[frame] = dry + (output[frame] - dry) * mix[frame]
            }
        }
        state.written &+= frames
    }

    /// What the worker does with a hop. The worker's thread only, or whoever drives time.
    private final class Cleaning {
        private let model: Gtcrn
        private let host: NodeHost
        private var frames: SpectralFrames
        private var samples: [Float]
        /// Of the hops since it was told: how many, and the sums of squares of what came and of what was given.
        private var (count, heard, given) = (0, Float(0), Float(0))
        private var isBroken = false

        init(_ hop: Int, _ model: Gtcrn, _ host: NodeHost) throws(NodeError) {
            (self.model, self.host) = (model, host)
            frames = try SpectralFrames(hop: hop)
            samples = [Float](repeating: 0, count: hop)
        }

        func work(_ input: [Float], _ output: inout [Float], _ end: UInt64) {
            var broken = 0
            for place in samples.indices {
                let sample = input[place]
                let isSound = sample.magnitude <= Denoise.loudest
                samples[place] = isSound ? sample : 0
                broken += isSound ? 0 : 1
                heard += samples[place] * samples[place]
            }
            if broken > 0 { host.count("not a number", broken) }
            frames.take(samples)
            // Without the model the voice is better with its noise than not at all.
            if !isBroken {
                do throws(NodeError) { try model.clean(&frames.spectrum) } catch {
                    isBroken = true
                    host.health(.failed("the noise stays: \(error.message)"))
                }
            }
            frames.give(&output)
            given += output.reduce(0) { $0 + $1 * $1 }
            count += 1
            guard count >= 6 else { return }
            if heard > 1e-9 { host.publish([[10 * log10f(heard / max(given, heard * 1e-6))]], at: end) }
            (count, heard, given) = (0, 0, 0)
        }
    }
}

/// What the host looks for in the shared object. [control]
@c(vg_plugin_entry) public func pluginEntry(_ hostABI: UInt32) -> UnsafePointer<vg_plugin>? {
    exportPlugin(Denoise.self, name: "denoise", version: "1.0", license: "Apache-2.0", hostABI: hostABI)
}
