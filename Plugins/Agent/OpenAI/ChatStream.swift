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
/// endpoint that does not stream answers with one object, which is read as well. Lines, fields and events are those of the
/// HTML standard, 9.2.6; an object is read as soon as it is whole, since some leave out the empty line behind it.
struct ChatStream {
    /// A line or an event that is longer is none of that format.
    private static let longest = 4 << 20
    /// Functions that one answer asks for at most.
    private static let mostCalls = 64
    /// So often is looked whether the lines of an event are an object already; then its end is waited for.
    private static let mostLooks = 16

    private var line: [UInt8] = []
    /// Whether the last byte ended a line as the first of two may.
    private var isBehindReturn = false
    /// The data of the event so far, and how often it was no whole object.
    private var data: [UInt8] = []
    private var looks = 0
    /// What kind of event it is, where that is said.
    private var event = ""
    /// What is one object, from its first byte on.
    private var isObject: Bool?
    /// The functions that it asks for, by their places.
    private(set) var calls: [ChatCall] = []
    /// Where the newest call with an index is.
    private var places: [Int: Int] = [:]
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
            let isSecond = isBehindReturn && byte == 10
            isBehindReturn = byte == 13
            if isObject != true, byte == 10 || byte == 13 {
                if !isSecond { text += try endLine() }
                continue
            }
            line.append(byte)
            if isObject == nil {
                if line == [0xEF, 0xBB, 0xBF] { line = [] }
                if byte > 32, line.first != 0xEF { isObject = byte == UInt8(ascii: "{") }
            }
            if line.count + data.count > Self.longest {
                throw AgentFault(.other, "the endpoint sends a line of more than \(Self.longest >> 20) MB")
            }
        }
        return text
    }

    /// Nothing more comes.
    mutating func finish() throws(AgentFault) -> String {
        var text = ""
        if isObject == true { text = try read(line) } else { text = try endLine() + endEvent() }
        line = []
        if isDone { return text }
        guard hasBegun else { throw AgentFault(.other, "the endpoint answers with something that is no answer") }
        throw AgentFault(.connection, "the endpoint ended in the middle of its answer")
    }

    private mutating func endLine() throws(AgentFault) -> String {
        defer { line.removeAll(keepingCapacity: true) }
        if line.isEmpty { return try endEvent() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        let name = String(decoding: line[..<colon], as: UTF8.self)
        var value = line[min(colon + 1, line.endIndex)...]
        if value.first == 32 { value = value.dropFirst() }
        switch name {
        case "data":
            if !data.isEmpty { data.append(10) }
            data += value
            return try lookAtData()
        case "event": event = trimmed(String(decoding: value, as: UTF8.self))
        // Comments keep a connection open; other fields say nothing here.
        default:
            // What could not be the name of a field is a page, or words about an error.
            guard name.utf8.count <= 32, name.allSatisfy({ $0.isLetter || $0.isNumber || "-_".contains($0) }) else {
                throw AgentFault(.other, "the endpoint answers with something that is no stream: \(Self.shown(line))")
            }
        }
        return ""
    }

    /// Reads the event's data if they are all there already.
    private mutating func lookAtData() throws(AgentFault) -> String {
        let isWhole =
            switch trimmed(String(decoding: data.suffix(16), as: UTF8.self)) {
            case "[DONE]": true
            case let end where end.hasSuffix("}") && looks < Self.mostLooks: (try? JSON(data)) != nil
            default: false
            }
        looks += 1
        return isWhole ? try endEvent(keepsKind: true) : ""
    }

    private mutating func endEvent(keepsKind: Bool = false) throws(AgentFault) -> String {
        defer {
            (data, looks) = ([], 0)
            if !keepsKind { event = "" }
        }
        let text = trimmed(String(decoding: data, as: UTF8.self))
        if text == "[DONE]" { isDone = true }
        return text.isEmpty || text == "[DONE]" ? "" : try read(Array(text.utf8))
    }

    private mutating func read(_ bytes: [UInt8]) throws(AgentFault) -> String {
        let object: JSON
        do { object = try JSON(bytes) } catch {
            throw AgentFault(.other, "the endpoint sends something that is no JSON: \(Self.shown(bytes))")
        }
        if let message = ChatError.error(in: object) { throw AgentFault(.other, "the endpoint says: \(message)") }
        guard let choice = object["choices"]?.items.first else {
            // The last piece of some has only numbers of tokens.
            if object["usage"] != nil || object["choices"] != nil { return "" }
            let reason = ChatError.reason(in: object)
            if event == "error" || object["object"]?.string == "error" || isObject == true, let reason {
                throw AgentFault(.other, "the endpoint says: \(reason)")
            }
            // What is another kind of event by its name is for others.
            if !event.isEmpty, event != "message" { return "" }
            throw AgentFault(.other, "the endpoint sends an object without an answer: \(Self.shown(bytes))")
        }
        // Some write the word, or nothing, where there is none yet.
        if let reason = choice["finish_reason"]?.string, !["", "null"].contains(reason) { isDone = true }
        guard let part = choice["delta"] ?? choice["message"] else { return "" }
        for (place, call) in (part["tool_calls"]?.items ?? []).enumerated() { try take(call, at: place) }
        // Half of a letter, which some send as a mark of its own, is nothing to say.
        let new = Self.content(of: part).replacing("\u{FFFD}", with: "")
        if !new.isEmpty { hasBegun = true }
        text += new
        return new
    }

    /// What is said: a text, or a list of parts, of which some are thoughts.
    private static func content(of part: JSON) -> String {
        guard let content = part["content"] else { return "" }
        return content.string
            ?? content.items.filter { ($0["type"]?.string ?? "text") == "text" }.compactMap { $0["text"]?.string }
            .joined()
    }

    /// A piece of a call: which it belongs to is said by its index, and by an id that is another than that one's.
    private mutating func take(_ piece: JSON, at place: Int) throws(AgentFault) {
        let index = piece["index"]?.integer ?? place
        let id = piece["id"]?.string ?? ""
        var known = places[index]
        if let place = known, !id.isEmpty, !calls[place].id.isEmpty, calls[place].id != id { known = nil }
        if known == nil {
            guard calls.count < Self.mostCalls else {
                throw AgentFault(.other, "the model asks for too many functions")
            }
            calls.append(ChatCall())
        }
        let target = known ?? calls.count - 1
        places[index] = target
        if !id.isEmpty { calls[target].id = id }
        let function = piece["function"]
        // Some say the whole name with each piece.
        if let name = function?["name"]?.string, name != calls[target].name { calls[target].name += name }
        switch function?["arguments"] {
        case .string(let text)?: calls[target].arguments += text
        case .null?, nil: break
        // As an object, not as text.
        case let object?: calls[target].arguments += object.text
        }
        hasBegun = true
    }

    /// Some of what came, for people.
    static func shown(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes.prefix(60), as: UTF8.self)
        return "\"" + String(text.map { $0.isNewline || $0 == "\u{FFFD}" || ($0.asciiValue ?? 32) < 32 ? " " : $0 })
            + "\""
    }
}
