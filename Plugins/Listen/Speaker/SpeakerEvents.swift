// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What the node `speaker` tells, and how it is declared.
enum SpeakerEvent {
    static let heard = "speaker.heard"
    static let state = "speaker.state"
    static let enrolling = "speaker.enrolling"
    static let enrolled = "speaker.enrolled"
    static let refused = "speaker.refused"
    static let forgotten = "speaker.forgotten"

    private static let named = Field("name", VG_STRING, "whose voice it is")
    private static let name = Field("name", VG_STRING, "who speaks for sure; blank: nobody that is known")
    private static let maybe = Field("maybe", VG_STRING, "who it may be where that is not sure; else blank")
    private static let likeness = Field("likeness", VG_NUMBER, "of this voice and the most alike one, 0 to 1")

    static let types = [
        EventType(
            heard, "who speaks is known, or is another than before; the position is where that begins",
            fields: [name, maybe, likeness],
            says: "[{name} speaks|it may be {maybe} who speaks|somebody speaks who is not known]"),
        EventType(
            state, "who speaks now",
            fields: [Field("speaking", VG_BOOL, "whether somebody does"), name, maybe], retained: true),
        EventType(
            enrolling, "speech is heard of which a voice is made",
            fields: [
                named, Field("seconds", VG_NUMBER, "of speech so far", unit: "s"),
                Field("wanted", VG_NUMBER, "of speech that it takes", unit: "s"),
            ], says: "{seconds:0} of {wanted:0} s of {name} are heard"),
        EventType(
            enrolled, "a voice has a name from now on",
            fields: [
                named, Field("number", VG_INTEGER, "what `voice` says of it"),
                Field("seconds", VG_NUMBER, "of speech that it was made of", unit: "s"),
            ], says: "knows the voice of {name}, by {seconds:0} s of speech"),
        EventType(
            refused, "no voice was made of what was heard",
            fields: [named, Field("reason", VG_STRING, "why")], kind: .failure,
            says: "the voice of {name} was not learned: {reason}"),
        EventType(forgotten, "a voice was forgotten", fields: [named], says: "has forgotten the voice of {name}"),
    ]
}
