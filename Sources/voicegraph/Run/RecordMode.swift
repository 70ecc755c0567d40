// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Host
import NodeKit

/// What `voicegraph record` does to what it hears before it is recorded.
enum RecordMode: String, CaseIterable, ExpressibleByArgument {
    /// As it comes.
    case plain = "default"
    /// As it comes, and nothing may change it on its way into the file.
    case measurement
    /// As for a call or an assistant: without rumble, quieter in pauses, even.
    case voice
    /// As for a talk that others hear later: without rumble and sharp hisses, even.
    case spoken

    /// A node on the way: its name, type and settings.
    typealias Step = (name: String, type: String, settings: [String: SettingValue])

    /// What stands between the microphone and the file.
    var steps: [Step] {
        switch self {
        case .plain, .measurement: []
        case .voice:
            [
                Self.rumble(below: 100),
                (
                    "pauses", StandardType.gate,
                    ["threshold_db": .number(-50), "range_db": .number(-18), "hold_ms": .number(250)]
                ),
                Self.even(threshold: -28, ratio: 4, attack: 5, release: 150, makeup: 8), Self.peaks,
            ]
        case .spoken:
            [
                Self.rumble(below: 80), ("hisses", StandardType.deesser, [:]),
                Self.even(threshold: -24, ratio: 3, attack: 10, release: 200, makeup: 6), Self.peaks,
            ]
        }
    }

    /// What is said of the modes, one a line.
    static let help = """
        Modes: default and measurement record what comes; measurement refuses what would change it, --rate and lossy \
        files. voice, as for a call: without what lies below 100 Hz, pauses 18 dB quieter, even, at most -1 dBTP. \
        spoken, as for a talk: without what lies below 80 Hz, hisses softer, even, at most -1 dBTP.
        """

    /// Why a file of this name cannot be recorded so; nil: it can.
    func fault(in path: String, hasRate: Bool) -> String? {
        guard self == .measurement else { return nil }
        if hasRate { return "--mode measurement records at the rate of the audio: leave --rate out" }
        guard [".ogg", ".oga", ".opus"].contains(where: path.lowercased().hasSuffix) else { return nil }
        return "--mode measurement keeps every sample: let \(path) end in .wav or .flac"
    }

    private static func rumble(below frequency: Double) -> Step {
        (
            "rumble", StandardType.filter,
            ["kind": .string("highpass"), "slope": .integer(24), "frequency": .number(frequency)]
        )
    }

    private static func even(
        threshold: Double, ratio: Double, attack: Double, release: Double, makeup: Double
    ) -> Step {
        (
            "even", StandardType.compressor,
            [
                "threshold_db": .number(threshold), "ratio": .number(ratio), "attack_ms": .number(attack),
                "release_ms": .number(release), "makeup_db": .number(makeup),
            ]
        )
    }

    private static let peaks: Step = ("peaks", StandardType.limiter, ["ceiling_db": .number(-1)])
}
