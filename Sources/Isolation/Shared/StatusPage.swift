// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime
import Synchronization

/// What a child's control thread is doing: a page that the host reads when the child is gone or does not answer.
struct StatusPage {
    /// The calls of a node that a child makes outside the audio thread.
    enum Step: UInt32 {
        case none, create, prepare, activate, finish, deactivate, destroy, receive, poll, idle, save, perform, setting
    }

    /// A call that is made, and with which node.
    struct Call {
        var step: Step
        var node: UInt32
        /// The action or setting, as the child says.
        var subject = ""

        /// For people.
        var name: String {
            switch step {
            case .none: "no call"
            case .perform: "the action '\(subject)'"
            case .setting: "the setting '\(subject)'"
            default: "\(step)"
            }
        }

        /// Whether it writes the node's state.
        var isSaving: Bool { step == .save || step == .perform && subject == VG_ACTION_SAVE }
    }

    static let size = 4096
    private let words: SharedWord

    /// Looks at `size` bytes that began as zeros.
    init(_ memory: SharedMemory) { words = memory.address.assumingMemoryBound(to: Atomic<UInt32>.self) }

    /// Counts the rounds of the child's control thread.
    var pulse: UInt32 { words[0].load(ordering: .relaxed) }
    /// What it does, and with which node.
    var call: Call {
        let step = Step(rawValue: words[1].load(ordering: .acquiring)) ?? .none
        let bytes = UnsafeRawBufferPointer(start: subject, count: Self.subjectLength)
        return Call(
            step: step, node: words[2].load(ordering: .relaxed),
            subject: String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
    }

    private static let subjectLength = 64
    private var subject: UnsafeMutableRawPointer { UnsafeMutableRawPointer(words) + 64 }

    func beat() { words[0].wrappingAdd(1, ordering: .relaxed) }

    /// Runs `body` and says what it does meanwhile.
    func doing<R, E: Error>(
        _ step: Step, _ node: UInt32, _ about: String = "", _ body: () throws(E) -> R
    ) throws(E) -> R {
        let text = Array(about.utf8.prefix(Self.subjectLength)) + [0]
        subject.copyMemory(from: text, byteCount: min(text.count, Self.subjectLength))
        words[2].store(node, ordering: .relaxed)
        words[1].store(step.rawValue, ordering: .releasing)
        defer { words[1].store(0, ordering: .releasing) }
        return try body()
    }
}
