// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The sound files that can be written, by their suffixes: those that a `record` node knows.
enum SoundSuffix {
    static let all = [".wav", ".flac", ".ogg", ".opus"]
    /// For sentences.
    static let listed = all.dropLast().joined(separator: ", ") + " or " + all.last!
    static let completion = CompletionKind.file(extensions: all.map { String($0.dropFirst()) })

    /// Whether a file of this name can be written.
    static func isKnown(_ path: String) -> Bool { all.contains { path.lowercased().hasSuffix($0) } }
}
