// SPDX-License-Identifier: Apache-2.0
import CNode
import Glibc
import NodeKit
import System

/// What the host does for a node, behind the C boundary. The closures are called from any thread but the audio
/// thread; C data is valid during the call only.
public struct NodeServices: Sendable {
    /// The graph's name.
    public var graphName = ""
    /// The program's folders of this user.
    public var folders = UserFolders()
    /// Takes a log line.
    public var log: (@Sendable (vg_log_level, String) -> Void)?
    /// Takes an event.
    public var publish: (@Sendable (UnsafePointer<vg_event>) -> Void)?
    /// Takes a frame of series.
    public var publishFrame: (@Sendable (UnsafePointer<vg_frame>) -> Void)?
    /// Takes a block of audio.
    public var publishAudio: (@Sendable (UnsafePointer<vg_audio>) -> Void)?
    /// Takes how the node is.
    public var health: (@Sendable (Health) -> Void)?
    /// Takes what is added to a counter.
    public var count: (@Sendable (String, UInt64) -> Void)?
    /// Takes a message for the links of a message output (index among those); false: an inbox was full.
    public var send: (@Sendable (Int, Message) -> Bool)?
    /// Tells frames from a sample that leaves the node until it is heard.
    public var outputLatency: (@Sendable () -> Int)?
    /// Tells which of its series somebody reads, by their index; without it all are.
    public var wanted: (@Sendable () -> UInt64)?
    /// Finds what another node declares that can be done to it, in memory that stays.
    public var actions: (@Sendable (String) -> UnsafePointer<vg_list>?)?
    /// Does an action of another node: its name, the action, the arguments, how many seconds that may take, and who is
    /// told once what came of it.
    public var call: CallAction?

    /// See `call`.
    public typealias CallAction =
        @Sendable (String, String, [String: SettingValue], Double, @escaping @Sendable (ActionResult) -> Void) -> Void

    /// Services that do nothing; what is nil is ignored.
    public init() {}
}

/// Where a program keeps what is a user's, by the XDG base directory specification.
public struct UserFolders: Sendable, Equatable {
    /// What must be kept.
    public var data: String
    /// What can be made again.
    public var cache: String
    /// Models and voices.
    public var models: String

    /// Those of this user and this program.
    public init() {
        func folder(_ variable: String, _ otherwise: String) -> String {
            if let path = getenv(variable).map({ String(cString: $0) }), path.hasPrefix("/") { return path }
            return (getenv("HOME").map { String(cString: $0) } ?? "") + otherwise
        }
        data = folder("XDG_DATA_HOME", "/.local/share") + "/voicegraph"
        cache = folder("XDG_CACHE_HOME", "/.cache") + "/voicegraph"
        models = data + "/models"
    }
}

/// The `vg_host` of one node and what it points to.
final class HostMemory {
    /// Turns a parameter of the node: place, value, at once, from which frame on (0: now).
    typealias SetParameter = @Sendable (Int, Float, Bool, UInt64) -> Bool

    let host: UnsafeMutablePointer<vg_host>
    private var texts: [UnsafeMutablePointer<CChar>] = []
    private let services: Unmanaged<ServicesBox>

    init(name: String, baseFolder: String, services given: NodeServices) {
        services = .passRetained(ServicesBox(given))
        host = .allocate(capacity: 1)
        host.initialize(to: vg_host())
        func text(_ text: String) -> UnsafePointer<CChar> {
            texts.append(strdup(text))
            return UnsafePointer(texts.last!)
        }
        host.pointee.abi = UInt32(VG_ABI_VERSION)
        host.pointee.size = UInt32(MemoryLayout<vg_host>.size)
        host.pointee.handle = services.toOpaque()
        host.pointee.node_name = text(name)
        host.pointee.graph_name = text(given.graphName)
        host.pointee.base_folder = text(baseFolder)
        host.pointee.data_folder = text(given.folders.data)
        host.pointee.cache_folder = text(given.folders.cache)
        host.pointee.model_folder = text(given.folders.models)
        host.pointee.log = { handle, level, text in
            if let text { ServicesBox.of(handle).log?(level, String(cString: text)) }
        }
        host.pointee.publish = { handle, event in
            guard let event, let publish = ServicesBox.of(handle).publish else { return }
            withUnsafePointer(to: known(event, size: event.pointee.size)) { publish($0) }
        }
        host.pointee.health = { handle, health, reason in
            ServicesBox.of(handle).health?(Health(health, reason.map { String(cString: $0) } ?? ""))
        }
        host.pointee.count = { handle, counter, number in
            if let counter { ServicesBox.of(handle).count?(String(cString: counter), number) }
        }
        host.pointee.set_parameter = { handle, parameter, value, atOnce, position in
            ServicesBox.setParameter(handle)?(Int(parameter), value, atOnce, position) ?? false
        }
        host.pointee.output_latency = { UInt32(clamping: ServicesBox.of($0).outputLatency?() ?? 0) }
        host.pointee.extension = { handle, name in name.flatMap { extensions.table(String(cString: $0), handle) } }
    }

