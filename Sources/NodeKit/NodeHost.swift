// SPDX-License-Identifier: Apache-2.0
import CNode

/// The host as a node sees it. Every call may be made from any thread but the audio thread.
public struct NodeHost: @unchecked Sendable {
    // Sendable: the ABI promises that the functions are thread-safe and that the pointer outlives the node.
    private let host: UnsafePointer<vg_host>

    init(_ host: UnsafePointer<vg_host>) { self.host = host }

    /// The node's name in the file.
    public var nodeName: String { host.pointee.node_name.map { String(cString: $0) } ?? "" }

    /// Where relative paths in settings start.
    public var baseFolder: String { host.pointee.base_folder.map { String(cString: $0) } ?? "" }

    /// A path from a setting, made absolute if it is relative.
    public func resolve(_ path: String) -> String {
        join(baseFolder, path)
    }

    /// Writes to the host's log. [any]
    public func log(_ level: vg_log_level, _ text: String) {
        text.withCString { host.pointee.log?(host.pointee.handle, level, $0) }
    }

    /// Publishes an event with plain fields. [any]
    public func publish(_ name: String, _ fields: [(String, SettingValue)] = []) {
        var arena = CValueArena()
        var event = vg_event()
        event.name = arena.text(name)
        event.fields = arena.entries(fields.map { ($0.0, $0.1) })
        event.field_count = UInt32(fields.count)
        host.pointee.publish?(host.pointee.handle, &event)
        _ = consume arena  // not before the call is over
    }

    /// Publishes a level frame. [any]
    public func publish(levels: vg_levels) {
        withUnsafePointer(to: levels) { levels in publish("levels") { $0.levels = levels } }
    }

    /// Publishes a block of audio. [any]
    public func publish(audio: vg_audio) {
        withUnsafePointer(to: audio) { audio in publish("audio") { $0.audio = audio } }
    }

    private func publish(_ name: StaticString, _ fill: (inout vg_event) -> Void) {
        var event = vg_event()
        event.name = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        fill(&event)
        host.pointee.publish?(host.pointee.handle, &event)
    }

    /// Turns a parameter of this node, by its place in the layout: smoothed as a user's change is, or `atOnce` where
    /// nothing of the node is heard. False: the node does not run, the queue is full, or the host is older. [any]
    @discardableResult
    public func setParameter(_ parameter: Int, to value: Float, atOnce: Bool = false) -> Bool {
        let offset = MemoryLayout<vg_host>.offset(of: \.set_parameter) ?? .max
        guard Int(host.pointee.size) > offset, let set = host.pointee.set_parameter else { return false }
        return set(host.pointee.handle, UInt32(parameter), value, atOnce)
    }

    /// Sends to whatever the message output `port` is linked to; false when a receiver's queue is full. [any]
    @discardableResult
    public func send(_ message: Message, port: Int = 0) -> Bool {
        guard let send = host.pointee.send else { return false }
        return message.withCMessage { send(host.pointee.handle, UInt32(port), $0) }
    }
}
