// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// Fewer channels from more by Recommendation ITU-R BS.775-3 (2012), Annex 4, Table 2: centre and surrounds at -3 dB in
/// stereo; left and right at -3 dB, centre at 0 dB, surrounds at -6 dB in mono.
final class Downmix: AudioNode {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "downmix", "5.1 to stereo or mono, stereo to mono, by ITU-R BS.775",
        doc:
            "Channels of 5.1 come as in files: left, right, centre, LFE, left surround, right surround. Stereo: L + 0.7071 "
            + "C + 0.7071 Ls and R + 0.7071 C + 0.7071 Rs. Mono: 0.7071 L + 0.7071 R + C + 0.5 Ls + 0.5 Rs. LFE is left "
            + "out unless lfe_db says how loud it shall be. What is loud in all channels may exceed full scale; "
            + "normalize = true makes everything quieter so that it cannot.",
        ports: ports(from: 6, to: 2), settings: [from, to, lfe, normalize], flags: VG_IN_PLACE,
        process: { Downmix.process($0, $1, $2) })

    private static let from = Key.choice("from", "what comes in", default: Source.surround)
    private static let to = Key.choice("to", "what goes out; from stereo always mono", default: Target.stereo)
    private static let lfe = Key.number(
        "lfe_db", "level of the LFE channel in each output; -120 and below is none", default: -120, in: -120...10,
        unit: "dB")
    private static let normalize = Key.flag(
        "normalize", "whether the factors of each output are scaled to a sum of 1", default: false)

    private enum Source: String, CaseIterable {
        case surround = "5.1"
        case stereo
    }

    private enum Target: String, CaseIterable {
        case stereo, mono
    }

    struct Processor: BitwiseCopyable {
        /// Of each input in the first output, then in the second.
        var factors: AudioArray<Float>
    }

    let layout: Layout
    private let factors: AudioArrayMemory<Float>

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        let inputs = try settings[Self.from] == .surround ? 6 : 2
        let target = try settings[Self.to]
        let outputs = target == .mono || (inputs == 2 && !settings.gives(Self.to)) ? 1 : 2
        guard outputs < inputs else {
            throw NodeError("stereo is stereo already", hint: "use mono", key: Self.to.name)
        }
        let decibels = try settings[Self.lfe]
        guard inputs == 6 || !settings.gives(Self.lfe) else {
            throw NodeError("stereo has no LFE channel", hint: "leave out lfe_db", key: Self.lfe.name)
        }
        let lfe = decibels <= Double(silenceDB) ? 0 : pow(10, decibels / 20)
        var table = Self.table(inputs, outputs, lfe)
        if try settings[Self.normalize] {
            table = table.map { row in row.map { $0 / row.reduce(0, +) } }
        }
        factors = AudioArrayMemory(table.flatMap { $0.map { Float($0) } })
        layout = Layout(ports: Self.ports(from: inputs, to: outputs))
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor { Processor(factors: factors.array) }

    private static func table(_ inputs: Int, _ outputs: Int, _ lfe: Double) -> [[Double]] {
        let root = 0.5.squareRoot()
        if inputs == 2 { return [[root, root]] }
        if outputs == 1 { return [[root, root, 1, lfe, 0.5, 0.5]] }
        return [[1, 0, root, lfe, root, 0], [0, 1, root, lfe, 0, root]]
    }

    private static func ports(from inputs: Int, to outputs: Int) -> [Port] {
        let names = ["left", "right", "centre", "LFE", "left surround", "right surround"]
        let ins = (0..<inputs).map { Port(VG_AUDIO_PORT, VG_INPUT, "in_\($0 + 1)", doc: names[$0]) }
        if outputs == 1 { return ins + Port.audio(VG_OUTPUT, channels: 1, doc: "all channels together") }
        return ins + (0..<outputs).map { Port(VG_AUDIO_PORT, VG_OUTPUT, "out_\($0 + 1)", doc: names[$0]) }
    }
}

extension Downmix {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let frames = block.frames
        for channel in block.outputs {
            let output = block.output(channel)
            let first = channel * block.inputs.count
            let factors = state.factors.part(first..<first + block.inputs.count)
            // The input of the same number first, since the output may be its buffer; no other output needs that input.
            let own = block.input(channel)
            for frame in 0..<frames { output[frame] = own[frame] * factors[channel] }
            var silent = block.isSilent(channel)
            for index in block.inputs where index != channel && factors[index] != 0 && !block.isSilent(index) {
                let input = block.input(index)
                let factor = factors[index]
                for frame in 0..<frames { output[frame] += input[frame] * factor }
                silent = false
            }
            if silent { block.markSilent(channel) }
        }
    }
}
