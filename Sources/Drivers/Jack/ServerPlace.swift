// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Where a server answers, if there is one.
struct ServerPlace: Sendable, Equatable {
    /// The server's name, or that of PipeWire's socket; nil: the default one.
    var name: String?
    /// Whose libjack talks to it.
    var library: JackLibrary.Provider
    /// A server of our own that is begun as soon as its sound cards are there; nil: the server is somebody else's.
    var own: OwnServer.Plan?

    /// Where `auto` looks, best first.
    static let usual = [ServerPlace(name: nil, library: .any), ServerPlace(name: nil, library: .pipewire)]

    /// Where a server that was named may be.
    static func named(_ name: String?, _ library: JackLibrary.Provider) -> [ServerPlace] {
        // What the system takes for libjack may be PipeWire's, for whom no list of servers speaks.
        let other: [ServerPlace] = library == .any ? [ServerPlace(name: name, library: .pipewire)] : []
        return [ServerPlace(name: name, library: library)] + (JackLibrary.isPipeWire ? other : [])
    }

    /// Whether a server seems to be there. No libjack is asked: it talks to one server at a time. [control]
    var hasServer: Bool {
        if let own { return own.missing.isEmpty }
        return library == .pipewire
            ? PipeWireSocket.answers(name) : ServerNames.answers(name ?? JackLibrary.defaultServer)
    }

    /// What the server there is called.
    var serverName: String {
        own != nil ? "" : name ?? (library == .pipewire ? PipeWireSocket.name : JackLibrary.defaultServer)
    }

    /// In words, for who waits for it.
    var text: String {
        if let own { return "the sound card \(own.missing.first ?? own.cards.first ?? "")" }
        return library == .pipewire ? "PipeWire" : "the JACK server '\(name ?? JackLibrary.defaultServer)'"
    }
}
