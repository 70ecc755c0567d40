// SPDX-License-Identifier: Apache-2.0
import CNode
import Glibc

// Declarations in C memory that is never freed, but for layouts: types live as long as the code that they point to.

func immortal(_ text: String) -> UnsafePointer<CChar> { UnsafePointer(strdup(text)!) }

func immortal<T>(_ items: [T]) -> UnsafeMutablePointer<T> {
    let memory = UnsafeMutablePointer<T>.allocate(capacity: max(1, items.count))
    memory.initialize(from: items, count: items.count)
    return memory
}

func immortalList<T>(_ items: [T]) -> vg_list {
    vg_list(items: immortal(items), count: UInt32(items.count), size: UInt32(MemoryLayout<T>.stride))
}

/// A layout in C memory.
struct CLayout {
    let c: vg_layout

    init(_ layout: Layout) {
        let ports = layout.ports.map {
            vg_port(
                symbol: immortal($0.symbol), doc: immortal($0.doc), kind: $0.kind, direction: $0.direction,
                bus: $0.bus.map { immortal($0) }, default_value: $0.defaultValue, takes: $0.takes)
        }
        let parameters = layout.parameters.map {
            vg_parameter(
                key: immortal($0.key), doc: immortal($0.doc), unit: immortal($0.unit), minimum: $0.range.lowerBound,
                maximum: $0.range.upperBound, default_value: $0.defaultValue, scale: $0.scale, flags: $0.flags,
                label: $0.label.isEmpty ? nil : immortal($0.label),
                points: immortalList($0.points.map { vg_point(label: immortal($0.label), value: $0.value) }))
        }
        c = vg_layout(ports: immortalList(ports), parameters: immortalList(parameters))
    }

    func free() {
        func release(_ text: UnsafePointer<CChar>?) { Glibc.free(UnsafeMutablePointer(mutating: text)) }
        for port in elements(of: c.ports, as: vg_port.self) {
            release(port.symbol)
            release(port.doc)
            release(port.bus)
        }
        for parameter in elements(of: c.parameters, as: vg_parameter.self) {
            release(parameter.key)
            release(parameter.doc)
            release(parameter.unit)
            release(parameter.label)
            for point in elements(of: parameter.points, as: vg_point.self) { release(point.label) }
            parameter.points.items?.deallocate()
        }
        c.ports.items?.deallocate()
        c.parameters.items?.deallocate()
    }
}

extension Setting {
    var c: vg_setting {
        vg_setting(
            key: immortal(key), doc: immortal(doc), kind: kind, required: required,
            default_text: defaultText.map { immortal($0) }, minimum: range?.lowerBound ?? 0,
            maximum: range?.upperBound ?? 0, unit: unit.map { immortal($0) },
            choices: UnsafePointer(immortal(choices.map { Optional(immortal($0)) })),
            choice_count: UInt32(choices.count), flags: UInt32(isLive ? VG_SETTING_LIVE : 0) | (reach?.flag ?? 0))
    }
}

extension Field {
    var c: vg_field {
        vg_field(name: immortal(name), doc: immortal(doc), kind: kind, unit: unit.map { immortal($0) })
    }
}

extension Action {
    var c: vg_action {
        vg_action(
            name: immortal(name), doc: immortal(doc), arguments: immortalList(arguments.map(\.c)),
            results: immortalList(results.map(\.c)),
            flags: UInt32(
                (isUrgent ? VG_ACTION_URGENT : 0) | (isLasting ? VG_ACTION_LASTING : 0)
                    | (isPublic ? VG_ACTION_PUBLIC : 0)))
    }
}

extension EventType {
    var c: vg_event_type {
        vg_event_type(
            name: immortal(name), doc: immortal(doc), fields: immortalList(fields.map(\.c)),
            flags: UInt32((isRetained ? VG_EVENT_RETAINED : 0) | (isPublic ? VG_EVENT_PUBLIC : 0)) | (role?.flags ?? 0))
    }
}

extension Series {
    var c: vg_series {
        vg_series(
            name: immortal(name), doc: immortal(doc), unit: immortal(unit), rate: rate, width: UInt32(clamping: width),
            flags: UInt32(isOnRequest ? VG_SERIES_ON_REQUEST : 0))
    }
}
