// SPDX-License-Identifier: Apache-2.0

/// What a graph asks of its driver, the `[driver]` table: what is nil is left to the program.
public struct DriverDescription: Sendable, Equatable {
    /// What calls the audio.
    public enum Kind: String, Sendable, CaseIterable {
        /// The running JACK server, else PipeWire, else `dummy`.
        case auto
        /// A JACK server that is there.
        case jack
        /// PipeWire, through its own libjack.
        case pipewire
        /// A server of our own on a sound card: `jackd -d alsa`.
        case alsa
        /// A server of our own that nobody hears, `jackd -d dummy`; a timer where there cannot be one.
        case dummy
    }

    /// What calls the audio; nil: `auto`.
    public var kind: Kind?
    /// The JACK server's name, or that of PipeWire's socket; of a server of our own, the name it gets.
    public var server: String?
    /// ALSA's name of the sound card, such as "hw:1"; nil: "hw:0".
    public var device: String?
    /// ALSA's name of the card that is recorded from, and of the one that is played to; nil: `device`.
    public var capture, playback: String?
    /// Hz, of a server of our own.
    public var rate: Int?
    /// Frames of a block, of a server of our own.
    public var block: Int?
    /// Blocks in the sound card's buffer.
    public var periods: Int?

    /// The cards that it names, as ALSA does: that for playback first, then that for capture where it is another.
    public var cards: [String] {
        let (played, recorded) = (playback ?? device ?? "hw:0", capture ?? device ?? "hw:0")
        return played == recorded ? [played] : [played, recorded]
    }

    /// Leaves everything to the program.
    public init() {}

    /// What a `rate` may be, in Hz.
    public static let rates = 8_000...384_000
    /// What a `block` may be, in frames.
    public static let blocks = 16...8_192
    /// What `periods` may be.
    public static let periodCounts = 2...16
}
