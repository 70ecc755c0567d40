// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What the node tells, and how it is declared.
enum EchoEvent {
    /// What it does.
    enum State: String {
        /// Nothing sounds.
        case idle
        /// The way of the echo is being learnt.
        case learning
        /// It is known.
        case cancelling
    }

    static let state = "echo.state"
    static let changed = "echo.changed"

    static let types = [
        EventType(
            state, "what it does",
            fields: [
                Field("state", VG_STRING, "idle: the reference is silent; learning; cancelling: the echo is known"),
                Field("engine", VG_STRING, "kalman, speex or webrtc"),
            ], retained: true),
        EventType(
            changed, "the way of the echo is another than before, and is learnt anew",
            says: "the way from the loudspeaker has changed; it is learnt anew"),
    ]
}
