// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Picture

/// The numbers of a picture of measurements; nil: it has none, or nothing is known.
package func caption(_ style: PictureStyle, _ sound: SoundState) -> String? {
    switch style {
    case .spectrum, .spectrogram:
        guard let loudest = sound.spectrum.indices.max(by: { sound.spectrum[$0] < sound.spectrum[$1] }),
            sound.spectrum[loudest] > SpectrumPicture.floor
        else { return nil }
        return
            "loudest \(frequencyText(sound.frequency(ofRow: loudest))), \(fixed(Double(sound.spectrum[loudest]), 0)) dBFS"
    case .goniometer: return sound.correlation.map { "correlation \(signed($0))" }
    case .loudness:
        guard let last = sound.loudness.last else { return nil }
        return "M \(loudnessText(last.x))  S \(loudnessText(last.y))  I \(loudnessText(sound.integrated ?? -70)) LUFS"
    case .orb, .bars, .wave, .scope, .meter: return nil
    }
}

extension PictureStyle {
    /// Whether its pictures have numbers, where something is known.
    package var hasNumbers: Bool { [.spectrum, .spectrogram, .goniometer, .loudness].contains(self) }
}

private func loudnessText(_ value: Float) -> String { value > -70 ? fixed(Double(value), 1) : "-" }

private func signed(_ value: Float) -> String { (value >= 0.005 ? "+" : "") + fixed(Double(value), 2) }

private func frequencyText(_ frequency: Double) -> String {
    frequency >= 1000 ? "\(fixed(frequency / 1000, 1)) kHz" : "\(fixed(frequency, 0)) Hz"
}
