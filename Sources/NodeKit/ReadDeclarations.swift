// SPDX-License-Identifier: Apache-2.0
import CNode

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
            arguments: elements(of: c.arguments, as: vg_setting.self).compactMap { Setting($0) },
            results: elements(of: c.results, as: vg_field.self).compactMap { Field($0) },
            urgent: c.flags & UInt32(VG_ACTION_URGENT) != 0, lasting: c.flags & UInt32(VG_ACTION_LASTING) != 0,
            public: c.flags & UInt32(VG_ACTION_PUBLIC) != 0)
    }
}

private func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
