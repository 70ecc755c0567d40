// SPDX-License-Identifier: Apache-2.0
import Graph
import TestSupport

@testable import Drivers

@Suite("Desired connections")
struct JackConnectionsTests {
    private let others = JackConnections.Others(
        audioSources: ["system:capture_1", "system:capture_2", "guitar:out"],
        audioSinks: ["system:playback_1", "system:playback_2", "recorder:in_1", "recorder:in_2"],
        midiSources: ["keys:out", "system:midi_capture_1"], midiSinks: ["synth:in"])

    private func node(
        _ name: String, channels: Int, capture: Bool, midi: Bool = false, connect: [String]
    ) -> [ExternalPort] {
        (1...channels).map {
            ExternalPort(node: name, number: $0, isMIDI: midi, isCapture: capture, connect: connect)
        }
    }

    private func wanted(_ ports: [ExternalPort]) -> Set<String> {
        Set(
            JackConnections.pairs(ports, others).map {
                $0.isCapture ? "\($0.other) > \($0.own)" : "\($0.own) > \($0.other)"
            })
    }

    @Test("One glob pairs what it matches with the channels, in order")
    func oneGlob() {
        let expected: Set = ["speakers_1 > system:playback_1", "speakers_2 > system:playback_2"]
        #expect(wanted(node("speakers", channels: 2, capture: false, connect: ["system:playback_*"])) == expected)
    }

    @Test("A client's name alone stands for its ports of the right kind and direction")
    func clientName() {
        let speakers = node("speakers", channels: 2, capture: false, connect: ["system"])
        #expect(wanted(speakers) == ["speakers_1 > system:playback_1", "speakers_2 > system:playback_2"])
        let mic = node("mic", channels: 1, capture: true, connect: ["system"])
        #expect(wanted(mic) == ["system:capture_1 > mic_1"])
        let keys = node("keys", channels: 1, capture: true, midi: true, connect: ["system"])
        #expect(wanted(keys) == ["system:midi_capture_1 > keys_1"])
    }

    @Test("Without a client 'system' its names mean the physical ports, by number")
    func noSystemClient() {
        let pipewire = JackConnections.Others(
            aliases: ["Speakers:playback_FL": ["system:playback_1"], "Speakers:playback_FR": ["system:playback_2"]],
            audioSinks: ["Speakers:playback_FL", "Speakers:playback_FR", "recorder:in_1"])
        let both = node("out", channels: 2, capture: false, connect: ["system:playback_*"])
        #expect(
            Set(JackConnections.pairs(both, pipewire).map(\.other)) == ["Speakers:playback_FL", "Speakers:playback_FR"])
        let second = node("out", channels: 1, capture: false, connect: ["system:playback_2"])
        #expect(JackConnections.pairs(second, pipewire).map(\.other) == ["Speakers:playback_FR"])
    }

    @Test("The only channel of an output goes to all that its glob matches, that of an input hears one")
    func onlyChannel() {
        let voice = node("voice", channels: 1, capture: false, connect: ["system:playback_*"])
        #expect(wanted(voice) == ["voice_1 > system:playback_1", "voice_1 > system:playback_2"])
        let mic = node("mic", channels: 1, capture: true, connect: ["system:capture_*"])
        #expect(wanted(mic) == ["system:capture_1 > mic_1"])
    }

    @Test("Several globs belong to the channels one by one")
    func oneGlobPerChannel() {
        let ports = node("speakers", channels: 2, capture: false, connect: ["system:playback_2", "recorder:in_1"])
        #expect(wanted(ports) == ["speakers_1 > system:playback_2", "speakers_2 > recorder:in_1"])
    }

    @Test("More globs than channels begin anew with the first channel")
    func moreGlobsThanChannels() {
        let ports = node("out", channels: 1, capture: false, connect: ["system:playback_1", "system:playback_2"])
        #expect(wanted(ports) == ["out_1 > system:playback_1", "out_1 > system:playback_2"])
    }

    @Test("One of several globs connects its channel to all that it matches")
    func globOfSeveral() {
        let ports = node("out", channels: 2, capture: false, connect: ["*:*_1", "nothing:*"])
        #expect(wanted(ports) == ["out_1 > system:playback_1", "out_1 > recorder:in_1"])
    }

    @Test("Channels without a partner stay alone, as do nodes that want nothing")
    func tooFewPartners() {
        #expect(wanted(node("mic", channels: 3, capture: true, connect: ["guitar:*"])) == ["guitar:out > mic_1"])
        #expect(wanted(node("mic", channels: 1, capture: true, connect: ["piano:*"])) == [])
        #expect(wanted(node("mic", channels: 1, capture: true, connect: [])) == [])
    }

    @Test("A name that is there as it stands is meant before what it would mean as a glob")
    func literal() {
        let odd = JackConnections.Others(audioSources: [
            "Scarlett U (2):in_1", "Scarlett [USB] (2):cap [x]_1", "Scarlett [USB] (2):cap [x]_2", "a1:out",
            "a[12]:out",
        ])
        func meant(_ entry: String, _ others: JackConnections.Others? = nil) -> [String] {
            JackConnections.pairs(node("mic", channels: 4, capture: true, connect: [entry]), others ?? odd)
                .map(\.other).sorted()
        }
        let both = ["Scarlett [USB] (2):cap [x]_1", "Scarlett [USB] (2):cap [x]_2"]
        #expect(meant("Scarlett [USB] (2)") == both)
        #expect(meant("Scarlett [USB] (2):*") == both)
        #expect(meant("Scarlett [USB] (2):*_2") == [both[1]])
        #expect(meant(both[0]) == [both[0]])
        #expect(meant("a[12]:out") == ["a[12]:out"] && meant("a[12]") == ["a[12]:out"])
        #expect(meant("a[12]", .init(audioSources: ["a1:out", "a2:out", "a3:out"])) == ["a1:out", "a2:out"])
    }

    @Test("An alias is a name of its port")
    func alias() {
        let card = JackConnections.Others(
            aliases: ["system:midi_capture_3": ["alsa_pcm:Keystation/out", "keystation:one"]],
            midiSources: ["system:midi_capture_1", "system:midi_capture_3"])
        for entry in ["keystation", "keystation:one", "alsa_pcm:Key*", "system:midi_capture_3"] {
            let ports = node("keys", channels: 1, capture: true, midi: true, connect: [entry])
            #expect(JackConnections.pairs(ports, card).map(\.other) == ["system:midi_capture_3"], "\(entry)")
        }
        let wants = node("keys", channels: 1, capture: true, midi: true, connect: ["keystation", "hw:1"])[0]
        #expect(JackConnections.unmatched(wants, card) == ["hw:1"])
    }

    @Test("Brackets and question marks are globs, and a name as it stands is always meant")
    func patterns() {
        #expect(JackConnections.matches("a:out_1", glob: "a:out_?"))
        #expect(JackConnections.matches("a:out_2", glob: "a:out_[12]"))
        #expect(!JackConnections.matches("a:out_3", glob: "a:out_[12]"))
        #expect(JackConnections.matches("odd [x]:out", glob: "odd [x]:out"))
        #expect(!JackConnections.matches("ab:out", glob: "a"))
    }
}
