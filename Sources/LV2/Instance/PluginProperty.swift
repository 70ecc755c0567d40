// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import NodeKit

/// A value that a plugin takes by message instead of by port: the file of a sampler, the response of a convolver.
struct PluginProperty: Sendable {
    enum Kind: Sendable { case path, string, uri, float, double, int, long, bool }

    var uri: String
    var label: String
    var kind: Kind
    /// Whether it can be set.
    var isWritable: Bool

    /// What names it in files and events.
    var key: String { shortNames(of: uri)[0] }

    /// Whether `key` of a file means it: URI, label or the last part of the URI, in any capitals for the last two.
    func isCalled(_ key: String) -> Bool {
        let lowered = key.lowercased()
        return key == uri || label.lowercased() == lowered
            || shortNames(of: uri).contains { $0.lowercased() == lowered }
    }
}

extension Lilv {
    /// What the plugin's data calls writable or readable, of a type that the host knows.
    func properties(of plugin: OpaquePointer) -> [PluginProperty] {
        let writable = take(list: lilv_plugin_get_value(plugin, constant(VG_PATCH__writable)))
        let readable = take(list: lilv_plugin_get_value(plugin, constant(VG_PATCH__readable)))
        return (writable + readable.filter { !writable.contains($0) }).compactMap { uri in
            guard let node = lilv_new_uri(world, uri) else { return nil }
            defer { lilv_node_free(node) }
            guard let range = object(of: node, VG_RDFS__range), let kind = propertyKinds[range] else { return nil }
            let label = object(of: node, VG_RDFS__label) ?? shortNames(of: uri)[0]
            return PluginProperty(uri: uri, label: label, kind: kind, isWritable: writable.contains(uri))
        }
    }
}

private let propertyKinds: [String: PluginProperty.Kind] = [
    VG_ATOM__Path.string: .path, VG_ATOM__String.string: .string, VG_ATOM__URI.string: .uri,
    VG_ATOM__Float.string: .float, VG_ATOM__Double.string: .double, VG_ATOM__Int.string: .int,
    VG_ATOM__Long.string: .long, VG_ATOM__Bool.string: .bool,
]

/// A `patch:Set` or `patch:Get` as it travels to the plugin: the body of an atom object.
struct PatchMessage: Sendable {
    let bytes: [UInt8]
    /// What it is called where it was given, and the file that it names; nil: none.
    private(set) var key = ""
    private(set) var path: String?

    /// The longest text that is sent; event ports have room for 8 KiB.
    private static let longest = 4096

    /// Reads what a file says of a property. Relative paths are resolved by `resolve`, and must be readable.
    init(
        _ property: PluginProperty, _ value: SettingValue, key: String, resolve: (String) -> String
    ) throws(NodeError) {
        func wrong(_ wanted: String) -> NodeError {
            NodeError("\(key) takes \(wanted)", hint: "give \(wanted)", key: "params.\(key)")
        }
        switch (property.kind, value) {
        case (.path, .string(let text)):
            let path = resolve(text)
            guard access(path, R_OK) == 0 else {
                throw NodeError(
                    "cannot read \(path): \(String(cString: strerror(errno)))", hint: "name an existing file",
                    key: "params.\(key)")
            }
            bytes = try Self.set(property, VG_ATOM__Path, Array(path.utf8) + [0], key)
            (self.key, self.path) = (key, path)
        case (.path, _): throw wrong("the path of a file")
        case (.string, .string(let text)):
            bytes = try Self.set(property, VG_ATOM__String, Array(text.utf8) + [0], key)
        case (.uri, .string(let text)): bytes = try Self.set(property, VG_ATOM__URI, Array(text.utf8) + [0], key)
        case (.string, _), (.uri, _): throw wrong("a text")
        case (.bool, .bool(let flag)): bytes = try Self.set(property, VG_ATOM__Bool, Self.raw(Int32(flag ? 1 : 0)), key)
        case (.bool, _): throw wrong("true or false")
        case (.int, .integer(let number)):
            guard let exact = Int32(exactly: number) else { throw wrong("a whole number of 32 bits") }
            bytes = try Self.set(property, VG_ATOM__Int, Self.raw(exact), key)
        case (.long, .integer(let number)): bytes = try Self.set(property, VG_ATOM__Long, Self.raw(Int64(number)), key)
        case (.int, _), (.long, _): throw wrong("a whole number")
        case (.float, .integer), (.float, .number), (.double, .integer), (.double, .number):
            let number: Double
            switch value {
            case .integer(let whole): number = Double(whole)
            case .number(let any): number = any
            default: number = .nan
            }
            guard number.isFinite else { throw wrong("a finite number") }
            bytes =
                property.kind == .float
                ? try Self.set(property, VG_ATOM__Float, Self.raw(Float(number)), key)
                : try Self.set(property, VG_ATOM__Double, Self.raw(number), key)
        case (.float, _), (.double, _): throw wrong("a number")
        }
    }

    /// Asks for the value of a property.
    init(asking property: PluginProperty) { bytes = Self.head(VG_PATCH__Get, property) }

    private static func raw<T>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    private static func set(
        _ property: PluginProperty, _ type: UnsafePointer<CChar>, _ body: [UInt8], _ key: String
    ) throws(NodeError) -> [UInt8] {
        guard body.count <= longest else {
            throw NodeError("\(key) is longer than \(longest) bytes", hint: "shorten it", key: "params.\(key)")
        }
        let table = URIDMap.shared
        var bytes = head(VG_PATCH__Set, property)
        bytes += number(table.map(VG_PATCH__value)) + number(0) + number(UInt32(body.count)) + number(table.map(type))
        bytes += body + [UInt8](repeating: 0, count: (8 - body.count % 8) % 8)
        return bytes
    }

    private static func number(_ value: UInt32) -> [UInt8] { raw(value) }

    /// The kind of message and which property it is about.
    private static func head(_ kind: UnsafePointer<CChar>, _ property: PluginProperty) -> [UInt8] {
        let table = URIDMap.shared
        var bytes = number(0) + number(table.map(kind))
        bytes += number(table.map(VG_PATCH__property)) + number(0) + number(4) + number(table.map(VG_ATOM__URID))
        bytes += number(table.map(property.uri)) + number(0)
        return bytes
    }
}
