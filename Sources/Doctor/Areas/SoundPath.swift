// SPDX-License-Identifier: Apache-2.0
import Drivers
import GraphFile

/// What `voicegraph run` would play to now, by the same rules as `DriverChooser`.
struct SoundPath: Sendable {
    /// What is wanted of the driver, by the file; else nothing.
    var wanted = DriverDescription()
    var servers = JackServers()
    var pipeWire = PipeWireState()
    var cards = CardUse()

    private var area: DoctorArea { .sound }

    /// The server or PipeWire whose ports a graph would be connected to, as it answered; nil: none, or one that does not
    /// exist yet.
    var look: ServerLook? {
        switch wanted.kind ?? .auto {
        case .alsa, .dummy: nil
        case .pipewire: pipeWire.look
        case .jack: servers.server(wanted.server)?.look
        case .auto: servers.server(wanted.server).map(\.look) ?? pipeWire.look
        }
    }

    /// Whether it will be heard, and what to do if not.
    func findings() -> [Finding] {
        switch wanted.kind ?? .auto {
        case .alsa: return alsa
        case .dummy:
            return [
                area.warning("the file wants the driver dummy, which nobody hears", do: "run it with --driver auto")
            ]
        case .pipewire: return [pipeWire.isUsable ? playsToPipeWire : noPipeWire]
        case .jack:
            if let server = servers.server(wanted.server) { return [jack(server)] }
            let name = wanted.server ?? servers.standard
            return [
                area.error("no JACK server named '\(name)' is running, which the file wants", do: remedies(name))
            ]
        case .auto:
            if let server = servers.server(wanted.server) { return [jack(server)] }
            if pipeWire.isUsable { return [playsToPipeWire] }
            let name = wanted.server ?? servers.standard
            return [
                area.error(
                    "nobody would hear what `voicegraph run` plays: no JACK server named '\(name)' is running, and "
                        + (pipeWire.socket == nil ? "no PipeWire" : "PipeWire cannot be used"), do: remedies(name))
            ]
        }
    }

    private func jack(_ server: JackServers.Server) -> Finding {
        let name = "the JACK server '\(server.name)'"
        if server.hangs {
            return area.error(
                "`voicegraph run` would play to \(name), which hangs",
                do: server.state == "T"
                    ? "let it go on: kill -CONT \(server.process)"
                    : "end it and start it again: kill -KILL \(server.process)")
        }
        guard server.isUsable else {
            return area.error(
                "`voicegraph run` would play to \(name), which lets nobody in", do: "start that server again")
        }
        if server.isDummy {
            return area.warning(
                "`voicegraph run` plays to \(name), whose driver is dummy: only other programs can hear it",
                do: cards.cards.isEmpty
                    ? "start a server for a sound card where there is one: jackd -d alsa"
                    : "end it and start one for a sound card: jackd -d alsa -d \(cards.free ?? "hw:0")")
        }
        return area.fine("`voicegraph run` plays to \(name)")
    }

    private var playsToPipeWire: Finding {
        pipeWire.players.isEmpty
            ? area.error(
                "`voicegraph run` would play to PipeWire, which has no device to play to",
                do: "start a session manager (systemctl --user start wireplumber), or see what is wrong with the sound "
                    + "cards")
            : area.fine("`voicegraph run` plays to PipeWire")
    }

    private var noPipeWire: Finding {
        area.error(
            "the file wants PipeWire, which cannot be used",
            do: pipeWire.library == nil ? "apt install pipewire-jack" : "systemctl --user restart pipewire wireplumber")
    }

    private var alsa: [Finding] {
        guard servers.isInstalled else {
            return [
                area.error("the file wants the driver alsa, and jackd is not installed", do: "apt install jackd2")
            ]
        }
        let devices = wanted.cards
        let faults = devices.compactMap(fault)
        if !faults.isEmpty { return faults }
        let list = devices.joined(separator: " and records from ")
        let fine = area.fine("`voicegraph run` plays to the sound card \(list), by a jackd of its own")
        let cards = devices.map { SoundCards.card(of: $0) ?? $0 }
        guard Set(cards).count > 1 else { return [fine] }
        return [
            area.warning(
                "\(devices.joined(separator: " and ")) are two cards with two clocks: a block is lost or repeated whenever "
                    + "they have drifted apart by one",
                do: "bring one of them in by alsa_in or zita-a2j, or play through PipeWire, which resample; see "
                    + "`voicegraph help config`, [driver]"), fine,
        ]
    }

    /// Why a sound card cannot be used; nil: it can.
    private func fault(_ device: String) -> Finding? {
        let isKnown =
            !device.hasPrefix("hw:") || cards.cards.contains { $0.hasPrefix(device.prefix { $0 != "," } + " ") }
        // Cards may be named as well as numbered.
        guard isKnown || Int(device.dropFirst(3).prefix { $0 != "," }) == nil, !cards.cards.isEmpty else {
            let list = cards.cards.joined(separator: ", ")
            return area.error(
                "there is no sound card \(device), which the file wants",
                do: list.isEmpty
                    ? "plug it in, which `run` waits for; --driver auto takes what there is" : "there is \(list)")
        }
        let isPlayed = device == wanted.cards[0]
        let holder = cards.holders.first { $0.isPlaying == isPlayed && "hw:\($0.card)" == device.prefix { $0 != "," } }
        return holder.map {
            area.error(
                "the sound card \(device), which the file wants, is held by \($0.program) (process \($0.process))",
                do: "end that program, or play through it (--driver auto)")
        }
    }

    /// What can be done where there is nothing to play to.
    private func remedies(_ name: String) -> String {
        var ways: [String] = []
        if pipeWire.socket != nil, pipeWire.library == nil { ways.append("apt install pipewire-jack") }
        if pipeWire.isBroken { ways.append("restart PipeWire (systemctl --user restart pipewire wireplumber)") }
        if pipeWire.socket == nil, pipeWire.isInstalled {
            ways.append("start PipeWire (systemctl --user start pipewire wireplumber)")
        }
        let others = servers.servers.filter { $0.isUsable && $0.name != name && !OwnServer.names.contains($0.name) }
        if !others.isEmpty {
            ways.append("choose another server (\(others.map { "--server \($0.name)" }.joined(separator: ", ")))")
        }
        if cards.cards.isEmpty {
            ways.append("give this machine a sound card")
        } else if let card = cards.free {
            let device = card == "hw:0" ? "alsa" : "alsa:\(card)"
            ways.append(
                servers.isInstalled
                    ? "play to a sound card with --driver \(device)" : "apt install jackd2, then --driver \(device)")
        } else {
            ways.append("end the program that holds the sound card")
        }
        return ways.joined(separator: ", or ")
    }
}
