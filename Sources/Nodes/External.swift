// SPDX-License-Identifier: Apache-2.0
import NodeKit

// The four nodes at the edge of the graph. They have no processing of their own: the driver fills or takes their
// buffers, and keeps the connections that `connect` names.

/// The driver reads it, the nodes do not.
private func connectSetting(_ what: String, _ example: String) -> Key<[String]> {
    .texts(
        "connect", "\(what) to connect to whenever they appear: names or globs, in order; \(example)", default: [])
}

/// Audio from outside: a microphone, another program, or the files of an offline run.
final class Input: Node {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "input", "audio from outside: a microphone or another program",
        doc: "Offline it reads the file given with --input, or silence.",
        ports: Port.audio(VG_OUTPUT, channels: 1, doc: "what comes in"),
        settings: [channels, connectSetting("ports", "for example \"system:capture_1\"")],
        otherNames: ["mic", "microphone", "capture", "adc", "in", "source", "audio-in", "line-in", "jack-input"],
        flags: VG_EXTERNAL)

    private static let channels = Key.channels("audio channels, each a port that other programs can connect to")

    let layout: Layout

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        layout = Layout(ports: Port.audio(VG_OUTPUT, channels: try settings[Self.channels], doc: "what comes in"))
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}

/// Audio to the outside: loudspeakers, another program, or the file of an offline run.
final class Output: Node {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "output", "audio to the outside: loudspeakers or another program",
        doc: "Offline it is what is written to the file.",
        ports: Port.audio(VG_INPUT, channels: 2, doc: "what goes out"),
        settings: [channels, connectSetting("ports", "for example \"system:playback_*\"")],
        otherNames: [
            "speaker", "speakers", "playback", "dac", "out", "sink", "audio-out", "headphones", "jack-output",
        ], flags: VG_EXTERNAL)

    private static let channels = Key.channels(
        "audio channels, each a port that other programs can connect to", default: 2)

    let layout: Layout

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        layout = Layout(ports: Port.audio(VG_INPUT, channels: try settings[Self.channels], doc: "what goes out"))
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}

/// MIDI from outside: a keyboard or another program.
final class MIDIInput: Node {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "midi-input", "MIDI from outside: a keyboard or another program",
        ports: [Port(VG_MIDI_PORT, VG_OUTPUT, "out", doc: "the events that come in")],
        settings: [connectSetting("MIDI ports", "for example \"system:midi_capture_1\"")],
        otherNames: ["midi", "midi-in", "keyboard"], flags: VG_EXTERNAL)

    init(settings: Settings, host: NodeHost) throws(NodeError) {}

    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}

/// MIDI to the outside: a synthesizer or another program.
final class MIDIOutput: Node {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "midi-output", "MIDI to the outside: a synthesizer or another program",
        ports: [Port(VG_MIDI_PORT, VG_INPUT, "in", doc: "the events that go out")],
        settings: [connectSetting("MIDI ports", "for example \"system:midi_playback_1\"")], otherNames: ["midi-out"],
        flags: VG_EXTERNAL)

    init(settings: Settings, host: NodeHost) throws(NodeError) {}

    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}
