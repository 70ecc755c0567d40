// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import NodeKit

/// Answers with what a language model says, at an endpoint for chat completions that streams.
final class OpenAIBackend: Backend {
    /// No server makes anybody wait longer than this, in seconds, whatever it says.
    private static let longestWait = 30.0

    private let host: NodeHost
    private let options: ChatOptions
    private let key: SecretKey?
    private let tools: Tools
    private let client: HTTPClient

    init(_ settings: Settings, _ host: NodeHost, _ tools: Tools) throws(NodeError) {
        self.host = host
        self.tools = tools
        options = try ChatOptions(settings)
        key = try SecretKey(settings, host)
        client = try HTTPClient()
        if key != nil, options.url.hasPrefix("http://"), WebAddress(options.url)?.isLocal != true {
            host.log(VG_LOG_WARNING, "the key is sent without encryption: the url begins with http://")
        }
    }

    func answer(_ reply: Reply) throws(AgentFault) {
        do throws(AgentFault) {
            try converse(reply)
        } catch {
            // What a server says may have the key in it.
            throw AgentFault(error.kind, key?.struck(from: error.message) ?? error.message)
        }
    }

    private func converse(_ reply: Reply) throws(AgentFault) {
        var messages = messages(reply)
        let functions = tools.functions
        for round in 0... {
            guard let answer = try request(messages, functions, reply) else { return }
            var calls = answer.calls.filter { !$0.name.isEmpty }
            // Some give no id, which others refuse to be told of.
            for index in calls.indices where calls[index].id.isEmpty { calls[index].id = "call_\(round)_\(index)" }
            if calls.isEmpty || reply.isStopped { return }
            guard round < Tools.mostRounds, calls.count <= Tools.mostCalls else {
                throw AgentFault(.other, "the model asks for ever more actions, and has no answer")
            }
            messages += results(of: calls, said: answer.text, reply)
        }
    }

    /// Does what the model asks for: what it is told of it, behind what it asked.
    private func results(of calls: [ChatCall], said: String, _ reply: Reply) -> [JSON] {
        let asked: [JSON] = calls.map { call in
            .object([
                "id": .string(call.id), "type": .string("function"),
                "function": .object([
                    "name": .string(call.name), "arguments": .string(call.arguments.isEmpty ? "{}" : call.arguments),
                ]),
            ])
        }
        var messages: [JSON] = [
            .object(["role": .string("assistant"), "content": .string(said), "tool_calls": .list(asked)])
        ]
        for call in calls {
            if reply.isStopped { break }
            messages.append(
                .object([
                    "role": .string("tool"), "tool_call_id": .string(call.id),
                    "content": .string(tools.call(call, reply).text),
                ]))
        }
        return messages
    }

    private func messages(_ reply: Reply) -> [JSON] {
        func message(_ role: String, _ text: String) -> JSON {
            .object(["role": .string(role), "content": .string(text)])
        }
        // Many models take turns only: what one says in two items, of which nobody heard an answer, is one message.
        var turns: [(role: String, text: String)] = []
        for item in reply.history {
            let role = item.speaker == .user ? "user" : "assistant"
            let isSame = turns.last?.role == role
            if isSame { turns[turns.count - 1].text += "\n" + item.text } else { turns.append((role, item.text)) }
        }
        return (options.system.map { [message("system", $0)] } ?? []) + turns.map { message($0.role, $0.text) }
    }

    /// Asks, and again where that may help. Nil: nobody wants it any more.
    private func request(
        _ messages: [JSON], _ functions: [JSON], _ reply: Reply
    ) throws(AgentFault) -> ChatStream? {
        var fields: [String: JSON] = [
            "model": .string(options.model), "messages": .list(messages), "stream": .bool(true),
        ]
        if !functions.isEmpty { fields["tools"] = .list(functions) }
        fields["temperature"] = options.temperature.map { .number($0) }
        let body = Array(JSON.object(fields).text.utf8)
        var wait = options.retryWait
        for attempt in 0... {
            if reply.isStopped { return nil }
            var run = ChatRun(client, options, reply)
            do throws(AgentFault) {
                return try run.stream(body, key?.header)
            } catch {
                guard run.mayRetry, attempt < options.retries else { throw error }
                let shown = AgentFault(error.kind, key?.struck(from: error.message) ?? error.message)
                host.count("retries")
                guard reply.pause(min(run.retryAfter ?? wait, Self.longestWait), because: shown) else { return nil }
                wait = min(2 * wait, Self.longestWait)
            }
        }
        return nil
    }
}

