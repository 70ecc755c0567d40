// SPDX-License-Identifier: Apache-2.0
import NodeKit

extension FileReference {
    /// The keys that nodes of every type have.
    public static let commonKeys = [
        Setting("type", VG_SET_STRING, "the node type, see Node types", required: true),
        Setting(
            "required", VG_SET_BOOL,
            "true: the graph does not run without the node; false: it does. Otherwise a node that cannot be made is passed by "
                + "and told, if what goes into it can go where it leads, and else it is an error"),
        Setting(
            "bypass", VG_SET_BOOL,
            "true: what goes in is heard in place of what comes out, as late; the node runs on", default: "false"),
        Setting(
            "mute", VG_SET_BOOL, "true: nothing is heard of it, and it sends no MIDI; the node runs on",
            default: "false"),
        Setting(
            "guard", VG_SET_BOOL,
            "false: what is not a number, infinite or above +24 dBFS is let through; otherwise it is silenced and told",
            default: "true"),
        Setting(
            "tail", VG_SET_STRING,
            "what becomes of its sound when it is removed while it plays: \"spill\" lets it end, \"cut\" fades it out",
            default: "\"cut\"", choices: ["spill", "cut"]),
        Setting(
            "isolate", VG_SET_VALUE,
            "true: the node runs in a process of its own, \"group\": in one with all that say so. For LV2 and other plugins",
            default: "false", choices: ["true", "false", "\"group\""]),
        Setting(
            "keep", VG_SET_BOOL, "true: its texts and takes are kept in the archive, if its type tells any",
            default: "false"),
        Setting(
            "speaker", VG_SET_STRING,
            "who is heard in what is kept, in 1 to 100 bytes; otherwise the node's name"),
    ]
}
