// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// One filter of the Audio EQ Cookbook (Robert Bristow-Johnson; W3C Note, 2021) for all its channels; low and high pass
/// also as Butterworth filters of higher order.
final class Filter: AudioNode {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "filter", "low and high pass, shelves, peak, notch, band pass, all pass",
        doc:
            "The responses of the Audio EQ Cookbook; bandpass has 0 dB at its peak. At q = 0.7071 lowpass and highpass "
            + "are Butterworth filters, of higher order with a slope above 12, and shelves have no hump. gain_db is "
            + "there for peak and shelves only. All parameters may move at any speed. Infinite samples and NaN count "
            + "as 0.",
        ports: Layout.through(channels: 1, output: "the input, filtered").ports,
        parameters: FilterChain.parameters(.peak, frequency: 1000),
        settings: [kind.optional().required(), slope, channels],
        otherNames: ["biquad", "lowpass", "highpass", "peaking", "bandpass", "notch"], flags: VG_IN_PLACE,
        process: { Filter.process($0, $1, $2) })

    /// Files must say it; who makes a node without any setting gets one that changes nothing.
    private static let kind = Key.choice("kind", "the response", default: FilterKind.peak)
    private static let slope = Key.integer(
        "slope", "of lowpass and highpass, per octave: 12, 24, 36 or 48", default: 12, in: 12...48, unit: "dB")
    private static let channels = Key.channels()

    let layout: Layout
    private let chain: FilterChain

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        let kind = try settings[Self.kind]
        let slope = try settings[Self.slope]
        guard slope % 12 == 0 else {
            throw NodeError("slope is \(slope)", hint: "use 12, 24, 36 or 48", key: Self.slope.name)
        }
        guard slope == 12 || kind == .lowpass || kind == .highpass else {
            throw NodeError("a \(kind) has no slope", hint: "only lowpass and highpass have", key: Self.slope.name)
        }
        let channels = try settings[Self.channels]
        layout = .through(
            channels: channels, output: "the input, filtered",
            parameters: FilterChain.parameters(kind, frequency: 1000))
        chain = FilterChain([FilterChain.Description(kind: kind, sections: slope / 12)], channels: channels)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> FilterChain.Processor { chain.prepare(preparation) }

    @_noLocks
    static func process(_ state: inout FilterChain.Processor, _ block: borrowing Block) { filterChain(&state, block) }
}
