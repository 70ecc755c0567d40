// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A recording that is complete.
struct Take {
    var path: String
    var frames: Int
    var seconds: Double
    var lost: Lost
    var clipped: Int
    /// Nil: silence.
    var peak, truePeak, loudness: Double?
    var outline: [Float]

    var fields: [(String, SettingValue)] {
        let levels = [("peak", peak), ("true_peak", truePeak), ("loudness", loudness)]
        return [
            ("path", .string(path)), ("frames", .integer(Int64(frames))), ("seconds", .number(seconds)),
            ("dropped", .integer(Int64(lost.frames))), ("missing", .number(lost.seconds)),
            ("clipped", .integer(Int64(clipped))),
        ] + levels.compactMap { name, level in level.map { (name, .number($0)) } }
    }

    /// The outline too, which is no answer for people.
    var drawn: [(String, SettingValue)] {
        let values = outline.map { SettingValue.number((min(Double($0), 1000) * 1000).rounded() / 1000) }
        return fields + [("outline", .list(values))]
    }

    static let drawing = Field(
        "outline", VG_LIST, "the largest magnitudes of equal parts of it, 200 at most; 1 is full scale")

    static let declared = [
        Field("path", VG_STRING, "the file"), Field("frames", VG_INTEGER, "written", unit: "frames"),
        Field("seconds", VG_NUMBER, "how long it is", unit: "s"),
        Field("dropped", VG_INTEGER, "lost to dropouts and a slow disk", unit: "frames"),
        Field("missing", VG_NUMBER, "of the time that passed, pauses left out, it is without", unit: "s"),
        Field("clipped", VG_INTEGER, "samples beyond full scale, in formats of integers"),
        Field("peak", VG_NUMBER, "the largest sample; of silence there is none", unit: "dBFS"),
        Field("true_peak", VG_NUMBER, "the largest value between samples (ITU-R BS.1770)", unit: "dBTP"),
        Field("loudness", VG_NUMBER, "of the whole (EBU R 128)", unit: "LUFS"),
    ]
}

/// What the node tells, and how it is declared.
enum RecordEvent {
    static let started = "record.started"
    static let finished = "record.finished"
    static let dropped = "record.dropped"
    static let clipped = "record.clipped"
    static let discarded = "record.discarded"
    static let limit = "record.limit"
    static let levels = "record.levels"
    static let failed = "record.failed"
    static let state = "record.state"

    private static let path = Field("path", VG_STRING, "the file")
    private static let frames = Field("frames", VG_INTEGER, "written so far", unit: "frames")
    private static let reason = Field("reason", VG_STRING, "why")

    static let levelFields = [
        Field("values", VG_LIST, "levels of the newest tenths of a second in dBFS, 100 at most, oldest first"),
        Field("seconds", VG_NUMBER, "recorded so far, pauses left out", unit: "s"),
    ]

    static let types = [
        EventType(
            started, "a recording has begun",
            fields: [
                path, Field("place", VG_STRING, "what the file is called until it is complete"),
                Field("rate", VG_NUMBER, "of the file", unit: "Hz"),
                Field("channels", VG_INTEGER, "of the file"),
            ], role: .take(.partial), says: "recording to {path}"),
        EventType(
            finished, "a recording is complete", fields: Take.declared + [Take.drawing], role: .take(.whole),
            says: "recorded [{seconds:time} to ]{path}[, true peak {true_peak:1} dBTP][, {loudness:1} LUFS]"),
        EventType(
            dropped, "audio is missing: it was lost, or none came",
            fields: [
                Field("frames", VG_INTEGER, "of the audio", unit: "frames"),
                Field("total", VG_INTEGER, "of this recording that were lost, interruptions left out", unit: "frames"),
                Field("seconds", VG_NUMBER, "how long that is", unit: "s"),
                Field("missing", VG_NUMBER, "in all, with interruptions", unit: "s"),
                Field("at", VG_INTEGER, "of the file, where it is missing", unit: "frames"),
                Field(
                    "cause", VG_STRING,
                    "disk (too slow), dropout (somebody was too late) or interruption (nothing came, or could be heard)"
                ),
                reason,
            ], kind: .loss, says: "{seconds:3} s are missing of the recording: [{reason}|they were lost]"),
        EventType(
            clipped, "what came was beyond full scale where it became integers",
            fields: [
                Field("samples", VG_INTEGER, "since the last time"), Field("total", VG_INTEGER, "of this recording"),
            ], says: "{samples:sample} clipped: louder than the file can hold"),
        EventType(
            discarded, "a recording was thrown away", fields: [path, frames], role: .take(.withdrawn),
            says: "thrown away: {path}"),
        EventType(
            limit, "the recording is as long as it may be, and ends",
            fields: [Field("seconds", VG_NUMBER, "of it, pauses left out", unit: "s")], says: "the limit is reached"),
        EventType(levels, "each second: what is recorded", fields: levelFields, retained: true),
        EventType(
            failed, "a recording ended, because the disk refused it",
            fields: [
                path, reason, frames,
                Field("kind", VG_STRING, "of the failure: " + RecordFault.diskKinds),
                Field("place", VG_STRING, "what the file that holds what there is of it is called"),
            ],
            role: .take(.whole), kind: .failure),
        EventType(
            state, "whether it records",
            fields: [
                Field(
                    "state", VG_STRING,
                    "idle, recording, paused (by the user), interrupted (no audio comes), finished or failed"), path,
                frames, Field("seconds", VG_NUMBER, "recorded so far, pauses left out", unit: "s"),
                Field("dropped", VG_INTEGER, "lost in this recording", unit: "frames"),
                Field("missing", VG_NUMBER, "of the time that passed, pauses left out, it is without", unit: "s"),
                reason,
            ], retained: true),
    ]
}
