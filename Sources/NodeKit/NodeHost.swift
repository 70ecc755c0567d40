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
        path.hasPrefix("/") || baseFolder.isEmpty ? path : baseFolder + "/" + path
    }

    /// Writes to the host's log. [any]
    public func log(_ level: vg_log_level, _ text: String) {
        text.withCString { host.pointee.log?(host.pointee.handle, level, $0) }
    }

    /// Publishes an event with plain fields. [any]
    public func publish(_ name: String, _ fields: [(String, SettingValue)] = []) {
        withEntries(fields[...], []) { entries in
            name.withCString { name in
                var event = vg_event()
                event.name = name
                entries.withUnsafeBufferPointer {
                    event.fields = $0.baseAddress
                    event.field_count = UInt32($0.count)
                    host.pointee.publish?(host.pointee.handle, &event)
                }
            }
        }
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

    /// Sends to whatever the message output `port` is linked to; false when a receiver's queue is full. [any]
    @discardableResult
    public func send(_ message: Message, port: Int = 0) -> Bool {
        guard let send = host.pointee.send else { return false }
        return message.withCMessage { send(host.pointee.handle, UInt32(port), $0) }
    }
}

/// Builds C entries for scalar fields; strings live as long as `body` runs.
private func withEntries(
    _ rest: ArraySlice<(String, SettingValue)>, _ built: [vg_entry], _ body: ([vg_entry]) -> Void
) {
    guard let (key, value) = rest.first else { return body(built) }
    key.withCString { key in
        func next(_ fill: (inout vg_value) -> Void) {
            var entry = vg_entry()
            entry.key = key
            fill(&entry.value)
            withEntries(rest.dropFirst(), built + [entry], body)
        }
        switch value {
        case .bool(let bool):
            next {
                $0.kind = VG_BOOL
                $0.boolean = bool
            }
        case .integer(let integer):
            next {
                $0.kind = VG_INTEGER
                $0.integer = integer
                $0.number = Double(integer)
            }
        case .number(let number):
            next {
                $0.kind = VG_NUMBER
                $0.number = number
            }
        case .string(let string):
            string.withCString { text in
                next {
                    $0.kind = VG_STRING
                    $0.string = text
                }
            }
        case .list(let items):
            withEntries(items.map { ("", $0) }[...], []) { inner in
                inner.withUnsafeBufferPointer { inner in
                    next {
                        $0.kind = VG_LIST
                        $0.items = inner.baseAddress
                        $0.count = UInt32(inner.count)
                    }
                }
            }
        case .table(let table):
            withEntries(table.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }[...], []) { inner in
                inner.withUnsafeBufferPointer { inner in
                    next {
                        $0.kind = VG_TABLE
                        $0.items = inner.baseAddress
                        $0.count = UInt32(inner.count)
                    }
                }
            }
        }
    }
}

extension SettingValue {
    /// Calls `body` with the same value as a C struct, valid during the call.
    public func withCValue<R>(_ body: (UnsafePointer<vg_value>) -> R) -> R {
        var result: R?
        withEntries([("", self)][...], []) { entries in
            withUnsafePointer(to: entries[0].value) { result = body($0) }
        }
        return result!
    }
}

extension Message {
    /// Calls `body` with the same message as a C struct, valid during the call.
    public func withCMessage<R>(_ body: (UnsafePointer<vg_message>) -> R) -> R {
        var message = vg_message()
        switch self {
        case .text(let text):
            return text.withCString {
                message.kind = VG_MESSAGE_TEXT
                message.text = $0
                message.length = text.utf8.count
                return withUnsafePointer(to: message, body)
            }
        case .number(let number):
            message.kind = VG_MESSAGE_NUMBER
            message.number = number
            return withUnsafePointer(to: message, body)
        case .bytes(let bytes):
            return bytes.withUnsafeBufferPointer { buffer in
                message.kind = VG_MESSAGE_BYTES
                message.length = buffer.count
                return buffer.withMemoryRebound(to: CChar.self) {
                    message.text = $0.baseAddress
                    return withUnsafePointer(to: message, body)
                }
            }
        }
    }

    /// Copies a C message.
    public init(_ message: vg_message) {
        let bytes = UnsafeRawBufferPointer(start: message.text, count: message.text == nil ? 0 : message.length)
        switch message.kind {
        case VG_MESSAGE_TEXT: self = .text(String(decoding: bytes, as: UTF8.self))
        case VG_MESSAGE_NUMBER: self = .number(message.number)
        default: self = .bytes(Array(bytes))
        }
    }
}
