// SPDX-License-Identifier: Apache-2.0
import Config
import GraphFile
import Host
import NodeKit

/// Something that other programs may ask of a host. The sockets, the command and whatever else reaches a host know calls
/// from `HostCall.all` alone.
public struct HostCall: Sendable {
    /// What it is called by.
    public let name: String
    /// One line for people.
    public let doc: String
    /// Whether it changes something; otherwise it only looks.
    public let isChange: Bool
    /// From which right on it is answered.
    public let right: Right
    /// What it takes. A table, and a list where any value is taken, may hold anything, which the call itself looks at.
    public let arguments: [Setting]
    /// What it returns.
    public let results: [Field]
    private let handing: (@Sendable (Host, Settings) async throws -> Handed?)?
    private let toVisitors: @Sendable (CallResults, Caller) -> CallResults
    private let body: @Sendable (Host, Settings) async throws -> CallResults

    /// Declares a call. Whoever runs a host beside other things offers calls about those in the same table. `handing`
    /// tells what goes on to a node; `toVisitors` leaves out what is not for them.
    public init(
        _ name: String, _ doc: String, change isChange: Bool, right: Right, arguments: [Setting] = [],
        results: [Field] = [], handing: (@Sendable (Host, Settings) async throws -> Handed?)? = nil,
        toVisitors: @escaping @Sendable (CallResults, Caller) -> CallResults = { results, _ in results },
        _ body: @escaping @Sendable (Host, Settings) async throws -> CallResults
    ) {
        self.name = name
        self.doc = doc
        self.isChange = isChange
        self.right = right
        self.arguments = arguments
        self.results = results
        self.handing = handing
        self.toVisitors = toVisitors
        self.body = body
    }

    /// Checks who asks and the arguments, and does what is asked.
    public func callAsFunction(
        _ host: Host, _ values: [String: SettingValue] = [:], by caller: Caller = .user
    ) async throws(CallError) -> CallResults {
        do {
            guard caller.right >= right else { throw Fault(missing: right, caller) }
            let open = Set(arguments.filter { $0.kind == VG_SET_VALUE }.map(\.key))
            let shallow = Dictionary(
                uniqueKeysWithValues: values.map { key, value in
                    switch value {
                    case .table: (key, SettingValue.table([:]))
                    case .list where open.contains(key): (key, SettingValue.bool(true))
                    default: (key, value)
                    }
                })
            try checkValues(shallow, against: arguments, of: "'\(name)'", noun: "argument")
            let given = Settings(values)
            try await check(host, given, caller)
            let results = try await Author.$current.withValue(caller.name) { try await body(host, given) }
            return caller.right > .visitor ? results : toVisitors(results, caller)
        } catch {
            var refusal = CallError(error, hint: usage)
            if caller.right < .owner { refusal.diagnostics = refusal.diagnostics.map(\.withoutText) }
            throw refusal
        }
    }

    /// Whether `caller` may give it to what it goes to. Who is trusted may do anything.
    private func check(_ host: Host, _ given: Settings, _ caller: Caller) async throws {
        guard !caller.isTrusted else { return }
        let reach = ReachCheck(folder: await host.path == nil ? nil : host.description?.baseFolder)
        try reach.check(given.values, against: arguments)
        guard let handed = try await handing?(host, given) else { return }
        if let (node, action) = handed.action, !caller.may(action.name, of: node, isPublic: action.isPublic) {
            throw Fault(
                "whoever has this link may not do '\(action.name)' of '\(node)'",
                hint: caller.right == .visitor ? Right.operator.hint : "'actions' in [web] says what may be done")
        }
        try reach.check(handed.values, against: handed.settings, isNode: handed.action == nil)
    }

    /// How it is called: its name and what it takes.
    public var usage: String {
        let words = arguments.map { $0.required ? $0.key : "perhaps \($0.key)" }
        return "\(name) takes " + (words.isEmpty ? "nothing" : enumerated(words, "and"))
    }
}

/// What a call hands on to a node.
public struct Handed: Sendable {
    /// Of an action: whose it is, and which.
    public var action: (node: String, action: Action)?
    /// The arguments, or settings of a node.
    public var values: [String: SettingValue]
    /// What is declared of them.
    public var settings: [Setting]

    /// Describes it.
    public init(_ values: [String: SettingValue], to settings: [Setting], action: (node: String, action: Action)? = nil)
    {
        (self.values, self.settings, self.action) = (values, settings, action)
    }
}

/// What a call returns, by name, in an order of meaning.
public typealias CallResults = [(key: String, value: SettingValue)]

/// Why a call was not done.
public struct CallError: Error, Sendable {
    /// What is wrong, and what to do.
    public var fault: Fault
    /// What is wrong with a graph, if it is that.
    public var diagnostics: [Diagnostic] = []

    /// Any error of a host; `hint` is what there is to do at least.
    init(_ error: any Error, hint: String = "") {
        switch error {
        case let error as CallError: self = error
        case let error as Fault: fault = error
        case let error as InvalidGraph:
            let errors = error.diagnostics.filter { $0.severity == .error }
            let more = errors.count > 1 ? ", and \(errors.count - 1) more" : ""
            let place = errors.first.map(\.location).flatMap {
                $0.line > 0 ? "\($0.file):\($0.line):\($0.column): " : nil
            }
            fault = Fault(
                (place ?? "") + (errors.first?.message ?? "the graph is faulty") + more, hint: errors.first?.hint ?? "")
            diagnostics = error.diagnostics
        default: fault = Fault("\(error)")
        }
        if fault.hint.isEmpty { fault.hint = hint }
    }
}

extension Fault {
    /// Who asks may not ask for this.
    public init(missing right: Right, _ caller: Caller) {
        self.init("\(caller.right.rawValue)s may not ask for this", hint: right.hint)
    }
}

extension HostCall {
    /// What every host offers, in an order for people.
    public static let all: [HostCall] = queries + declared + changes + edits

    /// What a transport that can go on telling offers beside the calls: from now on events come, one after another, of
    /// these names or all.
    public static let events = (
        name: "events", doc: "what happens from now on, one event after another; first the states that there are",
        arguments: [
            Setting("only", VG_SET_STRINGS, "names of events; all without it"),
            Setting(
                "series", VG_SET_STRINGS,
                "only these of the series, those among them that are measured only for whoever asks: bands, or face.bands"
            ),
            Setting(
                "since", VG_SET_INTEGER, "the number of the last event that was told: what came after it comes first"),
            Setting("run", VG_SET_STRING, "which run counted that, as the answer to 'events' said"),
        ]
    )
}

extension Settings {
    /// An argument that was checked to be there.
    func text(_ key: String) -> String { string(key) ?? "" }
}
