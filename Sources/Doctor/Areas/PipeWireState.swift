// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import System

/// PipeWire, as far as it concerns this user.
struct PipeWireState: Sendable {
    /// Where its socket is; nil: there is none.
    var socket: String?
    /// What it said to whoever asked through its libjack; nil: nobody did.
    var answer: ServerAnswer?
    /// Its libjack; nil: not installed.
    var library: String?
    /// "0.3.65"; empty: not known.
    var version = ""
    /// Whether the program pipewire is installed.
    var isInstalled = false

    /// Whether audio can be played through it now.
    var isUsable: Bool { look != nil }
    /// Whether it is there and does not do what it should.
    var isBroken: Bool { socket != nil && library != nil && look == nil }
    /// Its ports for loudspeakers and the like.
    var players: [ServerLook.Port] { look?.ports.filter { $0.isPhysical && $0.isInput && !$0.isMIDI } ?? [] }
    var look: ServerLook? { if case .answered(let look) = answer { look } else { nil } }

    /// What there is to say of it.
    func findings() -> [Finding] {
        let area = DoctorArea.pipeWire
        let name = version.isEmpty ? "PipeWire" : "PipeWire \(version)"
        guard let socket else {
            let rest = library == nil ? ", nor is its libjack (apt install pipewire-jack)" : ", its libjack is"
            return [
                isInstalled
                    ? area.fine("\(name) is installed and not running for this user" + (library == nil ? rest : ""))
                    : area.fine("PipeWire is not installed" + rest)
            ]
        }
        guard library != nil else {
            return [
                area.warning(
                    "\(name) runs, but its libjack is not installed, without which nothing is played through it",
                    do: "apt install pipewire-jack")
            ]
        }
        switch answer {
        case .answered(let look):
            guard players.isEmpty else {
                return [area.fine("\(name) runs at \(look.format), with \(players.count) ports to play to")]
            }
            return [
                area.warning(
                    "\(name) runs, but has no device to play to",
                    do: "see that a session manager runs (systemctl --user status wireplumber), and look at the sound "
                        + "cards")
            ]
        case .refused(let reason):
            return [
                area.warning(
                    "the socket of PipeWire is there (\(socket)), but it cannot be used: \(reason)",
                    do: "systemctl --user restart pipewire")
            ]
        case .silent, nil:
            return [
                area.warning(
                    "\(name) hangs: it does not answer at \(socket)", do: "systemctl --user restart pipewire")
            ]
        }
    }
}

extension PipeWireState {
    /// Looks for it; it has up to `most` seconds to answer. [control]
    static func read(within seconds: Double, most: Double) -> PipeWireState {
        var state = PipeWireState(socket: PipeWireSocket.path())
        state.library = library()
        let program = programPath("pipewire")
        state.isInstalled = program != nil
        let answer = Reading<ServerAnswer?> { [state] in
            state.socket == nil || state.library == nil
                ? nil : ServerAnswer.ask(server: nil, process: process(), pipewire: true, within: seconds, most: most)
        }
        if let program, let output = outputOf([program, "--version"], within: most) {
            state.version = version(output.text)
        }
        state.answer = answer.value(by: monotonicSeconds() + most + seconds) ?? nil
        return state
    }

    /// The number in what `pipewire --version` prints.
    static func version(_ text: String) -> String {
        let line = text.split(separator: "\n").first { $0.contains("Linked with") } ?? ""
        return line.split(separator: " ").last.map(String.init) ?? ""
    }

    /// This user's PipeWire; nil: not found.
    private static func process() -> pid_t? {
        names(in: "/proc").compactMap(pid_t.init).first { process in
            var facts = stat()
            return stat("/proc/\(process)", &facts) == 0 && facts.st_uid == geteuid()
                && textOfFile("/proc/\(process)/comm").trimmed == "pipewire"
        }
    }

    private static func library() -> String? {
        let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib"]
        let places = folders.flatMap { folder in [folder] + names(in: folder).sorted().map { "\(folder)/\($0)" } }
        return places.map { $0 + "/pipewire-0.3/jack/libjack.so.0" }.first { access($0, R_OK) == 0 }
    }
}
