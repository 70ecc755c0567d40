// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import NodeKit

/// A preset to be written.
public struct NewPreset: Sendable {
    /// URI or unique name, as in graph files.
    public var plugin: String
    /// What it is called.
    public var label: String
    /// As in graph files: port symbol or label, and number, boolean or label of a scale point.
    public var params: [String: SettingValue]
    /// A preset to begin with: label or URI.
    public var preset: String?
    /// A saved state to begin with: file or folder.
    public var state: String?

    /// Describes a preset.
    public init(
        plugin: String, label: String, params: [String: SettingValue] = [:], preset: String? = nil, state: String? = nil
    ) {
        self.plugin = plugin
        self.label = label
        self.params = params
        self.preset = preset
        self.state = state
    }

    /// The bundle's name where none is given: "warmth-late-night.preset.lv2".
    func bundleName(_ uri: String) -> String {
        func plain(_ text: String) -> String {
            let words = text.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
            return words.joined(separator: "-")
        }
        let parts = [plain(shortNames(of: uri)[0]), plain(label)].filter { !$0.isEmpty }
        return parts.joined(separator: "-") + ".preset.lv2"
    }
}

extension World {
    /// Writes a preset as a bundle of its own, which every LV2 host finds in the user's `~/.lv2`, and returns the
    /// bundle's path. `bundle` is the new folder; nil: one in `~/.lv2`, named after plugin and label. [control]
    public func save(_ preset: NewPreset, to bundle: String? = nil) throws(NodeError) -> String {
        let info = try PluginInfo(self, uri: try resolve(preset.plugin))
        try Features.check(info)
        try info.checkBinary()
        let ports = try PortLayout(info)
        if let fault = PluginScan.shared.fault(of: info) { throw fault }

        var states: [PluginState] = []
        if info.wantsDefaultState, let state = PluginState.defaultState(of: info.uri, self) { states.append(state) }
        if let name = preset.preset { states.append(try .preset(name, of: info, self)) }
        if let path = preset.state { states.append(try .file(path, of: info, self)) }
        var values = ports.layout.parameters.map(\.defaultValue)
        for state in states {
            for (index, value) in state.parameterValues(info, ports) { values[index] = value }
        }
        let given = try givenValues(preset.params, info, ports)
        for (index, value) in given.parameters { values[index] = value }
        guard given.patches.isEmpty else {
            throw NodeError(
                "a preset takes ports only; \(info.name) gets files and the like by message",
                hint: "save the state of a run that has them, and begin with that state")
        }

        let folder: String
        if let bundle { folder = bundle } else { folder = try homeBundle(preset.bundleName(info.uri)) }
        guard access(folder, F_OK) != 0 else {
            throw NodeError("\(folder) is there already", hint: "choose another label or folder")
        }
        let instance = try PluginInstance(
            info, ports, values, states: states, patches: [],
            Preparation(rate: 48_000, maxBlock: 1024, offline: true),
            log: PluginLog(URIDs(URIDMap.shared)), world: self)
        try instance.save(to: folder, label: preset.label)
        add(bundle: folder)
        return folder
    }

    private func homeBundle(_ name: String) throws(NodeError) -> String {
        guard let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") else {
            throw NodeError("there is no home folder to save presets in", hint: "name a folder")
        }
        mkdir(home + "/.lv2", 0o755)
        return home + "/.lv2/" + name
    }
}
