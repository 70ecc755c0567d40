// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// More ports than this is taken for a broken layout.
private let saneCount = 4096

/// The ports of a layout in C. Throws what is wrong with it, with the name of the port. [control]
package func readPorts(_ layout: vg_layout) throws(NodeError) -> [Port] {
    guard layout.ports.count <= saneCount else { throw NodeError("declares \(layout.ports.count) ports") }
    guard layout.ports.isSane else { throw NodeError("declares ports but gives none") }
    var result: [Port] = []
    for port in elements(of: layout.ports, as: vg_port.self) {
        guard let symbol = port.symbol else { throw NodeError("port \(result.count) has no symbol") }
        guard port.kind.rawValue <= VG_MESSAGE_PORT.rawValue, port.direction.rawValue <= VG_OUTPUT.rawValue else {
            throw NodeError("port \(String(cString: symbol)) has an unknown kind or direction")
        }
        if let port = Port(port) { result.append(port) }
    }
    return result
}

/// The parameters of a layout in C. Throws what is wrong with it, with the key of the parameter. [control]
package func readParameters(_ layout: vg_layout) throws(NodeError) -> [Parameter] {
    guard layout.parameters.count <= saneCount else {
        throw NodeError("declares \(layout.parameters.count) parameters")
    }
    guard layout.parameters.isSane else { throw NodeError("declares parameters but gives none") }
    var result: [Parameter] = []
    for parameter in elements(of: layout.parameters, as: vg_parameter.self) {
        guard let key = parameter.key else { throw NodeError("parameter \(result.count) has no key") }
        guard parameter.minimum <= parameter.maximum else {
            throw NodeError("parameter \(String(cString: key)) has an empty range")
        }
        guard parameter.points.count <= saneCount, parameter.points.isSane else {
            throw NodeError("parameter \(String(cString: key)) declares impossible points")
        }
        if let parameter = Parameter(parameter) { result.append(parameter) }
    }
    return result
}

extension vg_list {
    /// Whether it can be read: nothing, or so many structs of some size.
    public var isSane: Bool { count == 0 || (items != nil && size > 0 && size <= 4096) }
}
