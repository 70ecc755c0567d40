// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// How the conversation stands, as it is told.
struct AgentState: Equatable {
    enum Name: String {
        case idle
        case connecting
        case thinking
        /// It speaks, and may be interrupted.
        case waiting
        case error
    }

    var name = Name.idle
    var label = ""
    /// The reply that it is about; 0: none.
    var item: UInt64 = 0
    /// Whether the user speaks.
    var isListening = false
    var fault: AgentFault?
    /// Seconds after which it tries again by itself; nil: it does not.
    var retry: Double?
}

/// What the processor tells the rest of the node.
final class AgentClock: @unchecked Sendable {
    // Sendable: what changes is atomic, or is set before there are threads.

    struct State: ~Copyable {
        /// The frame of the graph after the newest block.
        let position = Atomic<UInt64>(0)
        let isSpeech = Atomic<Bool>(false)
        let isSpeaking = Atomic<Bool>(false)
        /// Whether the user has said something that may interrupt what is heard.
        let isInterrupting = Atomic<Bool>(false)
    }

    /// The processor's end.
    let shared = Shared(State())
    private(set) var isOffline = false
    private var rate = 48000.0

    func prepare(_ preparation: Preparation) {
        isOffline = preparation.offline
        rate = preparation.rate
    }

    /// Seconds: of the graph where nobody waits for it, so that every run is the same. [any]
    var now: Double {
        isOffline ? Double(shared.value.position.load(ordering: .acquiring)) / rate : monotonicSeconds()
    }

    /// Whether the user speaks. [any]
    var isSpeech: Bool { shared.value.isSpeech.load(ordering: .relaxed) }
    /// Whether the user has said something that may interrupt what is heard. [any]
    var isInterrupting: Bool {
        get { shared.value.isInterrupting.load(ordering: .relaxed) }
        set { shared.value.isInterrupting.store(newValue, ordering: .relaxed) }
    }
    /// Whether something of the agent is heard. [any]
    var isSpeaking: Bool { shared.value.isSpeaking.load(ordering: .relaxed) }
}
