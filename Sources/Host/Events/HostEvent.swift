// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What the host itself publishes, about itself or about a node. Node types declare their own.
public enum HostEvent {
    private static let reason = Field("reason", VG_STRING, "why")
    private static let author = Field("by", VG_STRING, Author.doc)

    /// A run begins; the first line of `run --json`.
    public static let running = EventType(
        "running", "the graph plays; the status stands beside it", says: "")
    /// Once a second.
    public static let status = EventType("status", "what is measured, once a second", says: "")
    /// A run has ended.
    public static let finished = EventType(
        "finished", "the graph has ended; what was measured stands beside it", says: "")
    /// A node's health has changed.
    public static let health = EventType(
        "health", "how a node is has changed",
        fields: [Field("state", VG_STRING, "ok, degraded or failed"), reason], retained: true,
        says: "[{reason?}{state}: {reason}|well again]")
    /// A guard has closed behind a node.
    public static let silenced = EventType(
        "node.silenced", "a node is silenced because of what it gives",
        fields: [reason, Field("blocks", VG_INTEGER, "blocks like that so far")], says: "silenced: {reason}")
    /// It is open again.
    public static let heard = EventType(
        "node.heard", "a node that was silenced is heard again",
        fields: [reason, Field("blocks", VG_INTEGER, "blocks like that so far")], says: "heard again")
    /// An output is too loud.
    public static let clipped = EventType(
        "output.clipped", "an output is beyond full scale, where sound cards clip; told once a second",
        fields: [Field("peak", VG_NUMBER, "since the last time", unit: "dBFS")],
        says: "too loud: [+{peak:1} dB above full scale|above full scale]")
    /// An input was listened to.
    public static let judged = EventType(
        "input.judged", "what comes from an input: told at the start, and whenever somebody asks",
        fields: InputJudgement.fields, retained: true)
    /// A line of a log.
    public static let log = EventType(
        "log", "what a node or the host wants to be read",
        fields: [
            Field("text", VG_STRING, "the line"), Field("level", VG_STRING, "debug, info, warning or error"),
            Field("value", VG_NUMBER, "a number with it, from the audio thread"),
        ], says: "{text}")
    /// A processor's latency has changed.
    public static let latency = EventType(
        "latency", "a node is later or less late than before",
        fields: [Field("value", VG_NUMBER, "by how much", unit: "frames")], says: "its latency has changed")
    /// An inbox was full.
    public static let refused = EventType(
        "messages.refused", "messages for a node were refused because its inbox was full",
        fields: [Field("count", VG_INTEGER, "how many since the last time")], kind: .loss,
        says: "{count:message} refused: more wait than it can take")
    /// A change is heard.
    public static let changed = EventType(
        "graph.changed", "the graph has changed",
        fields: [
            Field("added", VG_LIST, "nodes that are new"), Field("removed", VG_LIST, "nodes that are gone"),
            Field("linked", VG_INTEGER, "links that are new"), Field("unlinked", VG_INTEGER, "links that are gone"),
            Field("parameters", VG_INTEGER, "parameters that were turned"),
            Field("settings", VG_INTEGER, "live settings that were changed"),
            Field("switched", VG_TABLE, "muted, unmuted, bypassed or unbypassed, by the names of nodes"),
            Field("seconds", VG_NUMBER, "until it was done", unit: "s"),
            Field("first_block_ms", VG_NUMBER, "until it was heard", unit: "ms"),
            Field("done_ms", VG_NUMBER, "until the last fade had ended", unit: "ms"),
            Field("text", VG_STRING, "all of that in words"),
        ], says: "graph: {text}")
    /// A parameter was turned. Its newest value is retained, of each parameter of a node.
    public static let parameterChanged = EventType(
        "parameter.changed",
        "a parameter was turned, whoever did it; what follows a link is not told, and of many turns at once the last",
        fields: [
            Field("parameter", VG_STRING, "its key"), Field("value", VG_NUMBER, "what it was set to"), author,
        ], retained: true, says: "")
    /// A live setting was changed. Its newest value is retained, of each setting of a node.
    public static let settingChanged = EventType(
        "setting.changed", "a live setting was changed, whoever did it, and its node has taken it",
        fields: [Field("setting", VG_STRING, "its key"), Field("value", VG_ANY, "what it is now"), author],
        retained: true, says: "")
    /// A node was muted, bypassed, or neither any more.
    public static let switched = EventType(
        "node.switched", "a node was muted or bypassed, or is not any more; both are told as they stand now",
        fields: [
            Field("mute", VG_BOOL, "whether it is muted"), Field("bypass", VG_BOOL, "whether it is bypassed"), author,
        ], retained: true, says: "")
    /// A file was not taken.
    public static let reloadFailed = EventType(
        "reload.failed", "a graph file was not taken; the graph plays on as it was",
        fields: [reason, Field("diagnostics", VG_LIST, "what is wrong with it")],
        kind: .failure, says: "reload failed: {reason}")
    /// The graph cannot go on as it should.
    public static let failed = EventType(
        "failed", "the graph cannot do what it should", fields: [reason], kind: .failure, says: "failed: {reason}")
    /// A subscriber was too slow.
    public static let eventsLost = EventType(
        "events.lost", "events were lost because this reader was slow",
        fields: [Field("count", VG_INTEGER, "how many")], kind: .loss,
        says: "{count:event} lost: they came faster than they were read")

