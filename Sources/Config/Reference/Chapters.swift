// SPDX-License-Identifier: Apache-2.0
import GraphFile

extension FileReference {
    static func file(_ tables: FileTables) -> Section {
        Section(
            title: "The file",
            blocks: [
                .text(
                    "A graph file is TOML (toml.io): `key = value`, an entry a line, below a table's name in brackets. Text stands in "
                        + "straight quotes, numbers, true and false stand without. `voicegraph check FILE` shows everything that is wrong "
                        + "with one, `voicegraph run FILE` plays it."),
                .file(
                    """
                    [graph]
                    name  = "voice"
                    links = ["tone -> low -> speakers"]

                    [node.tone]
                    type     = "tone"
                    level_db = -20

                    [node.low]
                    type    = "gain"
                    gain_db = -6

                    [node.speakers]
                    type    = "output"
                    connect = ["system:playback_*"]
                    """),
                .keys(tables.file.settings),
                .text(
                    enumerated(tables.overrides.map { "`--set \($0)`" }, "and")
                        + " on the command line go before what the file says."),
            ])
    }

    static let graph = Section(title: "[graph]", blocks: [.keys(FileTable.graph.settings)])

    static let links = Section(
        title: "Links",
        blocks: [
            .text(
                "A link goes from an output to an input: `\"mic -> low\"`. A chain `\"mic -> low -> speakers\"` is two links. Links "
                    + "into one input are added. `node.port` names one port, `node.bus` the ports of a side bus, and the name of a node "
                    + "alone its main bus: the audio ports, or what else there is if there are none. As many outputs as inputs are "
                    + "linked one by one; one output goes to all inputs, and all outputs into one input. MIDI and messages are linked "
                    + "the same way, each kind to its own."),
            .text("A link as a table may be louder or quieter:"),
            .keys(FileTable.link.settings),
            .file(
                """
                [graph]
                links = [
                  "music -> duck -> speakers",
                  "voice -> duck.key",
                  { from = "voice", to = "speakers", gain_db = -3 },
                ]

                [node.music]
                type = "tone"
                wave = "pink"

                [node.voice]
                type      = "tone"
                frequency = 220

                [node.duck]
                type = "duck"

                [node.speakers]
                type     = "output"
                channels = 1
                """),
            .text(
                "A cycle is an error, unless a `delay` is in it: feedback lasts as long as the delay says, and at least one block."
            ),
            .file(
                """
                [graph]
                links = [
                  "tone -> mix -> speakers",
                  "mix -> delay",
                  { from = "delay", to = "mix.in_2", gain_db = -6 },
                ]

                [node.tone]
                type = "tone"
                wave = "impulse"

                [node.mix]
                type = "mix"

                [node.delay]
                type = "delay"
                ms   = 350

                [node.speakers]
                type = "output"
                """),
        ])

    static let control = Section(
        title: "Control links",
        blocks: [
            .text(
                "A control output can move a parameter: `\"sweep -> tone.frequency\"`. The parameter then follows it, in its own "
                    + "unit, within its range. A link has no scale of its own: the nodes that give controls have `offset` and `depth`, "
                    + "in the unit of what they move, and give offset + depth * wave (`lfo`) or offset + depth * level (`follower`). "
                    + "Several links into one control are added."),
            .file(
                """
                [graph]
                links = ["saw -> filter -> speakers", "sweep -> filter.frequency"]

                [node.saw]
                type = "tone"
                wave = "saw"

                # From 300 to 2100 Hz and back, twice a second.
                [node.sweep]
                type   = "lfo"
                rate   = 2
                offset = 1200
                depth  = 900

                [node.filter]
                type = "filter"
                kind = "lowpass"

                [node.speakers]
                type = "output"
                """),
        ])

    static let nodes = Section(
        title: "[node.NAME]",
        blocks: [
            .text(
                "One table for each node. Its name, made of letters, digits, `_` and `-`, is what links call it, and its ports at "
                    + "the JACK server. A parameter is a number, or in quotes a number with its unit (\"-6 dB\", \"2 kHz\", \"20 ms\"), on or "
                    + "off of a switch, or the label of a value that has one. Beside the settings and parameters of its type a "
                    + "node may have:"),
            .keys(NodeKeys.settings),
        ])

    static let plugins = Section(
        title: "LV2 plugins",
        blocks: [
            .text(
                "`plugin` is the plugin's URI or name; `params` sets its control inputs by symbol or label, to a number, true or "
                    + "false, or the label of a scale point, and its properties. A parameter may also stand beside `plugin`, as those "
                    + "of other types do. `voicegraph lv2 list` lists the plugins, `voicegraph describe lv2 PLUGIN` what one takes."
            ),
            .file(
                """
                [graph]
                links = ["mic -> amp -> speakers"]

                [node.mic]
                type    = "input"
                connect = ["system:capture_1"]

                [node.amp]
                type    = "lv2"
                plugin  = "http://lv2plug.in/plugins/eg-amp"
                params  = { gain = -6 }
                isolate = true

                [node.speakers]
                type = "output"
                """),
        ])

    static let variables = Section(
        title: "Variables",
        blocks: [
            .text(
                "In every string `${NAME}` is the environment variable of that name, `${NAME:-default}` the default where it is "
                    + "missing or empty, and `$$` a dollar sign. A string that is one variable and nothing else may stand for a number, "
                    + "or for true or false, where a key wants one: it is read as if it stood there without quotes. In `params` "
                    + "whatever reads as one is one."),
            .file(
                """
                [graph]
                links = ["tone -> speakers"]

                [node.tone]
                type     = "tone"
                level_db = "${LEVEL:--20}"
                mute     = "${QUIET:-false}"

                [node.speakers]
                type = "output"

                [driver]
                rate = "${RATE:-48000}"
                """),
        ])

    static func includes(_ tables: FileTables) -> Section {
        Section(
            title: "Include",
            blocks: [
                .text(
                    "`include` names graph files whose nodes and links come before those of this one. "
                        + enumerated(["[graph]"] + tables.kinds.map { "[\($0.table)]" }, "and")
                        + " of this file go before theirs, key by key. A node is described in one place only, and a file that "
                        + "is included twice is read once. Paths in included files start at the folder of the main file, as "
                        + "everywhere."),
                .lines(
                    """
                    include = ["studio.conf"]

                    [driver]
                    kind = "alsa"
                    """),
            ])
    }

    static let editors = Section(
        title: "In an editor",
        blocks: [
            .text(
                "`voicegraph help config --schema` prints a JSON schema of the file with the node types of this machine. Editors that "
                    + "use taplo complete and check a file whose first line names it:"),
            .lines("voicegraph help config --schema > voicegraph.schema.json"),
            .lines("#:schema ./voicegraph.schema.json"),
        ])
}
