// SPDX-License-Identifier: Apache-2.0
import JSON
import NodeKit

/// A function that a model asks for, as it comes in pieces.
struct ChatCall: Equatable {
    var id = ""
    var name = ""
    /// JSON.
    var arguments = ""
}

/// Reads what a chat-completions endpoint streams: server-sent events with a JSON object each, "[DONE]" at the end. An
/// endpoint that does not stream answers with one object, which is read as well.
struct ChatStream {
    /// A line that is longer is none of that format.
    private static let longestLine = 4 << 20

    private var line: [UInt8] = []
    /// What is one object, from its first byte on.
    private var isObject: Bool?
    /// The functions that it asks for, by their places.
    private(set) var calls: [ChatCall] = []
    /// All that it says.
    private(set) var text = ""
    /// Whether it has said that it is complete.
    private(set) var isDone = false
    /// Whether there was anything that is not empty.
    private(set) var hasBegun = false

    /// Takes what follows; the text in it.
    mutating func take(_ bytes: [UInt8]) throws(AgentFault) -> String {
        var text = ""
        for byte in bytes {
            if isObject == nil, byte > 32 { isObject = byte == UInt8(ascii: "{") }
            if byte == 10, isObject != true {
                text += try endLine()
                continue
            }
            line.append(byte)
            if line.count > Self.longestLine {
                throw AgentFault(.other, "the endpoint sends a line of more than \(Self.longestLine >> 20) MB")
            }
        }
        return text
    }

    /// Nothing more comes.
    mutating func finish() throws(AgentFault) -> String {
        let text = isObject == true ? try read(line) : try endLine()
        line = []
        if isDone { return text }
        guard hasBegun else { throw AgentFault(.other, "the endpoint answers with something that is no answer") }
        throw AgentFault(.connection, "the endpoint ended in the middle of its answer")
    }

    private mutating func endLine() throws(AgentFault) -> String {
        defer { line.removeAll(keepingCapacity: true) }
        if line.last == 13 { line.removeLast() }
        let label = Array("data:".utf8)
        if line.starts(with: label) {
            let data = trimmed(String(decoding: line.dropFirst(label.count), as: UTF8.self))
            if data == "[DONE]" { isDone = true }
            return data.isEmpty || isDone && data == "[DONE]" ? "" : try read(Array(data.utf8))
        }
        // Comments keep a connection open; other fields say nothing here.
        let isKnown = line.isEmpty || ["event:", "id:", "retry:", ":"].contains { line.starts(with: $0.utf8) }
        if isKnown { return "" }
        throw AgentFault(.other, "the endpoint answers with something that is no stream: \(Self.shown(line))")
    }

    private mutating func read(_ bytes: [UInt8]) throws(AgentFault) -> String {
        let object: JSON
        do { object = try JSON(bytes) } catch {
            throw AgentFault(.other, "the endpoint sends something that is no JSON: \(Self.shown(bytes))")
        }
        if let message = Self.error(in: object) { throw AgentFault(.other, "the endpoint says: \(message)") }
        guard let choice = object["choices"]?.items.first else {
            // The last piece of some has only numbers of tokens.
            if object["usage"] != nil || object["choices"] != nil { return "" }
            throw AgentFault(.other, "the endpoint sends an object without an answer: \(Self.shown(bytes))")
        }
        if choice["finish_reason"]?.string != nil { isDone = true }
        guard let part = choice["delta"] ?? choice["message"] else { return "" }
        for (place, call) in (part["tool_calls"]?.items ?? []).enumerated() {
            let index = call["index"]?.integer ?? place
            guard (0..<64).contains(index) else { throw AgentFault(.other, "the model asks for too many functions") }
            while calls.count <= index { calls.append(ChatCall()) }
            if let id = call["id"]?.string, !id.isEmpty { calls[index].id = id }
            if let name = call["function"]?["name"]?.string { calls[index].name += name }
            calls[index].arguments += call["function"]?["arguments"]?.string ?? ""
            hasBegun = true
        }
        let new = part["content"]?.string ?? ""
        if !new.isEmpty { hasBegun = true }
        text += new
        return new
    }

    /// What an object says of an error.
    static func error(in object: JSON) -> String? {
        guard let error = object["error"], error != .null else { return nil }
        return shortened(error["message"]?.string ?? error.string ?? error.text)
    }

    /// Some of what came, for people.
    static func shown(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes.prefix(60), as: UTF8.self)
        return "\"" + String(text.map { $0.isNewline || $0 == "\u{FFFD}" || ($0.asciiValue ?? 32) < 32 ? " " : $0 })
            + "\""
    }
}