    /// Browsers can look.
    public static let web = EventType(
        "web", "the graph is shown to browsers",
        fields: [
            Field("url", VG_STRING, "where"),
            Field("link", VG_STRING, "the same with the owner's token, which lets whoever has it in"),
            Field("links", VG_TABLE, "such a link for each right: visitor, operator, owner"),
            Field("remote", VG_BOOL, "whether other machines reach it"),
        ], retained: true,
        says: "browsers[{remote?}, those of other machines too, and nothing is encrypted]: {link}")
    /// How the archive is.
    public static let archive = EventType(
        "archive.state", "how what is to be kept is kept",
        fields: [
            Field("state", VG_STRING, "keeping, waiting (the items are held until they can be written) or ended"),
            reason,
            Field("path", VG_STRING, "the file"),
            Field("waiting", VG_INTEGER, "items and takes that are not written yet"),
            Field("lost", VG_INTEGER, "items and takes that could not be written"),
        ], retained: true)
    /// An archive was not usable.
    public static let archiveSetAside = EventType(
        "archive.set-aside", "the archive could not be used and has another name now; a new one was begun",
        fields: [Field("path", VG_STRING, "what it is called now"), reason], kind: .failure,
        says: "the archive could not be used: {reason}; it is called {path} now, and a new one was begun")

    // The driver.

    /// Another rate or block size.
    public static let format = EventType(
        "format.changed", "the driver has another format",
        fields: [
            Field("rate", VG_NUMBER, "the new one", unit: "Hz"),
            Field("block", VG_INTEGER, "the new one", unit: "frames"),
        ], retained: true, says: "the driver plays at {rate} Hz[, {block} frames] now")
    /// No more cycles come.
    public static let stalled = EventType(
        "stalled", "the server has stopped calling", says: "the server has stopped calling")
    /// Cycles come again.
    public static let resumed = EventType("resumed", "the server calls again", says: "the server calls again")
    /// The server is gone.
    public static let serverLost = EventType(
        "server.lost", "the JACK server is gone", fields: [reason], says: "the JACK server is gone[: {reason}]")
    /// The server is back.
    public static let serverBack = EventType(
        "server.back", "the JACK server is back, and so are the connections",
        says: "the server is back, and so are the connections")
    /// The server that was waited for is there.
    public static let serverFound = EventType(
        "server.found", "a server that was not there at the start is played through now",
        fields: [
            Field("driver", VG_STRING, "jack or pipewire"), Field("server", VG_STRING, "its name"),
            Field("client", VG_STRING, "the name of the graph's client there"),
        ], says: "the server is there ({driver}[ '{server}']): the graph plays through it now")
    /// The client was thrown out.
    public static let reactivated = EventType(
        "reactivated", "the server had stopped calling us, and was made to again",
        says: "the server had stopped calling, and was made to call again")
    /// A connection was made.
    public static let connected = EventType(
        "connected", "a connection was made",
        fields: [Field("from", VG_STRING, "the source"), Field("to", VG_STRING, "the target")],
        says: "connected: {from} to {to}")
    /// A connection was not made.
    public static let connectionRefused = EventType(
        "connection.refused", "the server did not make a connection that the graph wants",
        fields: [Field("from", VG_STRING, "the source"), Field("to", VG_STRING, "the target"), reason],
        says: "not connected: {from} to {to}: {reason}")
    /// MIDI was lost.
    public static let midiLost = EventType(
        "midi.lost", "MIDI events were lost, since more came in a block than a buffer holds; told once a second",
        fields: [Field("count", VG_INTEGER, "events since the last time")], kind: .loss,
        says: "{count:MIDI event} lost: more came than a block can hold")
    /// An input has nothing to hear any more.
    public static let sourceLost = EventType(
        "source.lost", "nothing is connected to an input any more, as when a microphone is unplugged",
        says: "nothing is connected to it any more")
    /// It has again.
    public static let sourceBack = EventType(
        "source.back", "something is connected to that input again", says: "something is connected to it again")
    /// What the server reported.
    public static let xrun = EventType(
        "xrun", "the server reports a dropout",
        fields: [
            Field("delay", VG_NUMBER, "as the server tells it", unit: "s"),
            Field("cause", VG_STRING, "see dropout"),
        ], kind: .loss, says: "")
    /// What was found out about it.
    public static let dropout = EventType(
        "dropout", "audio was late",
        fields: [
            Field("cause", VG_STRING, "node, graph, scheduling, upstream, server, elsewhere or stopped"),
            Field("text", VG_STRING, "in words"), Field("cycles", VG_INTEGER, "cycles in a row"),
        ], kind: .loss, says: "late: {text}[ ({cycles:cycle})]")

    /// The field that tells apart the states of one name that a node has; see `Event.part`.
    static let parts = [parameterChanged.name: "parameter", settingChanged.name: "setting"]

    /// All of them.
    public static let all: [EventType] = [
        running, status, finished, health, silenced, heard, clipped, judged, log, latency, refused, changed,
        parameterChanged, settingChanged, switched, reloadFailed, web, archive, archiveSetAside, failed, eventsLost,
        format, stalled, resumed, serverLost, serverBack, serverFound, reactivated, connected, connectionRefused,
        midiLost, sourceLost, sourceBack, xrun, dropout,
    ]
}
