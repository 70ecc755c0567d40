// SPDX-License-Identifier: Apache-2.0
import NodeKit

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
}

extension DriverDescription: FileTableDescription {
    /// Its name, and what it says.
    public static let (table, doc) = ("driver", "what calls the audio")
    /// What other programs call it.
    public static let otherNames = ["devices", "device", "audio", "jack", "alsa", "settings"]

    /// Its keys.
    public static let keys: [TableKey<DriverDescription>] = [
        TableKey(
            "kind", \.kind, .choice(of: "driver"),
            "what calls the audio. auto: the running JACK server, else PipeWire, else dummy until there is one of "
                + "them; jack and pipewire are waited for; alsa and dummy begin a jackd of their own",
            default: "\"auto\"", otherNames: ["backend", "driver", "type", "api"], isOfNodes: true),
        TableKey(
            "server", \.server, deviceName, "the JACK server's name, or that of PipeWire's socket", isOfNodes: true),
        TableKey(
            "device", \.device, deviceName, "ALSA's name of the sound card, for kind = \"alsa\"", default: "\"hw:0\"",
            otherNames: ["card", "soundcard", "interface"], isOfNodes: true),
        TableKey(
            "capture", \.capture, deviceName, "another card to record from, for kind = \"alsa\"; otherwise `device`",
            otherNames: ["input", "capture_device", "microphone"]),
        TableKey(
            "playback", \.playback, deviceName, "another card to play to, for kind = \"alsa\"; otherwise `device`",
            otherNames: ["output", "playback_device", "speakers"]),
        TableKey(
            "rate", \.rate, .whole(in: 8_000...384_000, unit: "Hz"),
            "the rate of a server of our own; others have theirs",
            otherNames: ["samplerate", "sample_rate", "sample-rate", "sr", "fs", "srate", "frequency"]),
        TableKey(
            "block", \.block, .whole(in: 16...8_192, unit: "frames"), "the block of a server of our own",
            otherNames: [
                "buffer", "buffersize", "buffer_size", "buffer-size", "chunksize", "chunk_size", "blocksize",
                "block_size", "frames", "period", "period_size", "quantum",
            ]),
        TableKey(
            "periods", \.periods, .whole(in: 2...16, counting: "blocks"),
            "blocks in the sound card's buffer; USB often wants 3", default: "2", otherNames: ["nperiods", "buffers"]),
    ]

    /// A sound card that nothing would look at is told.
    public func warnings(_ given: [(key: String, place: SourceLocation)]) -> [Diagnostic] {
        guard kind != .alsa, let card = given.last(where: { ["device", "capture", "playback"].contains($0.key) }) else {
            return []
        }
        return [
            Diagnostic(
                .warning, "the driver '\((kind ?? .auto).rawValue)' does not look at '\(card.key)'", at: card.place,
                hint: "add kind = \"alsa\" to [driver], or run with --driver alsa")
        ]
    }

    /// Its chapter in the reference.
    public static var chapter: [ReferenceBlock] {
        [
            .text("What calls the audio; `--driver` and `--server` of a command go before it."),
            .keys(settings),
            .lines(
                """
                [driver]
                kind   = "alsa"
                device = "hw:1"
                rate   = 48000
                block  = 128
                """),
            .text(
                """
                A microphone and loudspeakers of two cards are named by `capture` and `playback`. Two cards have two clocks, \
                which differ by some millionths, and jackd does not make up for that: every few minutes or seconds it loses \
                or repeats a block, as a dropout. Where that may not be, jackd runs on one card, and a program that resamples \
                brings the other in: `alsa_in -d hw:1` or `zita-a2j -d hw:1` for a microphone, `alsa_out` or `zita-j2a` for \
                loudspeakers, whose ports nodes name in `connect`. PipeWire does that by itself.
                """),
            .lines(
                """
                [driver]
                kind     = "alsa"
                capture  = "hw:1"
                playback = "hw:0"
                """),
        ]
    }
}

private let deviceName = TableValue.text("a name", hint: "a string of 1 to 200 bytes without control characters") {
    !$0.isEmpty && $0.utf8.count <= 200 && !$0.utf8.contains { $0 < 32 || $0 == 127 } && !$0.hasPrefix("-")
}
