// SPDX-License-Identifier: Apache-2.0

/// What manual pages say beyond what the commands say of themselves: exit codes, variables and files.
struct ManualFact {
    /// What is described.
    let name: String
    let text: String
    /// The commands whose pages have it; that of the whole program has all.
    let commands: Set<String>

    private init(_ name: String, _ text: String, of commands: Set<String>) {
        (self.name, self.text, self.commands) = (name, text, commands)
    }

    /// What the codes mean with which all commands end.
    static let exitCodes = [
        ("0", "What was asked for was done."),
        ("1", "It was refused, or failed; standard error says why and what to do."),
        ("64", "The command line is wrong; standard error says where."),
    ]

    private static let playing: Set = ["run", "record", "say", "takes"]
    private static let building: Set = [
        "run", "render", "check", "nodes", "describe", "say", "speak", "voices", "transcribe",
    ]
    private static let calling: Set = ["run", "ctl", "status", "top", "web", "say", "graph"]

    /// Variables that are read.
    static let environment = [
        ManualFact(
            "VOICEGRAPH_PLUGIN_PATH",
            "Folders with plugins, separated by colons. They are searched after those of --plugin-path, and before "
                + "that of the command, lib/voicegraph beside it, and that of the user.", of: building),
        ManualFact(
            "VOICEGRAPH_SECRETS",
            "Variables that hold keys, separated by colons: no process that is started gets them. What a graph names with "
                + "key_env is one of them.", of: building),
        ManualFact(
            "LV2_PATH", "Folders with LV2 plugins, separated by colons, in place of the usual ones.",
            of: building.union(["lv2"])),
        ManualFact("JACK_DEFAULT_SERVER", "The JACK server that is meant where none is named.", of: playing),
        ManualFact("PIPEWIRE_REMOTE", "The socket of PipeWire that is meant where none is named.", of: playing),
        ManualFact(
            "NOTIFY_SOCKET",
            "Where a service manager is told READY=1, STATUS=, RELOADING=1 and STOPPING=1, as by sd_notify(3); systemd "
                + "sets it for a unit with Type=notify.", of: ["run"]),
        ManualFact(
            "WATCHDOG_USEC",
            "The service manager is told WATCHDOG=1 in half of that time, as long as the run can be controlled; systemd "
                + "sets it for a unit with WatchdogSec.", of: ["run"]),
        ManualFact(
            "VOICEGRAPH_NODEKIT", "Where the package NodeKit is, for a plugin in Swift that is built.", of: ["plugin"]),
        ManualFact(
            "XDG_RUNTIME_DIR", "The folder of sockets.", of: calling),
        ManualFact(
            "XDG_DATA_HOME", "The folder of what is kept, ~/.local/share if it is not set.",
            of: ["run", "models", "transcripts", "takes"]),
        ManualFact(
            "XDG_CACHE_HOME", "The folder of what can be made again, ~/.cache if it is not set.", of: ["run", "lv2"]),
        ManualFact("NO_COLOR", "Nothing is coloured.", of: ["run", "check", "top"]),
    ]

    /// Files that are read and written.
    static let files = [
        ManualFact(
            "~/.config/voicegraph/NAME.conf",
            "The graph that the systemd unit voicegraph@NAME of the user plays: `systemctl --user enable --now "
                + "voicegraph@NAME`.", of: ["run"]),
        ManualFact(
            "$XDG_RUNTIME_DIR/voicegraph/NAME.sock", "Where a run is controlled, by the name of its JACK client.",
            of: calling),
        ManualFact(
            "~/.local/share/voicegraph/archive.sqlite", "What nodes with keep = true said and recorded.",
            of: ["run", "transcripts", "takes"]),
        ManualFact(
            "~/.local/share/voicegraph/models", "Models, each in a folder of its own.",
            of: ["run", "render", "speak", "transcribe", "models"]),
        ManualFact("~/.local/share/voicegraph/plugins", "Plugins of the user.", of: building),
        ManualFact("~/.cache/voicegraph", "What is known of the installed LV2 plugins.", of: ["run", "lv2"]),
        ManualFact(
            "share/doc/voicegraph/examples", "Example graphs, below the prefix of the command.", of: ["run", "render"]),
        ManualFact(
            "share/voicegraph/NodeKit", "What plugins are built with, below the prefix of the command.", of: ["plugin"]),
    ]

    /// Those of a page; `command` nil: all.
    static func of(_ facts: [ManualFact], _ command: String?) -> [ManualFact] {
        facts.filter { fact in command.map { fact.commands.contains($0) } ?? true }
    }
}
