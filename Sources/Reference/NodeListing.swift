// SPDX-License-Identifier: Apache-2.0
import API
import Glibc
import GraphFile
import Host
import JSON
import NodeKit
import System

/// What `voicegraph nodes` and `voicegraph describe` print.
package enum NodeListing {
    /// All types by where they came from, for people. [any]
    public static func table(_ catalog: NodeCatalog, failures: [PluginFailure], width: Int = 80) -> String {
        let names = catalog.names.filter { catalog.types[$0] != nil }
        let column = max(12, (catalog.names.map(\.count).max() ?? 0) + 2)
        var text = ""
        func section(_ title: String, _ rows: [(String, String)]) {
            if rows.isEmpty { return }
            text += (text.isEmpty ? "" : "\n") + title + "\n"
            for (name, about) in rows {
                let lines = wrap(about, width - column - 2)
                text +=
                    "  " + pad(name, column) + lines.joined(separator: "\n" + String(repeating: " ", count: column + 2))
                text += "\n"
            }
        }
        func row(_ name: String) -> (String, String) {
            (name, catalog.descriptor(name)?.summary ?? "its description cannot be read")
        }
        section("Built in", names.filter { catalog.types[$0]?.origin == "built in" }.map(row))
        var folders: [String] = []
        for name in names {
            let folder = folder(of: catalog.types[name]?.origin ?? "")
            if !folder.isEmpty, !folders.contains(folder) { folders.append(folder) }
        }
        for folder in folders {
            section(
                "Plugins in \(fromHome(folder))",
                names.filter { self.folder(of: catalog.types[$0]?.origin ?? "") == folder }.map(row))
        }
        section(
            "Unavailable",
            catalog.unavailable.sorted { $0.key < $1.key }.map { name, why in
                (name, why.reason + (why.package.isEmpty ? "" : "; apt install \(why.package)"))
            })
        let others = failures.filter { catalog.unavailable[$0.type] == nil }
        section(
            "Problems",
            others.map { failure in
                (
                    String(failure.path.split(separator: "/").last ?? ""),
                    failure.reason + (failure.hint.isEmpty ? "" : "; \(failure.hint)")
                )
            })
        return text
    }

    /// All types for programs: one JSON object a line, with all that those declare which can be had. [any]
    public static func json(_ catalog: NodeCatalog) -> String {
        catalog.names.map { name in
            var values: [String: SettingValue] = ["type": .string(name)]
            if let entry = catalog.types[name] {
                values["summary"] = .string("")
                values.merge(catalog.descriptor(name)?.values ?? [:]) { $1 }
                values.merge(["available": .bool(true), "origin": .string(entry.origin)]) { $1 }
            } else if let why = catalog.unavailable[name] {
                values["available"] = .bool(false)
                (values["reason"], values["package"]) = (.string(why.reason), .string(why.package))
            }
            return JSON(.table(values)).text + "\n"
        }.joined()
    }

    /// Everything about one type, for people. [any]
    public static func description(_ type: NodeDescriptor, origin: String, width: Int = 80) -> String {
        var text = "\(type.name): \(type.summary)\n\(origin == "built in" ? "built in" : "from \(fromHome(origin))")\n"
        let roles = Role.of(actions: type.actions, events: type.events).map(\.rawValue)
        if !roles.isEmpty { text += "role: \(roles.joined(separator: ", "))\n" }
        if !type.otherNames.isEmpty { text += "elsewhere called: \(type.otherNames.joined(separator: ", "))\n" }
        if !type.doc.isEmpty { text += "\n" + wrap(type.doc, width).joined(separator: "\n") + "\n" }
        func section(_ title: String, _ rows: [[String]]) {
            if rows.isEmpty { return }
            text += "\n\(title)\n"
            let first = (rows.map { $0[0].count }.max() ?? 0) + 2
            let second = min((rows.map { $0[1].count }.max() ?? 0) + 2, 34)
            for row in rows {
                let left = "  " + pad(row[0], first) + pad(row[1], second)
                // A long range pushes its explanation to a line of its own.
                let indent = String(repeating: " ", count: first + second + 2)
                let lines = wrap(row[2], max(24, width - indent.count))
                if row[2].isEmpty {
                    text += trimmedRight(left) + "\n"
                } else if left.count > indent.count {
                    text += trimmedRight(left) + "\n" + lines.map { indent + $0 + "\n" }.joined()
                } else {
                    text += left + lines.joined(separator: "\n" + indent) + "\n"
                }
            }
        }
        section("Ports", type.layout.ports.map { [$0.symbol, kind($0), $0.doc] })
        section("Parameters", type.layout.parameters.map { [$0.key, range($0), $0.doc] })
        section("Settings", type.settings.map { [$0.key, range($0), $0.doc] })
        section(
            "Actions",
            type.actions.flatMap { action in
                [[action.name, facts(of: action, but: ["name", "doc", "arguments", "results"]), action.doc]]
                    + action.arguments.map { ["  \($0.key)=", range($0), $0.doc] }
                    + action.results.map { ["  -> \($0.name)", content($0), $0.doc] }
            })
        section(
            "Events",
            type.events.flatMap { event in
                [[event.name, nature(event), event.doc]] + event.fields.map { ["  \($0.name)", content($0), $0.doc] }
            })
        section("Series", type.series.map { [$0.name, measure($0), $0.doc] })
        section(
            "Models",
            type.needs.map {
                let use =
                    ($0.isBetter ? "used where they are installed" : "needed")
                    + ($0.isAlone ? "; the node gets a process of its own" : "")
                let setting = $0.setting.isEmpty ? "" : "\($0.setting) = \"\($0.value)\""
                return [$0.models.joined(separator: " "), setting, use]
            })
        return text
    }

    /// Everything about one type, for programs: one JSON object. [any]
    public static func json(_ type: NodeDescriptor, origin: String) -> String {
        JSON(.table(type.values.merging(["origin": .string(origin)]) { $1 })).text + "\n"
    }

    /// How wide and how often a series is measured.
    private static func measure(_ series: Series) -> String {
        let width = series.width == 0 ? "one a channel" : "\(series.width) wide"
        let rate = series.rate == 0 ? "" : ", \(number(series.rate)) a second"
        let unit = series.unit.isEmpty ? "" : ", " + series.unit
        return joined(width + rate + unit, facts(of: series, but: ["name", "doc", "unit", "rate", "width"]))
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    private static func fromHome(_ path: String) -> String {
        guard let home = getenv("HOME").map({ String(cString: $0) }), home.count > 1, path.hasPrefix(home + "/") else {
            return path
        }
        return "~" + path.dropFirst(home.count)
    }
}
