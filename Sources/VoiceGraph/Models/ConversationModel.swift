// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import Observation

/// A conversation with a graph, for views: how it stands, what was said by whom, and a line to type.
///
///     let conversation = ConversationModel(host)
///     try await conversation.send("What time is it?")
///     // a view reads conversation.status, conversation.label and conversation.items
@MainActor @Observable public final class ConversationModel {
    /// How it stands.
    public enum Status: String, Sendable {
        /// Nobody says anything.
        case idle
        /// Whoever answers is being reached.
        case connecting
        /// A reply is made.
        case thinking
        /// A reply is heard, and may be interrupted.
        case waiting
        /// It cannot go on: see `failure`.
        case error
    }

    /// Why it cannot go on.
    public struct Failure: Sendable, Equatable {
        /// "initialization", "connection" or "other".
        public var kind: String
        /// In few words, such as "Connection lost".
        public var message: String
        /// What came of it, for whoever runs the graph.
        public var reason: String
    }

    /// How it stands.
    public private(set) var status = Status.idle
    /// The same for people, such as "Thinking...", as the graph says it.
    public private(set) var label = ""
    /// Whether the user speaks.
    public private(set) var isHearing = false
    /// Whether the microphone is muted, by `mute`.
    public private(set) var isMuted = false
    /// Why it cannot go on; nil: it can.
    public private(set) var failure: Failure?
    /// What was said, typed and answered, in the order in which it began.
    public var items: [TextItem] { texts.items }

    private var texts = TextItems()
    private let host: any GraphHost
    private let chosen: String?
    private let microphone: String?
    /// The node that has told how it stands.
    private var answering: String?
    private var typed = 0
    @ObservationIgnored private var reader: HostReader?

    /// Follows the node `agent`, by default the only one that answers; `microphone`: the node that `mute` silences, by default
    /// the only input. The graph may be loaded later.
    public init(_ host: any GraphHost, agent: String? = nil, microphone: String? = nil) {
        self.host = host
        (chosen, self.microphone) = (agent, microphone)
        reader = HostReader(host) { published in
            guard case .event(let event) = published, event.node != nil else { return false }
            if case .text? = event.type?.role { return true }
            return (agent == nil || event.node == agent) && Self.isState(event)
        } take: { [weak self] published in
            if case .event(let event) = published { self?.take(event) }
            return self != nil
        }
    }

    /// Types a text, without blanks around it; of a blank one nothing comes. It is among the items at once, and goes again if the
    /// graph does not take it, which throws.
    public func send(_ text: String) async throws {
        let text = trimmed(text)
        guard !text.isEmpty else { return }
        typed += 1
        let echo = TextItem(
            id: TextItem.ID(node: "", number: typed), text: text, isFinal: false,
            start: (try? await host.look()?.time) ?? items.last?.start ?? 0)
        texts.put(echo)
        do {
            _ = try await host.perform(VG_ACTION_SEND, on: try await agent(), ["text": .string(text)])
        } catch {
            texts.removeFirst { $0.id == echo.id }
            throw error
        }
    }

    /// Stops the reply that is made or heard.
    public func interrupt() async throws { _ = try await host.perform("interrupt", on: try await agent()) }

    /// Answers again what could not be answered.
    public func retry() async throws { _ = try await host.perform("retry", on: try await agent()) }

    /// Ends the conversation: whoever answers forgets it, and so does this.
    public func end() async throws {
        _ = try await host.perform("forget", on: try await agent())
        texts = TextItems()
    }

    /// Silences the microphone, or opens it.
    public func mute(_ muted: Bool) async throws {
        var node = microphone
        if node == nil {
            let inputs = try await host.look()?.nodes.filter { $0.type == StandardType.input }.map(\.name) ?? []
            guard inputs.count <= 1 else {
                throw Fault("several nodes are inputs", hint: "name one: \(inputs.joined(separator: ", "))")
            }
            node = inputs.first
        }
        guard let node else { throw Fault("no node is an input", hint: "name the microphone") }
        try await host.setMuted(node, muted)
        isMuted = muted
    }

    private func agent() async throws(Fault) -> String {
        try await host.only(.converses, chosen: chosen, does: "answers")
    }

    private nonisolated static func isState(_ event: Event) -> Bool {
        event.isRetained && Role.converses.state.allSatisfy { event.fields[$0] != nil }
    }

    private func take(_ event: Event) {
        guard case .text? = event.type?.role else { return stands(event) }
        // What was typed is told with who typed it; all else that the node says answers.
        let isReply = event.node == answering && event.type?.fields.contains { $0.name == "speaker" } == false
        // What was typed here has come back, and goes by its own number from now on.
        if !isReply { texts.removeFirst { $0.id.node.isEmpty && $0.text == event.text("text") } }
        texts.take(event, isReply: isReply)
    }

    private func stands(_ event: Event) {
        answering = event.node
        status = event.text("state").flatMap(Status.init) ?? .idle
        label = event.text("label") ?? ""
        isHearing = event.fields["listening"] == .bool(true)
        failure =
            status == .error
            ? Failure(
                kind: event.text("kind") ?? "other", message: event.text("error") ?? "",
                reason: event.text("reason") ?? "") : nil
    }
}