    /// Whoever runs the node gives it what turns its parameters; nil: nobody runs it.
    func set(setParameter: SetParameter?) {
        services._withUnsafeGuaranteedRef { $0.setter.withLock { $0.setParameter = setParameter } }
    }

    deinit {
        host.deallocate()
        services.release()
        for text in texts { free(text) }
    }
}

private final class ServicesBox {
    let services: NodeServices
    // In a structure: a function that is itself the value of a lock is wrapped once more by each look at it.
    struct Setter {
        var setParameter: HostMemory.SetParameter?
    }

    let setter = Lock(Setter())
    init(_ services: NodeServices) { self.services = services }

    static func of(_ handle: UnsafeMutableRawPointer?) -> NodeServices {
        Unmanaged<ServicesBox>.fromOpaque(handle!).takeUnretainedValue().services
    }

    static func setParameter(_ handle: UnsafeMutableRawPointer?) -> HostMemory.SetParameter? {
        Unmanaged<ServicesBox>.fromOpaque(handle!).takeUnretainedValue().setter.withLock { $0.setParameter }
    }
}

/// The extensions that this host has, for all nodes.
private let extensions = HostExtensions()

private struct HostExtensions: @unchecked Sendable {
    // Sendable: the tables are written here and never again.
    private let messages: UnsafePointer<vg_host_messages>
    private let series: UnsafePointer<vg_host_series>
    private let audio: UnsafePointer<vg_host_audio>
    private let actions: UnsafePointer<vg_host_actions>

    init() {
        func forever<Table>(_ table: Table) -> UnsafePointer<Table> {
            let memory = UnsafeMutablePointer<Table>.allocate(capacity: 1)
            memory.initialize(to: table)
            return UnsafePointer(memory)
        }
        messages = forever(
            vg_host_messages { handle, port, message in
                guard let message, let send = ServicesBox.of(handle).send else { return false }
                return send(Int(port), Message(known(message, size: message.pointee.size)))
            })
        series = forever(
            vg_host_series(
                publish: { handle, frame in
                    guard let frame, let publish = ServicesBox.of(handle).publishFrame else { return }
                    withUnsafePointer(to: known(frame, size: frame.pointee.size)) { publish($0) }
                },
                wanted: { ServicesBox.of($0).wanted?() ?? .max }))
        audio = forever(
            vg_host_audio { handle, audio in
                guard let audio, let publish = ServicesBox.of(handle).publishAudio else { return }
                withUnsafePointer(to: known(audio, size: audio.pointee.size)) { publish($0) }
            })
        actions = forever(
            vg_host_actions(
                actions_of: { handle, node in node.flatMap { ServicesBox.of(handle).actions?(String(cString: $0)) } },
                call: callAction))
    }

    /// The table of this name; nil: there is none, or the node's services do not do what is in it.
    func table(_ name: String, _ handle: UnsafeMutableRawPointer?) -> UnsafeRawPointer? {
        let services = ServicesBox.of(handle)
        return switch name {
        case VG_EXT_MESSAGES: services.send.map { _ in UnsafeRawPointer(messages) }
        case VG_EXT_SERIES: services.publishFrame.map { _ in UnsafeRawPointer(series) }
        case VG_EXT_AUDIO: services.publishAudio.map { _ in UnsafeRawPointer(audio) }
        case VG_EXT_ACTIONS: services.call.map { _ in UnsafeRawPointer(actions) }
        default: nil
        }
    }
}

/// What a node asks to be done to another.
private func callAction(
    _ handle: UnsafeMutableRawPointer?, _ node: UnsafePointer<CChar>?, _ action: UnsafePointer<CChar>?,
    _ arguments: UnsafePointer<vg_value>?, _ seconds: Double, _ context: UnsafeMutableRawPointer?,
    _ answer: vg_answer_function?
) {
    // The node's own; it is passed on and never looked at.
    nonisolated(unsafe) let context = context
    let done: @Sendable (ActionResult) -> Void = { result in
        switch result {
        case .success(let results): SettingValue.table(results).withCValue { answer?(context, $0, nil) }
        case .failure(let failure):
            var error = vg_error()
            failure.copy(to: &error)
            answer?(context, nil, &error)
        }
    }
    guard let call = ServicesBox.of(handle).call else {
        return done(.failure(NodeError("actions of other nodes are not available here")))
    }
    var table: [String: SettingValue] = [:]
    if let arguments, case .table(let given) = SettingValue(arguments.pointee) { table = given }
    call(
        node.map { String(cString: $0) } ?? "", action.map { String(cString: $0) } ?? "", table, seconds, done)
}

extension Health {
    /// As a node in C says it. What is unknown counts as failed.
    init(_ health: vg_health, _ reason: String) {
        let reason = reason.isEmpty ? "without a reason" : reason
        switch health {
        case VG_HEALTH_OK: self = .ok
        case VG_HEALTH_DEGRADED: self = .degraded(reason)
        default: self = .failed(reason)
        }
    }
}
