// SPDX-License-Identifier: Apache-2.0
import CLilv
import NodeKit

/// Bytes of event data that fit into an atom port for which the plugin asks no more: what a block of MIDI can hold, which
/// takes twice the room as atoms.
let sequenceSize: Int32 = 65536

/// The options feature's payload.
final class PluginOptions {
    let list: UnsafeMutablePointer<LV2_Options_Option>
    private let integers = UnsafeMutablePointer<Int32>.allocate(capacity: 4)
    private let rate = UnsafeMutablePointer<Float>.allocate(capacity: 1)

    init(_ preparation: Preparation, _ table: URIDMap) {
        let longest = Int32(clamping: preparation.maxBlock)
        let numbers: [(UnsafePointer<CChar>, Int32)] = [
            (VG_BUF_SIZE__minBlockLength, 1), (VG_BUF_SIZE__maxBlockLength, longest),
            (VG_BUF_SIZE__nominalBlockLength, longest), (VG_BUF_SIZE__sequenceSize, sequenceSize),
        ]
        list = .allocate(capacity: numbers.count + 2)
        rate.initialize(to: Float(preparation.rate))
        let integer = table.map(VG_ATOM__Int)
        for (index, (key, value)) in numbers.enumerated() {
            (integers + index).initialize(to: value)
            (list + index).initialize(to: Self.option(table.map(key), integer, integers + index))
        }
        (list + numbers.count).initialize(
            to: Self.option(table.map(VG_PARAMETERS__sampleRate), table.map(VG_ATOM__Float), rate))
        (list + numbers.count + 1).initialize(to: LV2_Options_Option())
    }

    /// From now on blocks are of another length. The plugin is to be told with `list`. [control]
    func tell(longest: Int) {
        // The longest block, and the one to expect.
        for index in 1...2 { integers[index] = Int32(clamping: longest) }
    }

    /// The number that `get` gives for an option of the plugin as a whole; nil: none, or no number. [control]
    static func value(
        of key: UnsafePointer<CChar>, _ get: (UnsafeMutablePointer<LV2_Options_Option>) -> UInt32
    ) -> Double? {
        let table = URIDMap.shared
        let asked = table.map(key)
        var list = [LV2_Options_Option(), LV2_Options_Option()]
        list[0].key = asked
        let status = list.withUnsafeMutableBufferPointer { get($0.baseAddress!) }
        guard status == LV2_OPTIONS_SUCCESS.rawValue, let value = list[0].value else { return nil }
        return number(value, list[0].size, list[0].type).map(Double.init)
    }

    deinit {
        list.deallocate()
        integers.deallocate()
        rate.deallocate()
    }

    private static func option(_ key: LV2_URID, _ type: LV2_URID, _ value: UnsafeRawPointer) -> LV2_Options_Option {
        LV2_Options_Option(context: LV2_OPTIONS_INSTANCE, subject: 0, key: key, size: 4, type: type, value: value)
    }
}
