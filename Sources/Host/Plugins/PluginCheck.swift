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
    // What was added later, `save`, an older plugin may lack.
    let least = MemoryLayout<vg_node_type>.offset(of: \.save) ?? MemoryLayout<vg_node_type>.size
    guard Int(pointer.pointee.size) >= least else {
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
        try check(type.settings, type.setting_count)
        let ports = UnsafeBufferPointer(start: type.default_layout.ports, count: Int(type.default_layout.port_count))
        guard type.process != nil || ports.allSatisfy({ $0.kind == VG_MESSAGE_PORT }) else {
            throw Fault("it has audio, control or midi ports but no process function")
        }
    } catch {
        throw NodeTypeFault(type: text, reason: "node type \(text): \(error.reason)")
    }
    return pointer
}

/// Whether a graph file may use this as a type: lower-case letters, digits and '-', a letter first. [any]
public func isTypeName(_ name: String) -> Bool {
    guard let first = name.utf8.first, (97...122).contains(first), name.utf8.count <= 64 else { return false }
    return name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
}

private struct Fault: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}

/// More of anything than this is taken for a broken description.
private let saneCount: UInt32 = 4096

private func check(_ layout: vg_layout) throws(Fault) {
    guard layout.port_count <= saneCount else { throw Fault("it declares \(layout.port_count) ports") }
    guard layout.parameter_count <= saneCount else { throw Fault("it declares \(layout.parameter_count) parameters") }
    guard layout.port_count == 0 || layout.ports != nil else {
        throw Fault("it declares \(layout.port_count) ports but lists none")
    }
    guard layout.parameter_count == 0 || layout.parameters != nil else {
        throw Fault("it declares \(layout.parameter_count) parameters but lists none")
    }
    var symbols: Set<String> = []
    for (index, port) in UnsafeBufferPointer(start: layout.ports, count: Int(layout.port_count)).enumerated() {
        guard let symbol = port.symbol else { throw Fault("its port \(index) has no symbol") }
        let name = String(cString: symbol)
        guard isSymbol(name) else { throw Fault("its port \(index) has the impossible symbol \"\(name.prefix(64))\"") }
        guard symbols.insert(name + (port.direction == VG_INPUT ? "<" : ">")).inserted else {
            throw Fault("it has two ports called \(name)")
        }
        guard port.kind.rawValue <= VG_MESSAGE_PORT.rawValue, port.direction.rawValue <= VG_OUTPUT.rawValue else {
            throw Fault("its port \(name) has an unknown kind or direction")
        }
    }
    var keys: Set<String> = []
    let parameters = UnsafeBufferPointer(start: layout.parameters, count: Int(layout.parameter_count))
    for (index, parameter) in parameters.enumerated() {
        guard let key = parameter.key else { throw Fault("its parameter \(index) has no key") }
        let name = String(cString: key)
        guard isSymbol(name) else {
            throw Fault("its parameter \(index) has the impossible key \"\(name.prefix(64))\"")
        }
        guard keys.insert(name).inserted else { throw Fault("it has two parameters called \(name)") }
        guard parameter.minimum <= parameter.default_value, parameter.default_value <= parameter.maximum else {
            throw Fault("its parameter \(name) has a default outside its range")
        }
    }
}

private func check(_ settings: UnsafePointer<vg_setting>?, _ count: UInt32) throws(Fault) {
    guard count <= saneCount else { throw Fault("it declares \(count) settings") }
    guard count == 0 || settings != nil else { throw Fault("it declares \(count) settings but lists none") }
    var keys: Set<String> = []
    for (index, setting) in UnsafeBufferPointer(start: settings, count: Int(count)).enumerated() {
        guard let key = setting.key else { throw Fault("its setting \(index) has no key") }
        let name = String(cString: key)
        guard isSymbol(name) else { throw Fault("its setting \(index) has the impossible key \"\(name.prefix(64))\"") }
        guard keys.insert(name).inserted else { throw Fault("it has two settings called \(name)") }
        guard setting.kind.rawValue <= VG_SET_TABLE.rawValue else {
            throw Fault("its setting \(name) is of no known kind")
        }
        guard setting.minimum <= setting.maximum else { throw Fault("its setting \(name) has an empty range") }
        guard setting.choice_count <= saneCount, setting.choice_count == 0 || setting.choices != nil else {
            throw Fault("its setting \(name) declares choices but lists none")
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
