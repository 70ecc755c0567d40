// SPDX-License-Identifier: Apache-2.0
import CLilv
import NodeKit

/// All that can be said of an installed plugin without running it.
public struct PluginDescription: Sendable {
    /// A feature that a plugin asks for.
    public struct Feature: Sendable {
        /// The feature's URI.
        public var uri: String
        /// Whether the host offers it.
        public var isSupported: Bool
    }

    /// A value with a name.
    public struct ScalePoint: Sendable {
        /// What it is called.
        public var label: String
        /// The value.
        public var value: Float
    }

    /// What a port is in a graph.
    public enum Role: String, Sendable {
        /// Set in `params`, and while the graph runs.
        case parameter
        /// Something to link to or from.
        case port
        /// Served by the host, not visible in a graph.
        case inside
        /// Left unconnected, as the plugin allows.
        case unconnected
    }

    /// One of the plugin's ports.
    public struct Port: Sendable {
        /// Its place among the ports.
        public var index: Int
        /// The symbol that the plugin gives it.
        public var symbol: String
        /// Its name in graph files: the symbol, with the index behind it where symbols occur twice.
        public var key: String
        /// What it is called.
        public var label: String
        /// "audio", "control", "cv", "atom" or another class's URI.
        public var kind: String
        /// Or an output.
        public var isInput: Bool
        /// What it is in a graph.
        public var role: Role
        /// What its data gives; where `properties` has "sampleRate", in Hz at a rate of 48 kHz.
        public var minimum, maximum, defaultValue: Float?
        /// As written behind a number; may be empty.
        public var unit: String
        /// By value.
        public var scalePoints: [ScalePoint]
        /// "toggled", "integer", "enumeration", "logarithmic", "sampleRate", "trigger", "optional", ...
        public var properties: [String]
        /// What it is for, as the last part of a URI, for example "latency"; may be empty.
        public var designation: String
        /// The side bus of an audio port; may be empty.
        public var bus: String
        /// What an atom port carries: "midi", "time", "patch".
        public var carries: [String]
    }

    /// A value that the plugin takes or tells by message; those it takes are set in `params` too.
    public struct Property: Sendable {
        /// The property's URI; its last part names it in graph files.
        public var uri: String
        /// What it is called.
        public var label: String
        /// "path", "string", "float", ...
        public var kind: String
        /// Whether it can be set.
        public var isWritable: Bool
    }

    /// What names it for certain.
    public var uri: String
    /// What its author calls it.
    public var name: String
    /// "Reverb", "Instrument"; empty: just a plugin.
    public var category = ""
    /// The folder that describes it.
    public var bundle: String
    /// The shared object with its code.
    public var binary: String
    /// Who made it; may be empty.
    public var author = ""
    /// The licence's URI; may be empty.
    public var license = ""
    /// What it cannot do without.
    public var requiredFeatures: [Feature]
    /// What it makes use of.
    public var optionalFeatures: [Feature]
    /// The interfaces that its code says it has, as URIs.
    public var extensions: [String]
    /// By index.
    public var ports: [Port]
    /// Files and other values that it takes by message.
    public var properties: [Property]
    /// By label.
    public var presets: [PluginPreset]
    /// The key of the port that tells the latency; nil: it says of none.
    public var latencyPort: String?
    /// Why it cannot run here; nil: nothing is known against it.
    public var problem: String?
    /// What is wrong with its data, as far as it could be read.
    public var messages: [String] = []
}

extension World {
    /// Describes a plugin by URI or unique name, in any capitals, as graph files name it. [control]
    public func describe(_ wanted: String) throws(NodeError) -> PluginDescription {
        let uri = try resolve(wanted)
        let info = try PluginInfo(self, uri: uri)
        return locked { lilv in PluginDescription(info, lilv, lilv.plugin(uri)!) }
    }
}

