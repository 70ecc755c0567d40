// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The sound cards that ALSA knows.
package enum SoundCards {
    /// "hw:0 (HDA Intel PCH)" for each, in their order. [control]
    package static var list: [String] { list(textOfFile("/proc/asound/cards")) }

    /// The same of a text like that of the file of the kernel's. [any]
    package static func list(_ text: String) -> [String] {
        // A line for each card: " 0 [PCH            ]: HDA-Intel - HDA Intel PCH", then one with more.
        text.split(separator: "\n").compactMap { line in
            guard let bracket = line.firstIndex(of: "["), let end = line[bracket...].firstIndex(of: "]"),
                let number = Int(line[..<bracket].filter { $0 != " " })
            else { return nil }
            let rest = line[end...].split(separator: "-", maxSplits: 1).last ?? ""
            let name = rest.split(separator: " ").joined(separator: " ")
            return "hw:\(number) (\(name.split(separator: "- ").last.map(String.init) ?? name))"
        }
    }

    /// Where the kernel tells of its cards.
    static let folder = "/proc/asound"

    /// The card's number or name in ALSA's name of a device: "1" of "hw:1,0", "PCH" of "front:CARD=PCH,DEV=0"; nil: that
    /// says none, as "default" does. [any]
    package static func card(of device: String) -> String? {
        let parts = device.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let arguments = parts[1].split(separator: ",")
        let named = arguments.first { $0.hasPrefix("CARD=") }?.dropFirst(5)
        let first = ["hw", "plughw"].contains(parts[0]) ? arguments.first : nil
        guard let card = named ?? first, !card.isEmpty, !card.contains("="), !card.contains("/") else { return nil }
        return String(card)
    }

    /// Whether a device is of a card that is not there. [control]
    static func lacks(_ device: String, in folder: String = folder) -> Bool {
        guard let card = card(of: device) else { return false }
        return access(folder + "/" + (Int(card) == nil ? card : "card" + card), F_OK) != 0
    }

    /// What to do about a card that cannot be played to. [control]
    static var hint: String {
        let cards = list
        return cards.isEmpty
            ? "there is no sound card on this machine; --driver dummy needs none"
            : "the sound cards are \(cards.joined(separator: ", ")); choose one with --driver alsa:DEVICE, and end what "
                + "else uses it"
    }
}

/// A small file of the system; empty: it cannot be read. [control]
package func textOfFile(_ path: String) -> String {
    guard let file = fopen(path, "re") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
}
