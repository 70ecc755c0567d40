// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What the `params` table of a plugin's settings sets.
struct GivenValues: Sendable {
    /// Values by place in the layout's parameters.
    var parameters: [Int: Float] = [:]
    /// What the plugin is told by message.
    var patches: [PatchMessage] = []
}

/// Reads the `params` table of a plugin's settings.
///
/// A key is a port's symbol or, where no symbol fits, its label in any capitals, or else names a property: by URI, by
/// the last part of that, or by label. A value is a number, a boolean, or the label of one of the port's scale points;
/// properties may also be texts and paths.
func givenValues(
    _ table: [String: SettingValue], _ info: PluginInfo, _ ports: PortLayout,
    resolve: (String) -> String = { $0 }
) throws(NodeError) -> GivenValues {
    var given = GivenValues()
    for (key, value) in table.sorted(by: { $0.key < $1.key }) {
        if !info.hasPort(key, ports), let property = info.properties.first(where: { $0.isCalled(key) && $0.isWritable })
        {
            given.patches.append(try PatchMessage(property, value, key: key, resolve: resolve))
            continue
        }
        let place = try place(of: key, info, ports)
        let parameter = ports.layout.parameters[place]
        let number = try number(value, key, parameter)
        guard parameter.range.contains(number) else {
            let unit = parameter.unit.isEmpty ? "" : " \(parameter.unit)"
            throw NodeError(
                "\(key) = \(number.brief)\(unit) is out of the range of \(info.name)",
                hint: "between \(parameter.range.lowerBound.brief) and \(parameter.range.upperBound.brief)\(unit)",
                key: "params.\(key)")
        }
        if given.parameters.updateValue(number, forKey: place) != nil {
            throw NodeError(
                "\(parameter.key) is given twice: by its symbol and by its label", hint: "keep \(parameter.key)",
                key: "params.\(key)")
        }
    }
    return given
}

extension PluginInfo {
    /// Whether `key` is the symbol or the label of a control input.
    fileprivate func hasPort(_ key: String, _ layout: PortLayout) -> Bool {
        let lowered = key.lowercased()
        return layout.layout.parameters.contains { $0.key == key }
            || layout.parameters.contains { ports[$0].name.lowercased() == lowered }
    }
}

private func place(of key: String, _ info: PluginInfo, _ ports: PortLayout) throws(NodeError) -> Int {
    if let place = ports.layout.parameters.firstIndex(where: { $0.key == key }) { return place }
    let lowered = key.lowercased()
    let labelled = ports.parameters.indices.filter { info.ports[ports.parameters[$0]].name.lowercased() == lowered }
    if labelled.count == 1 { return labelled[0] }
    let symbols = ports.layout.parameters.map(\.key)
    guard labelled.isEmpty else {
        throw NodeError(
            "\(info.name) has \(labelled.count) parameters labelled \"\(key)\"",
            hint: "use the symbol of one: \(labelled.map { symbols[$0] }.joined(separator: ", "))", key: "params.\(key)"
        )
    }
    let properties = info.properties.filter(\.isWritable).map(\.label)
    var hint = didYouMean(
        key, among: symbols + ports.parameters.map { info.ports[$0].name } + properties)
    if hint.isEmpty {
        let symbols = symbols + properties
        let shown = symbols.prefix(12).joined(separator: ", ")
        hint = symbols.isEmpty ? "it has none" : "it has: \(shown)\(symbols.count > 12 ? ", ..." : "")"
    }
    throw NodeError("\(info.name) has no parameter \"\(key)\"", hint: hint, key: "params.\(key)")
}

private func number(_ value: SettingValue, _ key: String, _ parameter: Parameter) throws(NodeError) -> Float {
    switch value {
    case .bool(let flag): return flag ? 1 : 0
    case .integer(let integer): return Float(integer)
    case .number(let number):
        guard number.isFinite else {
            throw NodeError("\(key) is not a finite number", hint: "give a number", key: "params.\(key)")
        }
        return Float(number)
    case .string(let text):
        if let number = parameter.number(named: text) { return Float(number) }
        let labels = parameter.points.map(\.label)
        let unit = parameter.unit.isEmpty ? "" : ", also with its unit: \"1 \(parameter.unit)\""
        throw NodeError(
            "\(key) = \"\(text)\" is neither a number nor one of the port's labels",
            hint: labels.isEmpty ? "give a number\(unit)" : "labels: \(labels.joined(separator: ", "))",
            key: "params.\(key)")
    default: throw NodeError("\(key) is a list or a table", hint: "give a number", key: "params.\(key)")
    }
}
