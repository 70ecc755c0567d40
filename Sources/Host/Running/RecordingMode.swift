// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What is done to what a microphone hears before it is recorded, as `voicegraph record --mode` calls it.
public enum RecordingMode: String, Sendable, CaseIterable {
    /// As it comes.
    case `default`
    /// As it comes, and nothing may change it on its way into the file.
    case measurement
    /// As for a call or an assistant: without rumble, quieter in pauses, even.
    case voiceChat = "voice"
    /// As for a talk that others hear later: without rumble and sharp hisses, even.
    case spokenAudio = "spoken"

    /// A node on the way: its name, type and settings.
    package typealias Step = (name: String, type: String, settings: [String: SettingValue])

    /// What stands between the microphone and the file.
    package var steps: [Step] {
        switch self {
        case .default, .measurement: []
        case .voiceChat:
            [
                Self.rumble(below: 100),
                (
                    "pauses", StandardType.gate,
                    ["threshold_db": .number(-50), "range_db": .number(-18), "hold_ms": .number(250)]
                ),
                Self.even(threshold: -28, ratio: 4, attack: 5, release: 150, makeup: 8), Self.peaks,
            ]
        case .spokenAudio:
            [
                Self.rumble(below: 80), ("hisses", StandardType.deesser, [:]),
                Self.even(threshold: -24, ratio: 3, attack: 10, release: 200, makeup: 6), Self.peaks,
            ]
        }
    }

    /// Why a file of this name cannot hold it; nil: it can. [any]
    package func fault(in path: String) -> String? {
        let isLossy = [".ogg", ".oga", ".opus"].contains(where: path.lowercased().hasSuffix)
        return self == .measurement && isLossy ? "keeps every sample: let \(path) end in .wav or .flac" : nil
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
