// SPDX-License-Identifier: Apache-2.0
import Realtime
import Synchronization

/// What a child's control thread is doing: a page that the host reads when the child is gone or does not answer.
struct StatusPage {
    /// The calls of a node that a child makes outside the audio thread.
    enum Step: UInt32 {
        case none, create, prepare, activate, deactivate, destroy, receive, poll, latency, idle, save, preset, property

        var name: String {
            switch self {
            case .none: "no call"
            case .create: "create"
            case .prepare: "prepare"
            case .activate: "activate"
            case .deactivate: "deactivate"
            case .destroy: "destroy"
            case .receive: "receive"
            case .poll: "poll"
            case .latency: "latency"
            case .idle: "idle"
            case .save: "save"
            case .preset: "load_preset"
            case .property: "set_property or ask_property"
            }
        }
    }

    static let size = 4096
    private let words: SharedWord

    /// Looks at `size` bytes that began as zeros.
    init(_ memory: SharedMemory) { words = memory.address.assumingMemoryBound(to: Atomic<UInt32>.self) }

    /// Counts the rounds of the child's control thread.
    var pulse: UInt32 { words[0].load(ordering: .relaxed) }
    /// What it does, and with which node.
    var step: (Step, node: UInt32) {
        (Step(rawValue: words[1].load(ordering: .acquiring)) ?? .none, words[2].load(ordering: .relaxed))
    }

    func beat() { words[0].wrappingAdd(1, ordering: .relaxed) }

    /// Runs `body` and says what it does meanwhile.
    func doing<R, E: Error>(_ step: Step, _ node: UInt32, _ body: () throws(E) -> R) throws(E) -> R {
        words[2].store(node, ordering: .relaxed)
        words[1].store(step.rawValue, ordering: .releasing)
        defer { words[1].store(0, ordering: .releasing) }
        return try body()
    }
}
