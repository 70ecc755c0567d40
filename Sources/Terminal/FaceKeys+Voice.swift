// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit

/// Keys for what speaks, hears and records, and for what is chosen from a list.
extension FaceState {
    /// Who speaks: now, or last, or the first that could.
    var speaker: String? { speaking.min() ?? speech?.node ?? parts.first(.speaks) }
    var listener: String? { parts.dictation(chosen: keys.selected) }

    /// What was dictated is kept once it is whole.
    mutating func keep() -> FaceCommand? {
        guard let listener else { return nil }
        guard !graphNodes.contains(where: { $0.name == listener && $0.keeps }) else {
            log.note("\(listener) keeps what it hears by itself", at: status.time)
            return nil
        }
        let dictation = dictations[listener] ?? Dictation()
        guard !dictation.isOn, !dictation.text.isEmpty else {
            log.note(
                dictation.state == "finishing"
                    ? "\(listener) still finishes the text"
                    : dictation.isOn
                        ? "\(listener) still listens: d ends that" : "nothing was dictated that could be kept",
                .warning, at: status.time)
            return nil
        }
        return .keep(listener, dictation.text)
    }

    /// A recording, or else the voice.
    func pause() -> FaceCommand? {
        let all = parts.nodes(.records)
        let chosen = all.first { $0 == keys.selected && recorders[$0]?.isOn == true }
        if let recorder = chosen ?? all.first(where: { recorders[$0]?.isOn == true }) {
            return .perform(recorder, recorders[recorder]?.state == "paused" ? VG_ACTION_RESUME : VG_ACTION_PAUSE)
        }
        return speaker.map { .perform($0, isSpeechPaused ? VG_ACTION_RESUME : VG_ACTION_PAUSE) }
    }

    /// The chosen recorder, or the only one; of several it is asked which.
    mutating func record() -> FaceCommand? {
        let all = parts.nodes(.records)
        guard all.count > 1, !parts.has(.records, keys.selected) else {
            return parts.first(.records, chosen: keys.selected).map(recording)
        }
        keys.overlay = .recorders(0)
        return nil
    }

    private func recording(_ node: String) -> FaceCommand {
        .perform(node, recorders[node]?.action ?? VG_ACTION_START)
    }

    /// A key of what lies over all else: one chooses a recorder, any closes the rest.
    mutating func press(_ key: KeyPress, over overlay: FaceKeys.Overlay) -> FaceCommand? {
        let all = parts.nodes(.records)
        guard case .recorders(let chosen) = overlay, !all.isEmpty else {
            keys.overlay = nil
            return nil
        }
        func perform(_ place: Int) -> FaceCommand? {
            guard all.indices.contains(place) else { return nil }
            keys.overlay = nil
            return recording(all[place])
        }
        switch key {
        case .up, .text("k"): keys.overlay = .recorders(max(0, chosen - 1))
        case .down, .text("j"): keys.overlay = .recorders(min(all.count - 1, chosen + 1))
        case .enter: return perform(chosen)
        case .text(let letter) where letter.isASCII && letter.isNumber:
            return perform((letter.wholeNumberValue ?? 0) - 1)
        default: keys.overlay = nil
        }
        return nil
    }

    /// The link for browsers as a QR code, if there is one.
    mutating func showCode() {
        guard link.isEmpty else { return keys.overlay = .code }
        log.note("browsers do not see this run: start it with --web", .warning, at: status.time)
    }
}