/// One request.
private struct ChatRun {
    private let client: HTTPClient
    private let options: ChatOptions
    private let reply: Reply
    private var chat = ChatStream()
    /// Whether it may be better the next time, and nothing was said yet.
    private(set) var mayRetry = false
    /// Seconds after which the server wants to be asked again, if it says so.
    private(set) var retryAfter: Double?
    private var status = 0
    private var complaint: [UInt8] = []
    /// Where it is asked, and how often it was sent on.
    private var url: String
    private var moves = 0

    /// How often an endpoint may send a request on.
    private static let mostMoves = 5

    init(_ client: HTTPClient, _ options: ChatOptions, _ reply: Reply) {
        self.client = client
        self.options = options
        self.reply = reply
        url = options.url
    }

    /// Nil: nobody wants it any more.
    mutating func stream(_ body: [UInt8], _ authorization: (String, String)?) throws(AgentFault) -> ChatStream? {
        let headers = [("Content-Type", "application/json"), ("Accept", "text/event-stream")]
        let transfer: HTTPTransfer
        do throws(Fault) {
            // Each word comes in an object of its own.
            transfer = try HTTPTransfer(
                client, url, headers: headers + (authorization.map { [$0] } ?? []), body: body,
                most: (1 << 20) + 200 * options.longestAnswer)
        } catch {
            throw AgentFault(.initialization, error.message)
        }
        var limit = (seconds: options.connectTime, what: "cannot connect to the endpoint")
        var deadline = monotonicSeconds() + limit.seconds
        mayRetry = true
        reply.waits(as: .connecting, seconds: limit.seconds)
        while !reply.isStopped {
            // In short steps: an interruption wakes nobody here.
            let now = monotonicSeconds()
            guard now < deadline else { throw AgentFault(.connection, "\(limit.what) within \(limit.seconds) s") }
            guard let event = try next(of: transfer, until: min(deadline, now + 0.02)) else { continue }
            switch event {
            case .sent:
                limit = (options.tokenTime, "the endpoint says nothing")
                deadline = monotonicSeconds() + limit.seconds
                reply.waits(as: .thinking, seconds: limit.seconds)
            case .status(let code, let wait):
                status = code
                retryAfter = Double(wait).map { max(0, $0) }
            case .data(let bytes):
                if status != 200 {
                    if complaint.count < 4096 { complaint += bytes }
                    break
                }
                // Asked again, it would say the same anew.
                let text = try chat.take(bytes)
                if chat.hasBegun {
                    mayRetry = false
                    limit = (options.silenceTime, "the endpoint went silent in its answer: nothing came")
                    deadline = monotonicSeconds() + limit.seconds
                    reply.waits(as: .thinking, seconds: limit.seconds)
                }
                if !text.isEmpty, try !reply.say(text) { return nil }
                if chat.isDone { return chat }
            case .end(let reason):
                if [301, 302, 307, 308].contains(status), try moves(to: transfer.redirection) {
                    return try stream(body, authorization)
                }
                return try end(reason)
            }
        }
        return nil
    }

    private func next(of transfer: HTTPTransfer, until time: Double) throws(AgentFault) -> HTTPTransfer.Event? {
        do throws(Fault) { return try transfer.next(until: time) } catch { throw AgentFault(.other, error.message) }
    }

    /// Whether the request goes to another address of the same server; no other gets the key, nor what was said.
    private mutating func moves(to target: String) throws(AgentFault) -> Bool {
        guard let place = WebAddress(target) else { return false }
        guard place == WebAddress(url) else {
            throw AgentFault(
                .other,
                "the endpoint answers \(status): it sends on to \(place.shown), which gets nothing; if it is right, "
                    + "give that as url")
        }
        moves += 1
        guard moves <= Self.mostMoves else {
            throw AgentFault(.other, "the endpoint answers \(status): it sends on without end")
        }
        (url, status, complaint) = (target, 0, [])
        return true
    }

    private mutating func end(_ reason: String?) throws(AgentFault) -> ChatStream? {
        if status == 0 { throw AgentFault(.connection, reason ?? "the endpoint ended the connection") }
        if status != 200 { throw refusal() }
        if let reason { throw AgentFault(.connection, "the endpoint ended in the middle of its answer: \(reason)") }
        mayRetry = false
        let text = try chat.finish()
        if !text.isEmpty, try !reply.say(text) { return nil }
        return chat
    }

    private mutating func refusal() -> AgentFault {
        let said = ChatError.reason(in: complaint).map { ": \($0)" } ?? ""
        mayRetry = status == 408 || status == 429 || status >= 500
        let kind: AgentFault.Kind =
            mayRetry ? .connection : [400, 413, 422].contains(status) || status < 400 ? .other : .initialization
        return AgentFault(kind, "the endpoint answers \(status)\(said)")
    }
}
