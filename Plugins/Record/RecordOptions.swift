// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// How recordings are made, as settings say.
struct RecordOptions: Sendable {
    static let overwrite = Key.flag("overwrite", "replaces an existing file", default: false)
    static let publish = Key.flag(
        "publish", "gives out what is recorded as audio too, for programs that subscribe to it", default: false)
    static let publishFrames = Key.integer(
        "publish_frames", "of a block of that audio, which has rate and channels of the file", default: 1024,
        in: 16...65_536, unit: "frames")
    static let interruptionLimit = Key.number(
        "interruption_limit", "ends a recording to which nothing has come for so long; 0: it waits", default: 0,
        in: 0...1e9, unit: "s")
    static let fill = Key.flag(
        "fill", "silence takes the place of what is missing, so that the file keeps the time", default: false)
    static let preroll = Key.number(
        "preroll", "of what came before `start`, a recording has so much", default: 0, in: 0...600, unit: "s")
    static let split = Key.number(
        "split", "the next file begins after so long; 0: never", default: 0, in: 0...1e9, unit: "s")
    static let splitSize = Key.number(
        "split_size", "the next file begins when this one is so large; 0: never", default: 0, in: 0...1e9, unit: "MB")

    let overwrites: Bool
    /// Whether subscribers get what is recorded.
    let publishes: Bool
    /// Seconds of what came before a recording begins that it has.
    let preroll: Double
    /// Seconds and bytes after which the next file begins; nil: never.
    let longest: Double?
    let largest: Int?
    /// Seconds for which it may be interrupted; nil: for ever.
    let interruption: Double?
    /// Whether silence takes the place of what is missing.
    let fills: Bool
    /// Frames of a block that subscribers get.
    let publishedBlock: Int

    /// Seconds that a file has at least.
    private static let shortest = 0.01

    init(_ settings: Settings) throws(NodeError) {
        overwrites = try settings[Self.overwrite]
        publishes = try settings[Self.publish]
        preroll = try settings[Self.preroll]
        longest = try settings[Self.split].unlessZero
        if let longest, longest < Self.shortest {
            throw NodeError(
                "cannot make files of \(longest) s", hint: "use \(Self.shortest) s or more, or 0 for one file",
                key: Self.split.name)
        }
        interruption = try settings[Self.interruptionLimit].unlessZero
        fills = try settings[Self.fill]
        publishedBlock = try settings[Self.publishFrames]
        largest = try settings[Self.splitSize].unlessZero.map { Int($0 * 1_000_000) }
    }
}

extension Double {
    /// Nil where it is 0, which stands for no limit.
    var unlessZero: Double? { self > 0 ? self : nil }
}
