// SPDX-License-Identifier: GPL-3.0-or-later
import CEspeak
import NodeKit

/// Finds voices as the command espeak-ng does: by name, and where there is none by the languages that voices say they
/// speak, which goes back from a region to its language.
struct EspeakVoices {
    /// Who speaks when nobody is named.
    static let standard = "en-us"

    private let library: vg_espeak

    init(_ library: vg_espeak) { self.library = library }

    /// Takes a voice that `find` returned, or one that is called so.
    func select(_ name: String) throws(NodeError) {
        guard byName(name) != nil else { throw unknown(name) }
    }

    /// What espeak-ng calls a voice; `instead`: who speaks, if no voice is of just this language and region.
    func find(_ voice: String) throws(NodeError) -> (name: String, instead: String?) {
        let parts = voice.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        if let name = byName(voice) {
            try checkVariant(parts)
            return (name, nil)
        }
        let tag = languageTag(String(parts[0]))
        guard !tag.isEmpty, byLanguage(tag), let current = library.currentVoice()?.pointee,
            var name = current.identifier.map({ String(cString: $0) })
        else { throw unknown(voice) }
        let instead = languages(current).contains(tag) ? nil : String(cString: current.name)
        if parts.count > 1 {
            name += "+" + parts[1]
            guard byName(name) != nil else { throw unknown(voice) }
            try checkVariant(parts)
        }
        return (name, instead)
    }

    /// The spelling by which espeak-ng knows a name. Voices are in lower case, language tags ("en-US") often not.
    private func byName(_ name: String) -> String? {
        [name, name.lowercased()].first { !$0.isEmpty && library.setVoiceByName($0) == EE_OK }
    }

    private func byLanguage(_ tag: String) -> Bool {
        tag.withCString { text in
            var wanted = espeak_VOICE()
            wanted.languages = text
            return library.setVoiceByProperties(&wanted) == EE_OK
        }
    }

    /// espeak-ng passes over a variant that it does not have.
    private func checkVariant(_ parts: [Substring]) throws(NodeError) {
        guard parts.count > 1 else { return }
        let name = library.currentVoice()?.pointee.identifier.map { String(cString: $0) } ?? ""
        if !parts[1].isEmpty, name.lowercased().hasSuffix("+" + parts[1].lowercased()) { return }
        let known = list("variant").map { String($0.identifier.drop { $0 != "/" }.dropFirst()) }
        throw NodeError(
            "espeak-ng has no variant called \"\(parts[1])\"",
            hint: suggestion(String(parts[1]), among: known) ?? "there are m1 to m8, f1 to f5, whisper and others",
            key: TTS.voice.name)
    }

    /// "de_CH.UTF-8" as "de-ch"; empty: it cannot be a tag.
    private func languageTag(_ text: String) -> String {
        let tag = String(text.lowercased().prefix { $0 != "." && $0 != "@" }.map { $0 == "_" ? "-" : $0 })
        let isTag = tag.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
        return isTag && tag.utf8.count < 40 ? tag : ""
    }

    private func unknown(_ voice: String) -> NodeError {
        let known = list(nil).flatMap { [$0.name] + $0.languages }
        return NodeError(
            "espeak-ng has no voice called \"\(voice)\"",
            hint: suggestion(voice, among: known)
                ?? "give a language as in en, de-AT or pt-BR, or a voice that `voicegraph voices` lists",
            key: TTS.voice.name)
    }

    /// All voices, or those of a kind.
    func list(_ kind: String?) -> [(name: String, identifier: String, languages: [String])] {
        func read(_ wanted: UnsafeMutablePointer<espeak_VOICE>?) -> [(String, String, [String])] {
            guard var next = library.listVoices(wanted) else { return [] }
            var result: [(String, String, [String])] = []
            while let voice = next.pointee?.pointee {
                let identifier = voice.identifier.map { String(cString: $0) } ?? ""
                result.append((String(cString: voice.name), identifier, languages(voice)))
                next += 1
            }
            return result
        }
        guard let kind else { return read(nil) }
        return kind.withCString { text in
            var wanted = espeak_VOICE()
            wanted.languages = text
            return read(&wanted)
        }
    }

    /// The tags of a voice: each stands behind a byte of priority, and an empty one ends the list.
    private func languages(_ voice: espeak_VOICE) -> [String] {
        guard var next = voice.languages else { return [] }
        var result: [String] = []
        while next.pointee != 0 {
            let tag = String(cString: next + 1)
            result.append(tag)
            next += 2 + tag.utf8.count
        }
        return result
    }
}

/// "did you mean ...", if something known differs by few letters; nil: nothing does.
func suggestion(_ text: String, among known: [String]) -> String? {
    let best = suggestions(for: text, among: known).map { "\"\($0)\"" }
    return best.isEmpty ? nil : "did you mean \(best.joined(separator: " or "))?"
}
