// SPDX-License-Identifier: Apache-2.0

/// The types of which the host and its commands make graphs of their own, or that a graph file cannot do without. All else
/// asks a node what it declares; a test looks for names.
public enum StandardType {
    /// Audio and MIDI from outside and to the outside.
    public static let (input, output, midiInput, midiOutput) = ("input", "output", "midi-input", "midi-output")
    /// Plays a sound file.
    public static let file = "file"
    /// Writes one.
    public static let record = "record"
    /// What a recording goes through on its way.
    public static let (filter, gate, deesser, compressor, limiter) = (
        "filter", "gate", "deesser", "compressor", "limiter"
    )
    /// Measures.
    public static let meter = "meter"
    /// Speaks.
    public static let speech = "tts"
    /// Makes text of what is said.
    public static let transcription = "transcribe"
    /// Tells who says it.
    public static let speaker = "speaker"
    /// Hosts an LV2 plugin.
    public static let lv2 = "lv2"
}
