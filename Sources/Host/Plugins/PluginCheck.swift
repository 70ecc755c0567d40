// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What is wrong with a type's description.
struct NodeTypeFault: Error {
    /// The type's name, if it has a usable one.
    var type: String?
    /// What is wrong.
    var reason: String
}

/// Looks at everything in a type's description that the host will rely on. [control]
func checkNodeType(
    _ pointer: UnsafePointer<vg_node_type>?, index: Int
) throws(NodeTypeFault) -> UnsafePointer<vg_node_type> {
    guard let pointer else { throw NodeTypeFault(reason: "node type \(index) is NULL") }
    guard pointer.pointee.abi == UInt32(VG_ABI_VERSION) else {
        throw NodeTypeFault(
            reason: "node type \(index) has ABI version \(pointer.pointee.abi), the host has \(VG_ABI_VERSION)")
    }
    guard Int(pointer.pointee.size) >= MemoryLayout<vg_node_type>.size else {
        throw NodeTypeFault(reason: "node type \(index) says that it has \(pointer.pointee.size) bytes, too few")
    }
    let type = pointer.pointee
    guard let name = type.name else { throw NodeTypeFault(reason: "node type \(index) has no name") }
    let text = String(cString: name)
    guard isTypeName(text) else {
        throw NodeTypeFault(
            reason: "node type \(index) is called \"\(text.prefix(64))\"; a name has lower-case letters, digits and -")
    }
    do throws(Fault) {
        guard type.summary != nil else { throw Fault("it has no summary") }
        guard type.create != nil, type.destroy != nil, type.prepare != nil else {
            throw Fault("its create, destroy or prepare function is NULL")
        }
        try check(type.default_layout)
        try check(type.settings, "setting")
        try check(extensionsOf: type)
        let extensions = TypeExtensions(type)
        if let actions = extensions.actions {
            try check(actions: actions.pointee.actions)
            guard actions.pointee.perform != nil || actions.pointee.actions.count == 0 else {
                throw Fault("it declares actions but has no perform")
            }
        }
        let live = elements(of: type.settings, as: vg_setting.self).first { $0.flags & UInt32(VG_SETTING_LIVE) != 0 }
        if let live, extensions.liveSettings?.pointee.set == nil {
            throw Fault("its setting \(String(cString: live.key)) is live, but it has nothing that changes it")
        }
        try check(events: type.events)
        if let series = extensions.series { try check(series: series.pointee.series) }
        if let needs = extensions.needs { try check(needs.pointee.needs, of: "need") }
        let ports = elements(of: type.default_layout.ports, as: vg_port.self)
        guard type.process != nil || ports.allSatisfy({ $0.kind == VG_MESSAGE_PORT }) else {
            throw Fault("it has audio, control or midi ports but no process function")
        }
    } catch {
        throw NodeTypeFault(type: text, reason: "node type \(text): \(error.message)")
    }
    return pointer
}

/// Whether a graph file may use this as a type: lower-case letters, digits and '-', a letter first. [any]
public func isTypeName(_ name: String) -> Bool {
    guard let first = name.utf8.first, (97...122).contains(first), name.utf8.count <= 64 else { return false }
    return name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
}

/// More of anything than this is taken for a broken description.
private let saneCount: UInt32 = 4096

/// Refuses a list that cannot be read, `noun` by `noun`.
private func check(_ list: vg_list, of noun: String) throws(Fault) {
    guard list.count <= saneCount else { throw Fault("it declares \(list.count) \(noun)s") }
    guard list.isSane else {
        throw Fault(
            list.items == nil
                ? "it declares \(list.count) \(noun)s but lists none"
                : "its \(noun)s have \(list.size) bytes each, which cannot be")
    }
}

