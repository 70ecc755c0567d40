// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import Observation

/// A conversation with a graph, for views: how it stands, what was said by whom, and a line to type.
///
///     let conversation = ConversationModel(host)
///     try await conversation.send("What time is it?")
///     // a view reads conversation.status, conversation.label and conversation.items
///
/// A view that opens and closes goes by `state`, too: `initialize` leads from `idle` over `loading` to `collapsed`, `start`
/// over `connecting` to `expanded` or `transcript`, and `end` back to `collapsed`. What fails leads to `error`, and `retry`
/// out of it.
@MainActor @Observable public final class ConversationModel {
    /// What of it is shown.
    public private(set) var state = State.idle
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
    private var host: (any GraphHost)?
    /// What finds the host; nil: it was given.
    private let connect: (@Sendable () async throws -> any GraphHost)?
    private let chosen: String?
    private let microphone: String?
    /// The node that has told how it stands.
    private var answering: String?
    private var typed = 0
    /// What was shown before whoever answers had an error.
    private var before: State?
    /// Raised by whatever makes void what is under way.
    private var turn = 0
    @ObservationIgnored private var reader: HostReader?

    /// Follows the node `agent`, by default the only one that answers; `microphone`: the node that `mute` silences, by default
    /// the only input. The graph may be loaded later.
    public init(_ host: any GraphHost, agent: String? = nil, microphone: String? = nil) {
        (connect, chosen, self.microphone) = (nil, agent, microphone)
        follow(host)
    }

    /// The same for a host that `initialize` connects to, and `retry` again when it was lost.
    public init(
        agent: String? = nil, microphone: String? = nil,
        connect: @escaping @Sendable () async throws -> any GraphHost
    ) {
        (self.connect, chosen, self.microphone) = (connect, agent, microphone)
    }

    private func follow(_ host: any GraphHost) {
        self.host = host
        reader = HostReader(host) { [chosen] published in
            guard case .event(let event) = published, event.node != nil else { return false }
            if case .text? = event.type?.role { return true }
            return (chosen == nil || event.node == chosen) && Self.isState(event)
        } take: { [weak self] published in
            if case .event(let event) = published { self?.take(event) }
            return self != nil
        } end: { [weak self] in
            self?.fail("connection", Fault("Connection lost"))
        }
    }

    private func reached() throws(Fault) -> any GraphHost {
        guard let host else { throw Fault("the conversation is not connected", hint: "initialize it first") }
        return host
    }

    // MARK: what is shown

    /// Finds the host and who answers. To be called where nothing was done yet; after an error `retry` does. An error of it is
    /// shown, not thrown.
    public func initialize() async {
        guard state == .idle || state == .error else { return }
        turn += 1
        let now = turn
        (state, failure, before) = (.loading, nil, nil)
        // What failed here is tried again; who answers tells its own errors.
        if status == .error { status = .idle }
        do {
            if let connect {
                (reader, host) = (nil, nil)
                let host = try await connect()
                guard turn == now else { return }
                follow(host)
            }
            _ = try await agent()
            if turn == now { state = .collapsed }
        } catch { if turn == now { fail("initialization", error) } }
    }

    /// Begins, if it is collapsed: with the microphone open, and nothing said yet. `asTranscript`: what was said is shown first.
    public func start(asTranscript: Bool = false) async {
        guard state == .collapsed else { return }
        turn += 1
        let now = turn
        texts = TextItems()
        state = .connecting
        do {
            _ = try await agent()
            // Who may not open it need not, where it is open.
            if let node = try await input(), try await isMuted(node) { try await reached().setMuted(node, false) }
            guard turn == now else { return }
            isMuted = false
            let shown = asTranscript ? State.transcript : .expanded
            // Whoever answers may have had an error meanwhile.
            if before == nil { state = shown } else { before = shown }
            // It waits for the user, unless more is known.
            if status == .idle { status = .waiting }
        } catch { if turn == now { fail("connection", error) } }
    }

    /// Shows what was said in place of the picture, or the other way round, while it goes on.
    public func showTranscript(_ isShown: Bool) {
        if state == .expanded || state == .transcript { state = isShown ? .transcript : .expanded }
    }

    private var isOn: Bool { state == .connecting || state == .expanded || state == .transcript }

    private func fail(_ kind: String, _ error: any Error) {
        let fault = error as? Fault
        failure = Failure(kind: kind, message: fault?.message ?? "\(error)", reason: fault?.hint ?? "")
        status = .error
        // Whoever shows nothing of it yet goes by `failure` alone.
        if state != .idle { (state, before) = (.error, nil) }
    }

    // MARK: what is done

    /// Types a text, without blanks around it; of a blank one nothing comes. It is among the items at once, and goes again if the
    /// graph does not take it, which throws.
    public func send(_ text: String) async throws {
        let host = try reached()
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
    public func interrupt() async throws { _ = try await reached().perform("interrupt", on: try await agent()) }

    /// Answers again what could not be answered, or, where there was no host or nobody who answers, initializes again.
    public func retry() async throws {
        if state == .error, before == nil { return await initialize() }
        _ = try await reached().perform("retry", on: try await agent())
    }

    /// Ends the conversation: whoever answers forgets it, and so does this. It is collapsed then, also if it was starting.
    public func end() async throws {
        turn += 1
        if isOn || before != nil { (state, before, failure) = (.collapsed, nil, nil) }
        if status == .waiting { status = .idle }
        texts = TextItems()
        _ = try await reached().perform("forget", on: try await agent())
        texts = TextItems()
    }

    /// Silences the microphone, or opens it.
    public func mute(_ muted: Bool) async throws {
        guard let node = try await input() else { throw Fault("no node is an input", hint: "name the microphone") }
        try await reached().setMuted(node, muted)
        isMuted = muted
    }

    /// The microphone; nil: the graph has none.
    private func input() async throws -> String? {
        if let microphone { return microphone }
        let inputs = try await reached().look()?.nodes.filter { $0.type == StandardType.input }.map(\.name) ?? []
        guard inputs.count <= 1 else {
            throw Fault("several nodes are inputs", hint: "name one: \(inputs.joined(separator: ", "))")
        }
        return inputs.first
    }

    private func isMuted(_ node: String) async throws -> Bool {
        try await reached().look()?.nodes.first { $0.name == node }?.isMuted == true
    }

    private func agent() async throws(Fault) -> String {
        try await reached().only(.converses, chosen: chosen, does: "answers")
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
        if status == .error, isOn {
            (before, state) = (state, .error)
        } else if status != .error, let shown = before {
            (before, state) = (nil, shown)
        }
    }
}
