// SPDX-License-Identifier: Apache-2.0
import Host
import JSON
import LV2
import NodeKit

/// LV2 plugins as text and as JSON.
enum LV2Text {
    /// Short name, name, class and URI, one plugin a line.
    static func table(_ plugins: [ListedPlugin], of all: [ListedPlugin]) -> String {
        var count: [String: Int] = [:]
        for plugin in all { count[plugin.shortName.lowercased(), default: 0] += 1 }
        let rows = plugins.map { plugin in
            let isShared = count[plugin.shortName.lowercased(), default: 0] > 1
            return [plugin.shortName + (isShared ? "*" : ""), plugin.name, plugin.category, plugin.uri]
        }
        let limits = [28, 34, 14]
        let widths = (0..<3).map { column in min(limits[column], rows.map { $0[column].count }.max() ?? 0) + 2 }
        var text = ""
        for row in rows {
            text += zip(row, widths).map { pad($0, $1) }.joined() + row[3] + "\n"
        }
        if rows.contains(where: { $0[0].hasSuffix("*") }) {
            text += "\n* Several plugins have this short name: use the name or the URI.\n"
        }
        return text
    }

    /// Everything that is known of a plugin.
    static func text(_ plugin: PluginDescription) -> String {
        var text = plugin.name + (plugin.category.isEmpty ? "" : " (\(plugin.category))") + "\n"
        func add(_ key: String, _ value: String) { if !value.isEmpty { text += "  \(pad(key, 10))\(value)\n" } }
        add("uri", plugin.uri)
        add("author", plugin.author)
        add("license", plugin.license)
        add("bundle", plugin.bundle)
        add("binary", plugin.binary)
        add("runs here", plugin.problem.map { "no: \($0)" } ?? "yes")
        for line in plugin.messages { add("data", line) }
        add("latency", plugin.latencyPort.map { "told by \($0)" } ?? "")
        for (title, features) in [("required", plugin.requiredFeatures), ("optional", plugin.optionalFeatures)] {
            let shown = features.map { prefixed($0.uri) + ($0.isSupported ? "" : " (not supported)") }
            add(title, shown.joined(separator: ", "))
        }
        add("has", plugin.extensions.map(prefixed).joined(separator: ", "))
        let sections: [(String, (PluginDescription.Port) -> Bool)] = [
            ("Parameters", { $0.role == .parameter }),
            ("Ports", { $0.role == .port }),
            ("Ports inside the host", { $0.role == .inside }),
            ("Unconnected ports", { $0.role == .unconnected }),
        ]
        for (title, belongs) in sections {
            let ports = plugin.ports.filter(belongs)
            guard !ports.isEmpty else { continue }
            text += "\n\(title)\n"
            let width = min(24, ports.map(\.key.count).max() ?? 0) + 2
            for port in ports { text += lines(port, width) }
        }
        if !plugin.properties.isEmpty {
            text += "\nProperties, in params like parameters\n"
            for property in plugin.properties {
                let name = property.uri.split(whereSeparator: { "/#:".contains($0) }).last ?? ""
                let label = property.label + (property.isWritable ? "" : " (only told)")
                text += "  \(pad(String(name), 18))\(pad(property.kind, 8))\(label)\n"
            }
        }
        if !plugin.presets.isEmpty {
            text += "\nPresets\n"
            for preset in plugin.presets { text += "  \(preset.label)\n" }
        }
        return text
    }

    private static func lines(_ port: PluginDescription.Port, _ width: Int) -> String {
        var facts: [String] = []
        if port.role == .parameter {
            facts.append(range(port))
        } else {
            facts.append("\(port.kind) \(port.isInput ? "in" : "out")")
            if !port.carries.isEmpty { facts.append("carries \(port.carries.joined(separator: ", "))") }
            if !port.bus.isEmpty { facts.append("bus \(port.bus)") }
        }
        facts += port.properties
        if !port.designation.isEmpty { facts.append("is \(port.designation)") }
        var text = "  \(pad(port.key, width))\(facts.joined(separator: ", "))"
        if port.label != port.key { text += "  \(port.label)" }
        text += "\n"
        for point in port.scalePoints {
            text += "  \(pad("", width))  \(pad(number(point.value), 8))\(point.label)\n"
        }
        return text
    }

