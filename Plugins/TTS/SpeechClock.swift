// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit
import Synchronization

/// What the processor and the rest of the node tell each other.
final class SpeechClock: @unchecked Sendable {
    // Sendable: all of it is atomic.

    struct State: ~Copyable {
        /// The frame of the graph after the newest block.
        let now = Atomic<UInt64>(0)
        /// Whether a speech has begun of which more comes.
        let isSpeaking = Atomic<Bool>(false)
        /// Whether the control input `hold` holds it, and the frame since when that is so.
        let isHeld = Atomic<Bool>(false)
        let heldSince = Atomic<UInt64>(0)
        /// How often all speech was stopped.
        let stops = Atomic<Int>(0)
    }

    /// The processor's end.
    let shared = Shared(State())

    /// In frames of the graph. [any]
    var now: UInt64 { shared.value.now.load(ordering: .acquiring) }

    /// Whether the control input `hold` holds what is heard. [any]
    var isHeld: Bool { shared.value.isHeld.load(ordering: .acquiring) }

    /// The frame of the graph since when that is so, or not. [any]
    var heldSince: UInt64 { shared.value.heldSince.load(ordering: .acquiring) }

    /// All speech was stopped. [control]
    func countStop() { shared.value.stops.wrappingAdd(1, ordering: .releasing) }

    func setSpeaking(_ isSpeaking: Bool) { shared.value.isSpeaking.store(isSpeaking, ordering: .releasing) }
}
