// SPDX-License-Identifier: Apache-2.0
import GraphFile

/// What the user wants of a driver.
public struct DriverRequest: Sendable {
    /// Which driver.
    public typealias Kind = DriverDescription.Kind

    /// Which driver.
    public var kind: Kind
    /// The JACK client's name.
    public var client: String
    /// The name of the JACK server or of PipeWire's socket; nil: the default one, or "voicegraph-server" for our own.
    public var server: String?
    /// The sound card of our own server with ALSA; nil: "hw:0".
    public var device: String?
    /// Another card to record from, and one to play to; nil: `device`.
    public var capture, playback: String?
    /// Hz, of our own server; nil: 48000.
    public var rate: Int?
    /// Frames of a block, of our own server; nil: 256.
    public var block: Int?
    /// Blocks in the sound card's buffer; nil: 2.
    public var periods: Int?
    /// Whether what was read of the program and its libraries is given back before the driver starts, for a program that
    /// only plays: most of that is needed once. Audio threads of others in this process would read theirs again.
    public var releasesCode = false

    /// Whether a server that is not there yet is waited for, for a program that plays until it is told to end; else it is an
    /// error.
    public var waits = false

    /// Describes a wish.
    public init(
        kind: Kind = .auto, client: String = "voicegraph", server: String? = nil, rate: Int? = nil, block: Int? = nil
    ) {
        self.kind = kind
        self.client = client
        self.server = server
        self.rate = rate
        self.block = block
    }

    /// What a graph wants.
    public init(_ wanted: DriverDescription, client: String) {
        self.init(
            kind: wanted.kind ?? .auto, client: client, server: wanted.server, rate: wanted.rate, block: wanted.block)
        (device, capture, playback) = (wanted.device, wanted.capture, wanted.playback)
        periods = wanted.periods
    }

    /// A server of our own on the sound cards.
    var sound: ServerProcess.Backend {
        .alsa(device: device, capture: capture, playback: playback, periods: periods)
    }

    /// How a server of our own runs.
    func format(on backend: ServerProcess.Backend) -> ServerProcess.Format {
        ServerProcess.Format(rate: rate ?? 48_000, block: block ?? 256, backend: backend)
    }

    /// What is said of the rate and the block of a server that has its own; empty: it has what is wanted.
    func notice(of info: DriverInfo) -> String {
        let wanted = [rate.map { "\($0) Hz" }, block.map { "blocks of \($0)" }].compactMap { $0 }
        guard rate.map({ Double($0) != info.rate }) ?? false || block.map({ $0 != info.block }) ?? false else {
            return ""
        }
        return "\(wanted.joined(separator: " and ")) were asked for, but the server sets that: it runs at "
            + "\(Int(info.rate)) Hz in blocks of \(info.block)"
    }
}