extension PluginDescription {
    fileprivate init(_ info: PluginInfo, _ lilv: Lilv, _ plugin: OpaquePointer) {
        uri = info.uri
        name = info.name
        bundle = info.bundle
        binary = info.binary
        messages = info.messages
        author = lilv.take(lilv_plugin_get_author_name(plugin)) ?? ""
        license = lilv.object(of: lilv_plugin_get_uri(plugin), VG_DOAP__license) ?? ""
        let core = VG_CORE__prefix.string
        let types = lilv.take(list: lilv_plugin_get_value(plugin, lilv.constant(VG_RDF__type)))
        for type in types.sorted() where type.hasPrefix(core) && type.hasSuffix("Plugin") && category.isEmpty {
            category = String(type.dropFirst(core.count).dropLast("Plugin".count))
        }
        let feature = { Feature(uri: $0, isSupported: Features.supported.contains($0)) }
        requiredFeatures = info.requiredFeatures.map(feature)
        optionalFeatures = lilv.take(list: lilv_plugin_get_optional_features(plugin)).sorted().map(feature)
        extensions = lilv.take(list: lilv_plugin_get_extension_data(plugin)).sorted()
        presets = lilv.presets(of: info.uri).map { PluginPreset(uri: $0.uri, label: $0.label) }
        properties = info.properties.map {
            Property(uri: $0.uri, label: $0.label, kind: "\($0.kind)", isWritable: $0.isWritable)
        }
        ports = []
        do throws(NodeError) {
            let layout = try PortLayout(info)
            ports = info.ports.map { Port($0, layout.place(of: $0), lilv, plugin) }
            try Features.check(info)
            try info.checkBinary()
        } catch {
            problem = error.message
            if ports.isEmpty { ports = info.ports.map { Port($0, ($0.symbol, .unconnected), lilv, plugin) } }
        }
        latencyPort = info.latencyPort.map { ports[$0].key }
    }
}

extension PortLayout {
    /// A port's name in graph files, and what it is there.
    fileprivate func place(of port: PluginPort) -> (String, PluginDescription.Role) {
        if let index = parameters.firstIndex(of: port.index) { return (layout.parameters[index].key, .parameter) }
        let direction = port.isInput ? VG_INPUT : VG_OUTPUT
        func symbol(_ kind: vg_port_kind, _ index: Int) -> (String, PluginDescription.Role) {
            (layout.ports.filter { $0.kind == kind && $0.direction == direction }[index].symbol, .port)
        }
        let audio = port.isInput ? audioInputs : audioOutputs
        if let index = audio.firstIndex(of: port.index) { return symbol(VG_AUDIO_PORT, index) }
        if let index = controlOutputs.firstIndex(of: port.index) { return symbol(VG_CONTROL_PORT, index) }
        if let atom = atoms.first(where: { $0.port == port.index }) {
            return atom.midi.map { symbol(VG_MIDI_PORT, $0) } ?? (port.symbol, .inside)
        }
        return (port.symbol, .unconnected)
    }
}

extension PluginDescription.Port {
    fileprivate init(
        _ port: PluginPort, _ place: (key: String, role: PluginDescription.Role), _ lilv: Lilv, _ plugin: OpaquePointer
    ) {
        index = port.index
        symbol = port.symbol
        key = place.key
        role = place.role
        label = port.name
        isInput = port.isInput
        switch port.kind {
        case .control: kind = "control"
        case .audio: kind = "audio"
        case .cv: kind = "cv"
        case .atom: kind = "atom"
        case .events: kind = "event"
        case .other(let type): kind = type.isEmpty ? "unknown" : type
        }
        (minimum, maximum, defaultValue) = port.values
        unit = port.unit
        scalePoints = port.scalePoints.map { PluginDescription.ScalePoint(label: $0.label, value: $0.value) }
        properties = [
            port.isToggled ? "toggled" : nil, port.isInteger ? "integer" : nil,
            port.isEnumeration ? "enumeration" : nil, port.isLogarithmic ? "logarithmic" : nil,
            port.followsRate ? "sampleRate" : nil, port.isTrigger ? "trigger" : nil,
            port.isOptional ? "optional" : nil, port.isAbrupt ? "abrupt" : nil,
            port.hasStrictBounds ? "strictBounds" : nil,
        ].compactMap { $0 }
        bus = port.bus ?? ""
        carries = [
            port.supportsMIDI ? "midi" : nil, port.supportsTime ? "time" : nil, port.supportsPatch ? "patch" : nil,
        ].compactMap { $0 }
        let node = lilv_plugin_get_port_by_index(plugin, UInt32(port.index)).flatMap {
            lilv_port_get(plugin, $0, lilv.constant(VG_CORE__designation))
        }
        designation = lilv.take(node).flatMap { $0.split(separator: "#").last.map(String.init) } ?? ""
    }
}
