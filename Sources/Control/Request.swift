// SPDX-License-Identifier: Apache-2.0
import Config
import Graph
import Host
import JSON

/// Why a call was not done.
struct CallError: Error, Sendable {
    var message: String
    var hint = ""
    var diagnostics: [Diagnostic] = []

    init(_ message: String, hint: String = "") {
        self.message = message
        self.hint = hint
    }

    init(_ error: any Error) {
        switch error {
        case let error as CallError: self = error
        case let error as HostError: self.init(error.message, hint: error.hint)
        case let error as InvalidGraph:
            let errors = error.diagnostics.filter { $0.severity == .error }
            let more = errors.count > 1 ? ", and \(errors.count - 1) more" : ""
            let place = errors.first.map(\.location).flatMap {
                $0.line > 0 ? "\($0.file):\($0.line):\($0.column): " : nil
            }
            self.init(
                (place ?? "") + (errors.first?.message ?? "the graph is faulty") + more, hint: errors.first?.hint ?? "")
            diagnostics = error.diagnostics
        default: self.init("\(error)")
        }
    }

    /// As the answer to a request. There is always something to do about it.
    func answer(_ id: JSON, to call: String = "") -> String {
        let hint = hint.isEmpty ? Calls.usage[call] ?? "send one object a line" : hint
        let diagnostics = diagnosticsText(diagnostics)
        let error = JSONText.object([
            ("message", JSONText.string(message)), ("hint", JSONText.string(hint)), ("diagnostics", diagnostics),
        ])
        return JSONText.object([("id", id.text), ("ok", "false"), ("error", error)])
    }
}

/// A list of diagnostics as JSON.
func diagnosticsText(_ diagnostics: [Diagnostic]) -> String {
    "[" + DiagnosticFormat.json(diagnostics).split(separator: "\n").joined(separator: ",") + "]"
}

/// One call of a client, whose fields are taken one by one; what nobody takes is a mistake.
struct Request: Sendable {
    /// What the answer is told apart by.
    private(set) var id = JSON.null
    private(set) var call = ""
    private var fields: [String: JSON] = [:]
    private var known = ["id", "call"]

    /// Reads a line. The id is there for the answer even if this throws.
    mutating func read(_ line: some Sequence<UInt8>) throws(CallError) {
        let json: JSON
        do throws(JSON.Fault) { json = try JSON(line) } catch {
            throw CallError(
                "this is not JSON: \(error.message) (byte \(error.offset + 1))", hint: "send one object a line")
        }
        guard case .object(let given) = json else {
            throw CallError("a call is an object, not \(json.kind)", hint: "for example {\"id\":1,\"call\":\"status\"}")
        }
        fields = given
        switch fields.removeValue(forKey: "id") ?? .null {
        case .list, .object: throw CallError("'id' must be a number or a text")
        case let id: self.id = id
        }
        switch fields.removeValue(forKey: "call") {
        case .string(let name)?: call = name
        case nil: throw CallError("'call' is missing", hint: "for example {\"id\":1,\"call\":\"status\"}")
        case let other?: throw CallError("'call' must be a text, not \(other.kind)")
        }
    }

    /// A value of any kind; nil if it is not given.
    mutating func take(_ key: String) -> JSON? {
        known.append(key)
        return fields.removeValue(forKey: key)
    }

    mutating func optionalText(_ key: String) throws(CallError) -> String? {
        switch take(key) {
        case .string(let text)?: return text
        case nil: return nil
        case let other?: throw CallError("'\(key)' must be a text, not \(other.kind)")
        }
    }

    mutating func text(_ key: String) throws(CallError) -> String {
        guard let text = try optionalText(key) else { throw CallError("'\(key)' is missing") }
        return text
    }

    mutating func optionalNumber(_ key: String) throws(CallError) -> Double? {
        guard let value = take(key) else { return nil }
        guard let number = value.double else { throw CallError("'\(key)' must be a number, not \(value.kind)") }
        return number
    }

    mutating func number(_ key: String) throws(CallError) -> Double {
        guard let number = try optionalNumber(key) else { throw CallError("'\(key)' is missing") }
        return number
    }

    mutating func flag(_ key: String, otherwise: Bool) throws(CallError) -> Bool {
        switch take(key) {
        case .bool(let flag)?: return flag
        case nil: return otherwise
        case let other?: throw CallError("'\(key)' must be true or false, not \(other.kind)")
        }
    }

    /// Nothing may be left.
    func end() throws(CallError) {
        guard let key = fields.keys.min() else { return }
        var suggester = Suggester()
        let list = known.dropFirst(2).joined(separator: ", ")
        throw CallError(
            "'\(call)' takes no '\(key)'",
            hint: suggester.hint(key, among: known, otherwise: list.isEmpty ? "it takes nothing" : "it takes: \(list)"))
    }
}
