// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// Checks a node's entries against its type's settings and its instance's parameters. One per type, reused.
package struct SettingsCheck {
    private let settings: [Setting]
    private let index: [String: Int]
    /// The keys whose values were refused, of the node checked last.
    package private(set) var faulty: Set<String> = []

    /// Knows what a type declares.
    package init(_ type: vg_node_type) { self.init([Setting](type.settings)) }

    init(_ settings: [Setting]) {
        self.settings = settings
        index = Dictionary(settings.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Checks what the type declares; true when something is wrong. Keys that are no setting wait for
    /// `checkParameters`.
    package mutating func check(_ node: NodeDescription, baseFolder: String, _ report: inout Report) -> Bool {
        faulty = []
        for key in node.allKeys {
            guard let entry = node.entries[key], let setting = index[key].map({ settings[$0] }) else { continue }
            if let fault = fault(of: entry, setting, baseFolder, &report.suggester) {
                faulty.insert(key)
                report.error(fault)
            }
        }
        var missing = false
        for setting in settings where setting.required && node.entries[setting.key] == nil {
            missing = true
            report.error(
                "node '\(node.name)' of type '\(node.type)' needs '\(setting.key)'", at: node.location,
                hint: setting.doc.isEmpty ? "" : "\(setting.key): \(setting.doc)")
        }
        return missing || !faulty.isEmpty
    }

    /// Checks the entries that are parameters and returns their values by place in the layout; what is neither setting
    /// nor parameter is an error.
    package func parameterValues(
        _ node: NodeDescription, of parameters: [Parameter], _ report: inout Report
    ) -> [Int: Float] {
        var values: [Int: Float] = [:]
        for key in node.allKeys {
            guard index[key] == nil, let entry = node.entries[key] else { continue }
            guard let position = parameters.firstIndex(where: { $0.key == key }) else {
                let known = settings.map(\.key) + parameters.map(\.key)
                let fault = report.tables.unknown(
                    key, in: "[node.\(node.name)]", known: known + NodeDescription.commonKeys,
                    otherwise: key == "name" ? "a node's name stands in its header, as in [node.NAME]" : listing(known),
                    &report.suggester)
                report.error(
                    fault.message.hasPrefix("unknown")
                        ? "node type '\(node.type)' has no setting or parameter '\(key)'" : fault.message,
                    at: entry.keyLocation, hint: fault.hint)
                continue
            }
            switch Self.value(of: entry, parameters[position]) {
            case .success(let value): values[position] = value
            case .failure(let fault): report.error(fault)
            }
        }
        return values
    }

    /// Reads a parameter's value from the file, or says why it cannot be one.
    package static func value(of entry: Entry, _ parameter: Parameter) -> Result<Float, Diagnostic> {
        func fault(_ message: String, _ hint: String = "") -> Result<Float, Diagnostic> {
            .failure(Diagnostic(.error, message, at: entry.valueLocation, hint: hint))
        }
        let range = parameter.range
        let unit = parameter.unit.isEmpty ? "" : " " + parameter.unit
        let bounds = "it goes from \(text(Double(range.lowerBound))) to \(text(Double(range.upperBound)))\(unit)"
        let number: Double
        let isToggle = parameter.flags & UInt32(VG_PARAM_TOGGLE) != 0
        switch entry.value {
        case .integer(let integer): number = Double(integer)
        case .number(let given): number = given
        case .bool(let bool) where isToggle: number = bool ? 1 : 0
        case .string(let text) where parameter.number(named: text) != nil: number = parameter.number(named: text) ?? 0
        default:
            let hints = [unquote(entry, isToggle ? .any : .number, unit: parameter.unit), parameter.pointsHint, bounds]
            return fault(
                "parameter '\(parameter.key)' must be a number, \(entry.mismatch)", hints.first { !$0.isEmpty } ?? "")
        }
        guard number.isFinite else { return fault("parameter '\(parameter.key)' must be a finite number") }
        // Compared as Float: 0.1 in the file is inside a range that ends at 0.1 in C.
        guard range.contains(Float(number)) else {
            return fault("parameter '\(parameter.key)' is \(text(number)), outside its range", bounds)
        }
        if parameter.isWhole(except: Float(number)), Int64(exactly: number) == nil {
            return fault("parameter '\(parameter.key)' must be a whole number, not \(text(number))")
        }
        return .success(Float(number))
    }

    func fault(
        of entry: Entry, _ setting: Setting, _ baseFolder: String, _ suggester: inout Suggester
    ) -> Diagnostic? {
        func fault(_ what: String, _ hint: String = "", at location: SourceLocation? = nil) -> Diagnostic {
            Diagnostic(.error, "'\(setting.key)' \(what)", at: location ?? entry.valueLocation, hint: hint)
        }
        let (kind, unit) = (entry.mismatch, setting.unit ?? "")
        switch (setting.kind, entry.value) {
        case (VG_SET_BOOL, .bool): return nil
        case (VG_SET_BOOL, _): return fault("must be true or false, \(kind)", unquote(entry, .boolean))
        case (VG_SET_INTEGER, .integer(let integer)):
            return rangeFault(Double(integer), setting, fault)
        case (VG_SET_INTEGER, _):
            return fault("must be a whole number, \(kind)", unquote(entry, .integer, unit: unit))
        case (VG_SET_NUMBER, .integer(let integer)):
            return rangeFault(Double(integer), setting, fault)
        case (VG_SET_NUMBER, .number(let number)):
            return number.isFinite ? rangeFault(number, setting, fault) : fault("must be a finite number")
        case (VG_SET_NUMBER, _): return fault("must be a number, \(kind)", unquote(entry, .number, unit: unit))
        case (VG_SET_STRING, .string(let string)):
            return stringFault(string, at: entry.valueLocation, setting, &suggester, fault)
        case (VG_SET_STRING, _): return fault("must be a string, \(kind)", quote(entry, choices: setting.choices))
        case (VG_SET_PATH, .string(let path)):
            return pathFault(path, baseFolder, fault)
        case (VG_SET_PATH, _): return fault("must be a path in quotes, \(kind)")
        case (VG_SET_STRINGS, .string(let string)):
            return stringFault(string, at: entry.valueLocation, setting, &suggester, fault)
        case (VG_SET_STRINGS, .list(let items)):
            for (position, item) in items.enumerated() {
                let place = entry.inner[String(position)]?.valueLocation ?? entry.valueLocation
                guard case .string(let string) = item else {
                    let hint = quote(Entry(item), choices: setting.choices)
                    return fault("must hold strings only, not \(item.kindText)", hint, at: place)
                }
                if let found = stringFault(string, at: place, setting, &suggester, fault) { return found }
            }
            return nil
        case (VG_SET_STRINGS, _):
            return fault("must be a string or a list of strings, \(kind)", quote(entry, choices: setting.choices))
        case (VG_SET_VALUE, .list), (VG_SET_VALUE, .table): return fault("must be a single value, \(kind)")
        case (VG_SET_VALUE, .number(let number)) where !number.isFinite: return fault("must be a finite number")
        case (VG_SET_VALUE, .string(let string)):
            return stringFault(string, at: entry.valueLocation, setting, &suggester, fault)
        case (VG_SET_VALUE, _): return nil
        case (VG_SET_TABLE, .table): return tableFault(entry, fault)
        case (VG_SET_TABLE, _): return fault("must be a table, \(kind)", "\(setting.key) = { name = value }")
        default: return fault("is of a kind that this version does not know")
        }
    }
}

private typealias MakeFault = (String, String, SourceLocation?) -> Diagnostic

private func rangeFault(_ number: Double, _ setting: Setting, _ fault: MakeFault) -> Diagnostic? {
    guard let range = setting.range, !range.contains(number) else { return nil }
    let unit = setting.unit.map { $0.isEmpty ? "" : " " + $0 } ?? ""
    return fault(
        "is \(text(number)), outside its range",
        "it goes from \(text(range.lowerBound)) to \(text(range.upperBound))\(unit)", nil)
}

private func stringFault(
    _ string: String, at location: SourceLocation, _ setting: Setting, _ suggester: inout Suggester, _ fault: MakeFault
) -> Diagnostic? {
    // Strings travel to nodes as C strings, which would end here.
    if string.utf8.contains(0) { return fault("holds a NUL character", "", location) }
    guard !setting.choices.isEmpty, !setting.choices.contains(string) else { return nil }
    let hint = suggester.hint(string, among: setting.choices, otherwise: listing(setting.choices))
    return fault("cannot be '\(shortened(string))'", hint, location)
}

private func pathFault(_ path: String, _ baseFolder: String, _ fault: MakeFault) -> Diagnostic? {
    if path.isEmpty { return fault("is an empty path", "", nil) }
    if path.utf8.contains(0) { return fault("holds a NUL character", "", nil) }
    let full = path.hasPrefix("/") || baseFolder.isEmpty ? path : baseFolder + "/" + path
    if access(full, R_OK) == 0 { return nil }
    if errno == EACCES { return fault("names a file that may not be read: \(shortened(path))", "", nil) }
    let hint =
        path.hasPrefix("~")
        ? "write ${HOME} for your home folder"
        : path.hasPrefix("/") ? "" : "paths start at the folder of the graph file"
    return fault("names a file that does not exist: \(shortened(path))", hint, nil)
}

private func tableFault(_ entry: Entry, _ fault: MakeFault) -> Diagnostic? {
    for (key, inner) in entry.inner.sorted(by: { $0.value.keyLocation.isBefore($1.value.keyLocation) }) {
        switch inner.value {
        case .number(let number) where !number.isFinite:
            return fault("has '\(key)', which must be a finite number", "", inner.valueLocation)
        case .string(let string) where string.utf8.contains(0):
            return fault("has '\(key)', which holds a NUL character", "", inner.valueLocation)
        case .list, .table:
            return fault(
                "has '\(key)', which must be a number, a string or true or false, not \(inner.value.kindText)", "",
                inner.valueLocation)
        default: continue
        }
    }
    return nil
}

/// Refuses what `settings` do not take: the arguments of a call or an action, or a live setting, with the words with which a
/// file is refused. `owner` is in quotes, or empty.
public func checkValues(
    _ values: [String: SettingValue], against settings: [Setting], of owner: String, noun: String
) throws(NodeError) {
    var suggester = Suggester()
    let check = SettingsCheck(settings)
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
        guard let setting = settings.first(where: { $0.key == key }) else {
            let known = settings.map(\.key)
            throw NodeError(
                "\(owner) takes no '\(shortened(key))'",
                hint: known.isEmpty
                    ? "it takes nothing" : suggester.hint(key, among: known, otherwise: "it takes \(listing(known))"),
                key: key)
        }
        if let fault = check.fault(of: Entry(value), setting, "", &suggester) {
            throw NodeError("the \(noun) \(fault.message)", hint: fault.hint, key: key)
        }
    }
    if let missing = settings.first(where: { $0.required && values[$0.key] == nil }) {
        throw NodeError("\(owner) needs '\(missing.key)'", hint: missing.doc, key: missing.key)
    }
}

extension Parameter {
    /// The number that a value means, by the rules for files. [any]
    public func value(of given: SettingValue) throws(NodeError) -> Float {
        switch SettingsCheck.value(of: Entry(given), self) {
        case .success(let value): return value
        case .failure(let diagnostic): throw diagnostic.fault
        }
    }

    /// Why it cannot have a value, in words that follow its name; nil: it can. The same rules hold for files and for live
    /// changes.
    public func fault(of value: Float) -> String? {
        switch SettingsCheck.value(of: Entry(.number(Double(value))), self) {
        case .success: return nil
        case .failure(let fault):
            guard value.isFinite else { return "must be a finite number" }
            guard range.contains(value) else {
                return "must be from \(text(Double(range.lowerBound))) to \(text(Double(range.upperBound)))"
            }
            return isWhole(except: value) ? "must be a whole number, not \(text(Double(value)))" : fault.message
        }
    }
}

extension Parameter {
    /// Whether it takes whole numbers only, and `value` is none of those that have a name: plugins enumerate fractions, too.
    fileprivate func isWhole(except value: Float) -> Bool {
        flags & UInt32(VG_PARAM_STEPPED | VG_PARAM_TOGGLE) != 0 && !points.contains { $0.value == value }
    }
}