    private static func range(_ port: PluginDescription.Port) -> String {
        let unit = port.unit.isEmpty ? "" : " " + port.unit
        var parts: [String] = []
        switch (port.minimum, port.maximum) {
        case (let low?, let high?): parts.append("\(number(low)) to \(number(high))\(unit)")
        case (let low?, nil): parts.append("from \(number(low))\(unit)")
        case (nil, let high?): parts.append("up to \(number(high))\(unit)")
        case (nil, nil): parts.append(unit.isEmpty ? "any number" : "any number of\(unit)")
        }
        if let value = port.defaultValue { parts.append("default \(number(value))") }
        if port.properties.contains("sampleRate") { parts.append("at a rate of 48 kHz") }
        return parts.joined(separator: ", ")
    }

    /// "urid:map" for the URI of a vocabulary's term.
    static func prefixed(_ uri: String) -> String {
        let tail = uri.split(separator: "/").last.map(String.init) ?? uri
        let parts = tail.split(separator: "#", maxSplits: 1)
        guard parts.count == 2 else { return uri }
        return "\(parts[0] == "lv2core" ? "lv2" : parts[0]):\(parts[1])"
    }

    /// At least one space behind it.
    static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(text.isEmpty && width == 0 ? 0 : 1, width - text.count))
    }

    /// A number without a needless fraction.
    static func number(_ value: Float) -> String {
        value == value.rounded() && abs(value) < 1e9 ? "\(Int(value))" : "\(value)"
    }
}

// MARK: - JSON

extension LV2Text {
    static func json(_ plugin: ListedPlugin) -> String {
        JSONText.object([
            ("uri", JSONText.string(plugin.uri)), ("name", JSONText.string(plugin.name)),
            ("short_name", JSONText.string(plugin.shortName)), ("class", JSONText.string(plugin.category)),
            ("bundle", JSONText.string(plugin.bundle)),
        ])
    }

    static func json(preset: PluginPreset) -> String {
        JSONText.object([("label", JSONText.string(preset.label)), ("uri", JSONText.string(preset.uri))])
    }

    static func json(_ plugin: PluginDescription) -> String {
        func features(_ features: [PluginDescription.Feature]) -> String {
            list(
                features.map {
                    JSONText.object([("uri", JSONText.string($0.uri)), ("supported", "\($0.isSupported)")])
                })
        }
        return JSONText.object([
            ("uri", JSONText.string(plugin.uri)), ("name", JSONText.string(plugin.name)),
            ("class", JSONText.string(plugin.category)), ("author", JSONText.string(plugin.author)),
            ("license", JSONText.string(plugin.license)), ("bundle", JSONText.string(plugin.bundle)),
            ("binary", JSONText.string(plugin.binary)), ("runs", "\(plugin.problem == nil)"),
            ("problem", plugin.problem.map(JSONText.string) ?? "null"),
            ("messages", list(plugin.messages.map(JSONText.string))),
            ("latency_port", plugin.latencyPort.map(JSONText.string) ?? "null"),
            ("required_features", features(plugin.requiredFeatures)),
            ("optional_features", features(plugin.optionalFeatures)),
            ("extension_data", list(plugin.extensions.map(JSONText.string))),
            ("ports", list(plugin.ports.map(json))),
            (
                "properties",
                list(
                    plugin.properties.map {
                        JSONText.object([
                            ("uri", JSONText.string($0.uri)), ("label", JSONText.string($0.label)),
                            ("kind", JSONText.string($0.kind)), ("writable", "\($0.isWritable)"),
                        ])
                    })
            ),
            ("presets", list(plugin.presets.map { json(preset: $0) })),
        ])
    }

    private static func json(_ port: PluginDescription.Port) -> String {
        func value(_ number: Float?) -> String { number.map(self.number) ?? "null" }
        let points = port.scalePoints.map {
            JSONText.object([("label", JSONText.string($0.label)), ("value", number($0.value))])
        }
        return JSONText.object([
            ("index", "\(port.index)"), ("symbol", JSONText.string(port.symbol)), ("key", JSONText.string(port.key)),
            ("label", JSONText.string(port.label)), ("kind", JSONText.string(port.kind)),
            ("direction", port.isInput ? "\"in\"" : "\"out\""), ("role", JSONText.string(port.role.rawValue)),
            ("minimum", value(port.minimum)), ("maximum", value(port.maximum)), ("default", value(port.defaultValue)),
            ("unit", JSONText.string(port.unit)), ("scale_points", list(points)),
            ("properties", list(port.properties.map(JSONText.string))),
            ("designation", JSONText.string(port.designation)), ("bus", JSONText.string(port.bus)),
            ("carries", list(port.carries.map(JSONText.string))),
        ])
    }

    private static func list(_ values: [String]) -> String { "[" + values.joined(separator: ",") + "]" }
}
