// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit

extension FileReference {
    static let fileKeys = [
        Key(
            "include", VG_SET_STRINGS,
            "other graph files, from the folder of this one; it stands before the first table"),
        Key("graph", VG_SET_TABLE, "the graph as a whole, see [graph]"),
        Key("node", VG_SET_TABLE, "the nodes by name, see [node.NAME]", required: true),
        Key("driver", VG_SET_TABLE, "what calls the audio, see [driver]"),
        Key("web", VG_SET_TABLE, "how the graph is shown to browsers, see [web]"),
    ]

    static let graphKeys = [
        Key(
            "name", VG_SET_STRING,
            "the JACK client's name: 1 to 48 bytes, no colon and no control characters", default: "\"voicegraph\""),
        Key("links", VG_SET_VALUE, "what goes where, see Links: a list of strings and tables, or one string"),
        Key(
            "threads", VG_SET_VALUE,
            "how many threads may run the graph together; \"auto\": one for each processor. What is heard is the same",
            default: "1", range: 1...Threads.most, choices: ["\"auto\""]),
        Key(
            "archive", VG_SET_BOOL, "false: nothing is kept of this graph, whatever its nodes say with `keep`",
            default: "true"),
    ]

    static let linkKeys = [
        Key("from", VG_SET_STRING, "where the signal comes from: a node, or node.port", required: true),
        Key("to", VG_SET_STRING, "where it goes: a node, node.port or node.parameter", required: true),
        Key(
            "gain_db", VG_SET_NUMBER, "how much louder or quieter an audio link is", default: "0", range: -200...200,
            unit: "dB"),
    ]

    static let nodeKeys = [
        Key("type", VG_SET_STRING, "the node type, see Node types", required: true),
        Key(
            "required", VG_SET_BOOL,
            "true: the graph does not run without the node; false: it does. Otherwise a node that cannot be made is passed by "
                + "and told, if what goes into it can go where it leads, and else it is an error"),
        Key(
            "bypass", VG_SET_BOOL,
            "true: what goes in is heard in place of what comes out, as late; the node runs on", default: "false"),
        Key(
            "mute", VG_SET_BOOL, "true: nothing is heard of it, and it sends no MIDI; the node runs on",
            default: "false"),
        Key(
            "guard", VG_SET_BOOL,
            "false: what is not a number, infinite or above +24 dBFS is let through; otherwise it is silenced and told",
            default: "true"),
        Key(
            "tail", VG_SET_STRING,
            "what becomes of its sound when it is removed while it plays: \"spill\" lets it end, \"cut\" fades it out",
            default: "\"cut\"", choices: ["spill", "cut"]),
        Key(
            "isolate", VG_SET_VALUE,
            "true: the node runs in a process of its own, \"group\": in one with all that say so. For LV2 and other plugins",
            default: "false", choices: ["true", "false", "\"group\""]),
        Key(
            "keep", VG_SET_BOOL, "true: its texts and takes are kept in the archive, if its type tells any",
            default: "false"),
        Key(
            "speaker", VG_SET_STRING,
            "who is heard in what is kept, in 1 to 100 bytes; otherwise the node's name"),
    ]

    static let driverKeys = [
        Key(
            "kind", VG_SET_STRING,
            "what calls the audio. auto: the running JACK server, else PipeWire, else dummy until there is one of "
                + "them; jack and pipewire are waited for; alsa and dummy begin a jackd of "
                + "their own", default: "\"auto\"", choices: DriverDescription.Kind.allCases.map(\.rawValue)),
        Key("server", VG_SET_STRING, "the JACK server's name, or that of PipeWire's socket"),
        Key("device", VG_SET_STRING, "ALSA's name of the sound card, for kind = \"alsa\"", default: "\"hw:0\""),
        Key("capture", VG_SET_STRING, "another card to record from, for kind = \"alsa\"; otherwise `device`"),
        Key("playback", VG_SET_STRING, "another card to play to, for kind = \"alsa\"; otherwise `device`"),
        Key(
            "rate", VG_SET_INTEGER, "the rate of a server of our own; others have theirs",
            range: DriverDescription.rates,
            unit: "Hz"),
        Key(
            "block", VG_SET_INTEGER, "the block of a server of our own", range: DriverDescription.blocks, unit: "frames"
        ),
        Key(
            "periods", VG_SET_INTEGER, "blocks in the sound card's buffer; USB often wants 3", default: "2",
            range: DriverDescription.periodCounts),
    ]

    static let webKeys = [
        Key(
            "listen", VG_SET_VALUE, "where it listens: HOST:PORT, HOST or PORT; port 0 is any that is free",
            default: "\"\(WebDescription.standardListen)\"", range: 0...65535),
        Key("origins", VG_SET_STRINGS, "pages elsewhere that may use it, as \"https://example.org\""),
        Key("names", VG_SET_STRINGS, "names under which a proxy passes requests on"),
        Key("read_only", VG_SET_BOOL, "true: whoever looks may change nothing", default: "false"),
        Key("remote", VG_SET_BOOL, "true: it may listen where other machines reach it", default: "false"),
        Key(
            "actions", VG_SET_STRINGS,
            "the actions that browsers may do, as \"take.start\" or \"voice.*\"; without it all"),
        Key("tokens", VG_SET_STRING, "the file that keeps the tokens of its links; without it each run has new ones"),
        Key(
            "trust", VG_SET_BOOL,
            "true: browsers may name programs, files outside the graph's folder, variables and addresses",
            default: "false"),
        Key("texts", VG_SET_TABLE, "what the element says otherwise, by names of words.js: { start = \"Ask me\" }"),
        Key("theme", VG_SET_STRING, "how it looks", default: "\"system\"", choices: WebDescription.themes),
        Key("logo", VG_SET_STRING, "an image for its button and the page's head: SVG, PNG, JPEG or WebP"),
        Key(
            "state", VG_SET_STRING, "expanded: a conversation begins by itself", default: "\"collapsed\"",
            choices: WebDescription.states),
    ]
}
