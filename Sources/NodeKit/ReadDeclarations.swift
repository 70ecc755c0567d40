// SPDX-License-Identifier: Apache-2.0
import CNode

/// What is declared in a struct of node.h.
package protocol CDeclared: Declared {
    /// The struct. That it can be copied byte by byte is not said here: the compiler does not find that again in C.
    associatedtype Struct
    /// Reads one; nil: what it is called by is missing. [any]
    init?(_ c: Struct)
    /// Itself, in memory that is never freed. [control]
    var c: Struct { get }
}

extension Array where Element: CDeclared {
    /// Reads what makes sense of a list. [any]
    package init(_ list: vg_list) {
        self = copies(of: list, as: Element.Struct.self).compactMap { Element($0) }
    }

    /// Itself, in memory that is never freed. [control]
    package var c: vg_list { immortalList(map(\.c)) }
}

extension Setting: CDeclared {}
extension Field: CDeclared {}
extension Action: CDeclared {}
extension EventType: CDeclared {}
extension Need: CDeclared {}
extension Series: CDeclared {}
extension Port: CDeclared {}
extension Parameter: CDeclared {}
extension Parameter.Point: CDeclared {}

extension Setting {
    /// Reads one in C; nil: it has no key. [any]
    public init?(_ c: vg_setting) {
        guard let key = c.key else { return nil }
        let choices = UnsafeBufferPointer(start: c.choices, count: c.choices == nil ? 0 : Int(c.choice_count))
        let bounded = c.minimum < c.maximum || (c.minimum == c.maximum && c.minimum != 0)
        self.init(
            String(cString: key), c.kind, text(c.doc), required: c.required,
            default: c.default_text.map { String(cString: $0) }, range: bounded ? c.minimum...c.maximum : nil,
            unit: c.unit.map { String(cString: $0) }, choices: choices.compactMap { $0.map { String(cString: $0) } },
            live: c.flags & UInt32(VG_SETTING_LIVE) != 0, names: Reach.allCases.first { c.flags & $0.flag != 0 })
    }
}

extension Field {
    /// Reads one in C; nil: it has no name. [any]
    public init?(_ c: vg_field) {
        guard let name = c.name else { return nil }
        self.init(String(cString: name), c.kind, text(c.doc), unit: c.unit.map { String(cString: $0) })
    }
}

extension Action {
    /// Reads one in C; nil: it has no name. [any]
    public init?(_ c: vg_action) {
        guard let name = c.name else { return nil }
        self.init(
            String(cString: name), text(c.doc),
            arguments: [Setting](c.arguments), results: [Field](c.results),
            urgent: c.flags & UInt32(VG_ACTION_URGENT) != 0, lasting: c.flags & UInt32(VG_ACTION_LASTING) != 0,
            public: c.flags & UInt32(VG_ACTION_PUBLIC) != 0)
    }
}

extension EventType {
    /// Reads one in C; nil: it has no name. [any]
    public init?(_ c: vg_event_type) {
        guard let name = c.name else { return nil }
        self.init(
            String(cString: name), text(c.doc), fields: [Field](c.fields),
            retained: c.flags & UInt32(VG_EVENT_RETAINED) != 0, role: EventRole(flags: c.flags),
            ends: SourceEnd(flags: c.flags), kind: EventKind(flags: c.flags),
            public: c.flags & UInt32(VG_EVENT_PUBLIC) != 0,
            says: c.sentence.map { String(cString: $0) })
    }
}

extension Need {
    /// Those of a type. [any]
    public static func all(of type: UnsafePointer<vg_node_type>) -> [Need] {
        TypeExtensions(type.pointee).needs.map { [Need]($0.pointee.needs) } ?? []
    }

    /// Reads one in C; nil: it has no models. [any]
    public init?(_ c: vg_need) {
        guard let models = c.models else { return nil }
        self.init(
            words(models), setting: text(c.setting), value: text(c.value),
            better: c.flags & UInt32(VG_NEED_BETTER) != 0,
            alone: c.flags & UInt32(VG_NEED_ALONE) != 0)
    }
}

/// What stands between spaces. [any]
public func words(_ pointer: UnsafePointer<CChar>?) -> [String] {
    text(pointer).split(separator: " ").map(String.init)
}

extension Series {
    /// Reads one in C; nil: it has no name. [any]
    public init?(_ c: vg_series) {
        guard let name = c.name else { return nil }
        self.init(
            String(cString: name), text(c.doc), unit: text(c.unit), rate: c.rate, width: Int(c.width),
            onRequest: c.flags & UInt32(VG_SERIES_ON_REQUEST) != 0)
    }
}

extension Port {
    /// Reads one in C; nil: it has no symbol. [any]
    public init?(_ c: vg_port) {
        guard let symbol = c.symbol else { return nil }
        self.init(
            c.kind, c.direction, String(cString: symbol), doc: text(c.doc), bus: c.bus.map { String(cString: $0) },
            defaultValue: c.default_value, takes: Int(c.takes))
    }
}

extension Parameter {
    /// Reads one in C; nil: it has no key or an empty range. [any]
    public init?(_ c: vg_parameter) {
        guard let key = c.key, c.minimum <= c.maximum else { return nil }
        self.init(
            String(cString: key), text(c.doc), c.minimum...c.maximum, default: c.default_value, unit: text(c.unit),
            scale: c.scale, flags: Int(c.flags), label: text(c.label), points: [Point](c.points))
    }
}

extension Parameter.Point {
    /// Reads one in C; nil: it has no label. [any]
    public init?(_ c: vg_point) {
        guard let label = c.label else { return nil }
        self.init(String(cString: label), c.value)
    }
}

private func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
