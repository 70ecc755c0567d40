// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// A parametric equalizer: filters of the Audio EQ Cookbook (Robert Bristow-Johnson; W3C Note, 2021) one after another.
final class Equalizer: AudioNode {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "eq", "parametric equalizer of up to 32 bands",
        doc: "Each band is a filter as of type filter, with parameters bandN_frequency, bandN_q and, for peak and "
            + "shelves, bandN_gain_db. kinds = [\"lowshelf\", \"peak\", \"highshelf\"] makes three bands. The bands' "
            + "default frequencies divide the range of hearing evenly; ten bands are an octave apart, 31.25 Hz to 16 kHz.",
        ports: Layout.through(channels: 1, output: "the input, equalized").ports,
        parameters: parameters(defaultKinds), settings: [bands, kinds, channels],
        otherNames: ["equalizer", "equaliser", "parametric"], flags: VG_IN_PLACE,
        process: { Equalizer.process($0, $1, $2) })

    private static let bands = Key.integer("bands", "how many; as many as kinds says, else 5", in: 1...mostBands)
    private static let kinds = Key.texts(
        "kinds", "the response of each band; peak without it", choices: FilterKind.allCases.map(\.rawValue))
    private static let channels = Key.channels()

    private static let mostBands = 32
    private static let defaultKinds = [FilterKind](repeating: .peak, count: 5)

    let layout: Layout
    private let chain: FilterChain

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        let kinds = try Self.given(settings)
        let channels = try settings[Self.channels]
        layout = .through(
            channels: channels, output: "the input, equalized", parameters: Self.parameters(kinds))
        chain = FilterChain(kinds.map { FilterChain.Description(kind: $0) }, channels: channels)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> FilterChain.Processor { chain.prepare(preparation) }

    /// The response of each band.
    private static func given(_ settings: Settings) throws(NodeError) -> [FilterKind] {
        let count = try settings[bands]
        guard settings.gives(kinds) else { return Array(repeating: .peak, count: count ?? defaultKinds.count) }
        let given = try settings[kinds].compactMap(FilterKind.init)
        guard (1...mostBands).contains(given.count) else {
            throw NodeError("kinds names \(given.count) bands", hint: "name 1 to \(mostBands)", key: kinds.name)
        }
        if let count, count != given.count {
            throw NodeError(
                "there are \(count) bands, but kinds names \(given.count)",
                hint: "name one for each band, or leave out bands", key: kinds.name)
        }
        return given
    }

    private static func parameters(_ kinds: [FilterKind]) -> [Parameter] {
        kinds.enumerated().flatMap { index, kind in
            // Ten octaves, from half an octave below 31.25 Hz to half an octave above 16 kHz.
            let octave = 10 * (Double(index) + 0.5) / Double(kinds.count) - 0.5
            return FilterChain.parameters(
                kind, prefix: "band\(index + 1)_", frequency: Float(31.25 * pow(2, octave)))
        }
    }

    @_noLocks
    static func process(_ state: inout FilterChain.Processor, _ block: borrowing Block) { filterChain(&state, block) }
}
