// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Answers what a user says.
final class Agent: AudioNode {
    static let calls: NodeCalls = [.receive, .poll, .wait, .idle, .perform, .finish]

    struct Processor: BitwiseCopyable {
        let shared: SharedCell<AgentClock.State>
        let mode: Interruption.Mode
        /// Frames of speech that are more than a sign of attention, and of silence after which nobody interrupts any more.
        let longest, patience: Int
        /// Frames for which the user speaks, and since he does not.
        var up = 0
        var quiet = 0
    }

    /// The same in seconds.
    private static let (longest, patience) = (1.2, 3.0)

    private let host: NodeHost
    private let clock = AgentClock()
    private let conversation: Conversation
    private let backend: any Backend
    private var worker: Worker?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        backend = try Backends.make(settings, host, Tools(settings, host))
        conversation = try Conversation(host: host, options: AgentOptions(settings), clock: clock)
    }

    deinit {
        conversation.finish()
        worker?.join()
        backend.end()
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        clock.prepare(preparation)
        if conversation.hasEnded {
            worker?.join()
            worker = nil
            conversation.reopen()
        }
        if worker == nil {
            nonisolated(unsafe) let backend = backend  // the thread's alone while that runs
            worker = try Worker { [conversation] in run(conversation, backend) }
        }
        return Processor(
            shared: clock.shared.cell, mode: conversation.options.interruption.mode,
            longest: Int(Self.longest * preparation.rate), patience: Int(Self.patience * preparation.rate))
    }

    func activate() { conversation.begin() }

    func receive(_ message: Message, port: Int) {
        guard case .text(let text) = message.content else {
            host.count("refused")
            return host.log(VG_LOG_WARNING, "cannot answer a message with a \(message.kind); it is ignored")
        }
        if port == 1 {
            conversation.heard(text, item: message.item, more: message.isPartial)
        } else if message.isPartial {
            conversation.takePart(text, item: message.item)
        } else {
            conversation.take(text, item: message.item, typed: false)
        }
        if clock.isOffline { conversation.waitUntilAnswered() }
    }

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        var item: UInt64?
        switch action {
        case "send": item = try conversation.send(arguments[Self.text])
        case "interrupt": item = conversation.interrupt()
        case "retry": item = try conversation.retry()
        default: conversation.forget()
        }
        if let item { call.put("item", .integer(Int64(clamping: item))) }
        if clock.isOffline { conversation.waitUntilAnswered() }
    }

    func poll() { conversation.tick() }

    /// Returns when everything that was said so far was answered.
    func wait(frames: Int) {
        conversation.waitUntilAnswered()
        conversation.tick()
        conversation.waitUntilAnswered()
    }

    var isIdle: Bool { conversation.isIdle }

    func finish() {
        if clock.isOffline { conversation.waitUntilAnswered() }
        conversation.finish()
    }
}

/// The thread that answers.
private func run(_ conversation: Conversation, _ backend: any Backend) {
    while let turn = conversation.nextTurn() {
        if turn.forgets { backend.forget() }
        do throws(AgentFault) {
            try backend.answer(Reply(conversation: conversation, turn: turn))
            conversation.complete(turn)
        } catch {
            conversation.failed(turn, error)
        }
    }
}

extension Agent {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let shared = state.shared
        let (isSpeech, isSpeaking) = (block.control(0) > 0.5, block.control(1) > 0.5)
        shared.value.isSpeech.store(isSpeech, ordering: .relaxed)
        shared.value.isSpeaking.store(isSpeaking, ordering: .relaxed)
        state.up = isSpeech ? min(state.up, state.longest) + block.frames : 0
        state.quiet = isSpeech ? 0 : min(state.quiet, state.patience) + block.frames
        let mayInterrupt =
            switch state.mode {
            case .any: isSpeech
            case .words:
                state.up > state.longest
                    || state.quiet <= state.patience && shared.value.isInterrupting.load(ordering: .relaxed)
            case .never: false
            }
        block.setControl(0, isSpeaking && mayInterrupt ? 1 : 0)
        shared.value.position.store(block.position + UInt64(block.frames), ordering: .releasing)
    }
}

/// What the host looks for in the shared object. [control]
@c(vg_plugin_entry) public func pluginEntry(_ hostABI: UInt32) -> UnsafePointer<vg_plugin>? {
    exportPlugin(Agent.self, name: "agent", version: "1.0", license: "Apache-2.0", hostABI: hostABI)
}