/// Refuses a name that is missing, impossible, or there already. Dots are for events.
private func check(
    _ name: UnsafePointer<CChar>?, _ index: Int, _ noun: String, _ seen: inout Set<String>, dots: Bool = false
) throws(Fault) -> String {
    let word = noun == "port" ? "symbol" : ["setting", "parameter", "argument"].contains(noun) ? "key" : "name"
    guard let name else { throw Fault("its \(noun) \(index) has no \(word)") }
    let text = String(cString: name)
    let letters = dots ? text.filter { $0 != "." } : text
    guard isSymbol(letters), text.utf8.count <= 128, text.first != ".", text.last != "." else {
        throw Fault("its \(noun) \(index) has the impossible \(word) \"\(text.prefix(64))\"")
    }
    guard seen.insert(text).inserted else { throw Fault("it has two \(noun)s called \(text)") }
    return text
}

private func check(extensionsOf type: vg_node_type) throws(Fault) {
    try check(type.extensions, of: "extension")
    var names: Set<String> = []
    for (index, one) in elements(of: type.extensions, as: vg_extension.self).enumerated() {
        // Any name may come yet.
        let name = try check(one.name, index, "extension", &names, dots: true)
        guard one.table != nil else { throw Fault("its extension \(name) has no table") }
    }
}

private func check(_ layout: vg_layout) throws(Fault) {
    try check(layout.ports, of: "port")
    try check(layout.parameters, of: "parameter")
    var sides: [UInt32: Set<String>] = [:]
    for (index, port) in elements(of: layout.ports, as: vg_port.self).enumerated() {
        let name = try check(port.symbol, index, "port", &sides[port.direction.rawValue, default: []])
        guard port.kind.rawValue <= VG_MESSAGE_PORT.rawValue, port.direction.rawValue <= VG_OUTPUT.rawValue else {
            throw Fault("its port \(name) has an unknown kind or direction")
        }
    }
    var keys: Set<String> = []
    for (index, parameter) in elements(of: layout.parameters, as: vg_parameter.self).enumerated() {
        let name = try check(parameter.key, index, "parameter", &keys)
        guard parameter.minimum <= parameter.default_value, parameter.default_value <= parameter.maximum else {
            throw Fault("its parameter \(name) has a default outside its range")
        }
        try check(parameter.points, of: "point")
    }
}

private func check(_ settings: vg_list, _ noun: String) throws(Fault) {
    try check(settings, of: noun)
    var keys: Set<String> = []
    for (index, setting) in elements(of: settings, as: vg_setting.self).enumerated() {
        let name = try check(setting.key, index, noun, &keys)
        guard setting.kind.rawValue <= VG_SET_VALUE.rawValue else {
            throw Fault("its \(noun) \(name) is of no known kind")
        }
        guard setting.minimum <= setting.maximum else { throw Fault("its \(noun) \(name) has an empty range") }
        guard setting.choice_count <= saneCount, setting.choice_count == 0 || setting.choices != nil else {
            throw Fault("its \(noun) \(name) declares choices but lists none")
        }
    }
}

private func check(fields: vg_list, of owner: String) throws(Fault) {
    try check(fields, of: "field")
    var names: Set<String> = []
    for (index, field) in elements(of: fields, as: vg_field.self).enumerated() {
        let name = try check(field.name, index, "field", &names)
        guard !EventJSON.reserved.contains(name) else {
            throw Fault("\(owner) has a field called \(name), which every event has")
        }
        guard field.kind.rawValue <= VG_ANY.rawValue else { throw Fault("its field \(name) is of no known kind") }
    }
}

private func check(actions: vg_list) throws(Fault) {
    try check(actions, of: "action")
    var names: Set<String> = []
    for (index, action) in elements(of: actions, as: vg_action.self).enumerated() {
        let name = try check(action.name, index, "action", &names)
        try check(action.arguments, "argument")
        try check(fields: action.results, of: "the action \(name)")
    }
}

