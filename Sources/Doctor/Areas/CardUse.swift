// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import System

/// The sound cards that ALSA knows, and who has opened them.
struct CardUse: Sendable {
    /// Somebody who plays to a card, or records from it.
    struct Holder: Sendable, Equatable {
        /// The card's number.
        var card: Int
        var process: pid_t
        /// The program's name; empty: it does not let itself be looked at.
        var program: String
        var isPlaying: Bool
    }

    /// "hw:0 (HDA Intel PCH)", in the order of their numbers.
    var cards: [String] = []
    var holders: [Holder] = []
    /// Devices that this user may not open.
    var forbidden: [String] = []

    /// Programs that share a card with others.
    private static let sharing = ["jackd", "jackdbus", "pipewire", "pulseaudio"]

    /// The first card to which nobody plays; nil: there is none.
    var free: String? {
        cards.compactMap { $0.split(separator: " ").first.map(String.init) }.first { name in
            !holders.contains { $0.isPlaying && "hw:\($0.card)" == name }
        }
    }

    /// What there is to say of each.
    func findings() -> [Finding] {
        let area = DoctorArea.cards
        guard !cards.isEmpty else {
            return [
                area.warning(
                    "there is no sound card",
                    do: "plug one in, or load its driver; in a container or a virtual machine it has to be given one")
            ]
        }
        var findings: [Finding] = []
        if let first = forbidden.first {
            findings.append(
                area.warning(
                    "this user may not open \(first)"
                        + (forbidden.count > 1 ? " and \(forbidden.count - 1) more" : ""),
                    do: "become a member of the group audio (usermod -aG audio NAME) and log in again"))
        }
        for card in cards {
            let name = card.split(separator: " ").first.map(String.init) ?? card
            let own = holders.filter { "hw:\($0.card)" == name }
            let users = own.map { holder in
                "\(holder.program.isEmpty ? "a program" : holder.program) (process \(holder.process))"
            }
            let text = Set(users).sorted().joined(separator: ", ")
            if let alone = own.first(where: { $0.isPlaying && !Self.sharing.contains($0.program) }) {
                findings.append(
                    area.warning(
                        "\(card) is held by \(text): nobody else can play to it",
                        do: "end that program (kill \(alone.process)), or choose another card"))
            } else {
                findings.append(area.fine(own.isEmpty ? "\(card) is free" : "\(card) is used by \(text)"))
            }
        }
        return findings
    }
}

extension CardUse {
    /// Looks at the kernel's files. [control]
    static func read() -> CardUse {
        var use = CardUse(cards: SoundCards.list)
        for card in names(in: "/proc/asound").sorted() {
            guard card.hasPrefix("card"), let number = Int(card.dropFirst(4)) else { continue }
            for device in names(in: "/proc/asound/\(card)").sorted() where device.hasPrefix("pcm") {
                for stream in names(in: "/proc/asound/\(card)/\(device)").sorted() where stream.hasPrefix("sub") {
                    let status = textOfFile("/proc/asound/\(card)/\(device)/\(stream)/status")
                    guard let process = owner(status) else { continue }
                    // What is written there is a thread; its folder tells whose.
                    let program = textOfFile("/proc/\(process)/comm").trimmed
                    use.holders.append(
                        Holder(card: number, process: process, program: program, isPlaying: device.hasSuffix("p")))
                }
            }
        }
        use.forbidden = names(in: "/dev/snd").sorted().filter { $0.hasPrefix("pcm") }.map { "/dev/snd/\($0)" }
            .filter { access($0, R_OK | W_OK) != 0 }
        return use
    }

    /// Who has opened a stream, by its `status`; nil: nobody.
    static func owner(_ status: String) -> pid_t? {
        let line = status.split(separator: "\n").first { $0.hasPrefix("owner_pid") }
        return line?.split(separator: ":").last.flatMap { pid_t(String($0).trimmed) }
    }
}
