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
        c = vg_layout(ports: layout.ports.c, parameters: layout.parameters.c)
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

extension Port {
    package var c: vg_port {
        vg_port(
            symbol: immortal(symbol), doc: immortal(doc), kind: kind, direction: direction,
            bus: bus.map { immortal($0) }, default_value: defaultValue, takes: takes)
    }
}

extension Parameter {
    package var c: vg_parameter {
        vg_parameter(
            key: immortal(key), doc: immortal(doc), unit: immortal(unit), minimum: range.lowerBound,
            maximum: range.upperBound, default_value: defaultValue, scale: scale, flags: flags,
            label: label.isEmpty ? nil : immortal(label), points: points.c)
    }
}

extension Parameter.Point {
    package var c: vg_point { vg_point(label: immortal(label), value: value) }
}

extension Setting {
    package var c: vg_setting {
        vg_setting(
            key: immortal(key), doc: immortal(doc), kind: kind, required: required,
            default_text: defaultText.map { immortal($0) }, minimum: range?.lowerBound ?? 0,
            maximum: range?.upperBound ?? 0, unit: unit.map { immortal($0) },
            choices: UnsafePointer(immortal(choices.map { Optional(immortal($0)) })),
            choice_count: UInt32(choices.count), flags: UInt32(isLive ? VG_SETTING_LIVE : 0) | (reach?.flag ?? 0))
    }
}

extension Field {
    package var c: vg_field {
        vg_field(name: immortal(name), doc: immortal(doc), kind: kind, unit: unit.map { immortal($0) })
    }
}

extension Action {
    package var c: vg_action {
        vg_action(
            name: immortal(name), doc: immortal(doc), arguments: arguments.c, results: results.c,
            flags: UInt32(
                (isUrgent ? VG_ACTION_URGENT : 0) | (isLasting ? VG_ACTION_LASTING : 0)
                    | (isPublic ? VG_ACTION_PUBLIC : 0)))
    }
}

extension EventType {
    package var c: vg_event_type {
        vg_event_type(
            name: immortal(name), doc: immortal(doc), fields: fields.c,
            flags: UInt32((isRetained ? VG_EVENT_RETAINED : 0) | (isPublic ? VG_EVENT_PUBLIC : 0)) | (role?.flags ?? 0)
                | (end?.flags ?? 0) | (kind?.flag ?? 0),
            sentence: sentence.map(immortal))
    }
}

extension Need {
    package var c: vg_need {
        vg_need(
            models: immortal(models.joined(separator: " ")), setting: immortal(setting), value: immortal(value),
            flags: UInt32(isBetter ? VG_NEED_BETTER : 0) | UInt32(isAlone ? VG_NEED_ALONE : 0))
    }
}

extension Series {
    package var c: vg_series {
        vg_series(
            name: immortal(name), doc: immortal(doc), unit: immortal(unit), rate: rate, width: UInt32(clamping: width),
            flags: UInt32(isOnRequest ? VG_SERIES_ON_REQUEST : 0))
    }
}