private func check(events: vg_list) throws(Fault) {
    try check(events, of: "event")
    var names: Set<String> = []
    let own = Set(HostEvent.all.map(\.name))
    for (index, event) in elements(of: events, as: vg_event_type.self).enumerated() {
        let name = try check(event.name, index, "event", &names, dots: true)
        guard !own.contains(name), name != "series" else {
            throw Fault("its event \(name) has a name of the host's own")
        }
        try check(fields: event.fields, of: "the event \(name)")
        if let fault = roleFault(of: event) ?? kindFault(of: event) ?? sentenceFault(of: event) { throw Fault(fault) }
    }
}

/// What is wrong with what an event says to people; nil: nothing.
func sentenceFault(of event: vg_event_type) -> String? {
    guard let type = EventType(event), let text = type.sentence else { return nil }
    do throws(Sentence.Fault) {
        let unknown = try Sentence(text).names.subtracting(type.fields.map(\.name)).sorted()
        return unknown.isEmpty ? nil : "the sentence of its event \(type.name) has an unknown field \(unknown[0])"
    } catch {
        return "the sentence of its event \(type.name) \(error.reason)"
    }
}

/// What an event's kind promises and its fields do not have; nil: nothing.
func kindFault(of event: vg_event_type) -> String? {
    let name = event.name.map { String(cString: $0) } ?? ""
    guard event.flags & EventKind.flags != 0 else { return nil }
    guard let kind = EventKind(flags: event.flags) else {
        return "its event \(name) is of several kinds at once: a failure, a loss, a word or a sentence"
    }
    let needed: [(String, vg_value_kind)] =
        switch kind {
        case .failure: [("reason", VG_STRING)]
        case .loss: []
        case .word, .sentence: [("offset", VG_INTEGER), ("length", VG_INTEGER)]
        }
    guard let lacking = needed.first(where: { !declares($0.0, $0.1, event) }) else { return nil }
    return "its event \(name) tells a \(kind), but has no field \(lacking.0)"
}

private func declares(_ key: String, _ kind: vg_value_kind, _ event: vg_event_type) -> Bool {
    elements(of: event.fields, as: vg_field.self).contains {
        $0.kind == kind && $0.name.map { String(cString: $0) } == key
    }
}

/// What an event's role promises and its fields do not have; nil: nothing. Whoever keeps things relies on it.
func roleFault(of event: vg_event_type) -> String? {
    let name = event.name.map { String(cString: $0) } ?? ""
    let subjects = event.flags & UInt32(VG_EVENT_TEXT | VG_EVENT_TAKE)
    guard let role = EventRole(flags: event.flags) else {
        if subjects == 0, event.flags & UInt32(VG_EVENT_PARTIAL | VG_EVENT_WITHDRAWN) == 0 { return nil }
        return "its event \(name) must tell a text or a take, not \(subjects == 0 ? "neither" : "both")"
    }
    var needed = [("item", VG_INTEGER)]
    if case .take = role {
        needed = [("path", VG_STRING)]
    } else if role.stage != .withdrawn {
        needed.append(("text", VG_STRING))
    }
    for (key, kind) in needed {
        guard declares(key, kind, event) else {
            return "its event \(name) tells a text or a take, but has no field \(key) that says which"
        }
    }
    return nil
}

private func check(series: vg_list) throws(Fault) {
    try check(series, of: "series")
    var names: Set<String> = []
    for (index, one) in elements(of: series, as: vg_series.self).enumerated() {
        let name = try check(one.name, index, "series", &names)
        guard !EventJSON.reserved.contains(name) else {
            throw Fault("its series \(name) has a name that every event has")
        }
        guard one.rate >= 0, one.rate.isFinite, one.width <= saneCount else {
            throw Fault("its series \(name) has a rate or a width that cannot be")
        }
    }
}

/// What a file may use as the name of a port, parameter or setting.
private func isSymbol(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 128
        && name.utf8.allSatisfy {
            (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == 45 || $0 == 95
        }
}
