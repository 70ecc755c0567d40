// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

/// Speech that recognizers understand, at 16 kHz: a voice of flite's.
func spoken(_ text: String, voice: String = "kal16") throws -> [Float] {
    let scratch = try Scratch()
    let path = scratch.file("speech.wav")
    try run("flite", ["-voice", voice, "-t", text, "-o", path])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    // What flite writes has the head of 44 bytes and integers of 16 bits.
    return bytes.dropFirst(44).withUnsafeBytes { raw in
        (0..<raw.count / 2).map { Float(raw.loadUnaligned(fromByteOffset: 2 * $0, as: Int16.self)) / 32768 }
    }
}

/// What a node says of a text, from its first sample to its last.
func spoken(_ text: String, _ arguments: [String: SettingValue] = [:], by node: NodeHarness) throws -> [Float] {
    node.capture.clear()
    let start = node.position
    try node.perform("speak", arguments.merging(["text": .string(text)]) { $1 })
    let output = node.renderUntilIdle(limit: 48000 * 60)[0]
    let first = try #require(node.capture.events("speech.started").first?.frame)
    let last = try #require(
        node.capture.events("speech.finished").first?.frame, "\(node.capture.eventNames) \(node.capture.logs)")
    return Array(output[(first - start)..<(last - start)])
}

/// So many seconds of silence at 16 kHz.
func silence(_ seconds: Double) -> [Float] { [Float](repeating: 0, count: Int(seconds * 16000)) }

/// Settings of a node that speaks by espeak-ng, whatever else is installed.
func byEspeak(_ settings: [String: SettingValue] = [:]) -> [String: SettingValue] {
    settings.merging(["engine": .string("espeak-ng")]) { given, _ in given }
}

/// The models of this user, for tests that need them.
enum TestModels {
    /// The folder.
    static let folder = userData + "/voicegraph/models"

    /// Whether all of these are installed.
    static func have(_ names: String...) -> Bool {
        names.allSatisfy { FileManager.default.fileExists(atPath: folder + "/" + $0) }
    }
}
