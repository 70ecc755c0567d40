// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The events of a node, held to what its type declares of them.
final class DeclaredEvents: Sendable {
    private struct Declared: Sendable {
        var type: EventType
        var kinds: [String: vg_value_kind]
    }

    private let events: [String: Declared]
    /// What was told already: it is a mistake of the type, and may come in every block.
    private let told = Lock<Set<String>>([])
    private static let mostTold = 64

    init(_ types: [EventType]) {
        events = Dictionary(
            types.map { type in
                let kinds = Dictionary(type.fields.map { ($0.name, $0.kind) }, uniquingKeysWith: { first, _ in first })
                return (type.name, Declared(type: type, kinds: kinds))
            }, uniquingKeysWith: { first, _ in first })
    }

    /// What was published, without what is not declared, which is given to `warn` once; nil: it is not declared at all. [any]
    func read(_ event: vg_event, warn: (String) -> Void) -> (type: EventType, fields: [String: SettingValue])? {
        let name = event.name.map { String(cString: $0) } ?? ""
        func refuse(_ what: String, _ text: String) {
            if told.withLock({ $0.count < Self.mostTold && $0.insert(what).inserted }) { warn(text) }
        }
        guard let declared = events[name] else {
            refuse(name, "publishes '\(name)', which its type does not declare: it is left out")
            return nil
        }
        var fields: [String: SettingValue] = [:]
        let count = event.fields == nil ? 0 : Int(event.field_count)
        for entry in UnsafeBufferPointer(start: event.fields, count: count) {
            guard let key = entry.key.map({ String(cString: $0) }) else { continue }
            let value = SettingValue(entry.value)
            guard let kind = declared.kinds[key] else {
                refuse(
                    "\(name) \(key)",
                    "publishes '\(name)' with '\(key)', which its type does not declare: that is left out")
                continue
            }
            guard value.is(kind) else {
                refuse(
                    "\(name) \(key)", "publishes '\(name)' with '\(key)', which is no \(kind.name): that is left out")
                continue
            }
            fields[key] = value
        }
        return (declared.type, fields)
    }
}

extension SettingValue {
    /// Whether a field that is declared as `kind` may have it.
    fileprivate func `is`(_ kind: vg_value_kind) -> Bool {
        switch (self, kind) {
        case (_, VG_ANY), (.bool, VG_BOOL), (.integer, VG_INTEGER), (.integer, VG_NUMBER), (.number, VG_NUMBER),
            (.string, VG_STRING), (.list, VG_LIST), (.table, VG_TABLE):
            true
        default: false
        }
    }
}
