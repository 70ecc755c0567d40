// SPDX-License-Identifier: Apache-2.0
import CLilv
import NodeKit

/// One port of a plugin, as its data describes it.
struct PluginPort: Sendable {
    enum Kind: Equatable, Sendable {
        case control, audio, cv, atom
        /// Events of LV2's first years.
        case events
        /// A kind the host does not know; the class named, if any.
        case other(String)
    }

    struct ScalePoint: Sendable {
        var label: String
        var value: Float
    }

    var index: Int
    var symbol: String
    var name: String
    var kind: Kind
    var isInput: Bool
    /// As the data gives them, which may be in multiples of the sample rate. Nil: it gives no number.
    var minimum: Float?
    var maximum: Float?
    var defaultValue: Float?
    var unit = ""
    var scalePoints: [ScalePoint] = []
    var isToggled = false
    var isInteger = false
    var isEnumeration = false
    var isLogarithmic = false
    /// Bounds and default are multiples of the sample rate; the port itself takes Hz.
    var followsRate = false
    /// Where its value comes from.
    var source = SpecialParameter.Source.given
    /// Switches the plugin: 0 lets the signal pass by it.
    var isEnabler = false
    /// The event port that is designated for messages of the host.
    var isControl = false
    /// Holds its value for one block only.
    var isTrigger = false
    /// The plugin relies on never getting a value outside its bounds.
    var hasStrictBounds = false
    var isOptional = false
    /// Jumps are heard or costly: never ramp.
    var isAbrupt = false
    /// The side bus of an audio port; nil: the main one.
    var bus: String?
    /// Bytes that an atom port's buffer must have at least.
    var minimumSize = 0
    /// Symbols of the ports whose buffers its own must not be smaller than.
    var asLargeAs: [String] = []
    var supportsMIDI = false
    var supportsTime = false
    var supportsPatch = false
}

extension PluginPort {
    /// Reads one port. Call it inside `World.locked`.
    init(_ lilv: Lilv, _ plugin: OpaquePointer, index: Int, groups: PortGroups) throws(NodeError) {
        guard let port = lilv_plugin_get_port_by_index(plugin, UInt32(index)) else {
            throw NodeError("the data of \(lilv.uri(of: plugin)) lacks port \(index)")
        }
        func isA(_ uri: UnsafePointer<CChar>) -> Bool { lilv_port_is_a(plugin, port, lilv.constant(uri)) }
        func has(_ uri: UnsafePointer<CChar>) -> Bool { lilv_port_has_property(plugin, port, lilv.constant(uri)) }
        func supports(_ uri: UnsafePointer<CChar>) -> Bool {
            lilv_port_supports_event(plugin, port, lilv.constant(uri))
        }

        self.index = index
        symbol = lilv.text(lilv_port_get_symbol(plugin, port))
        name = lilv.take(lilv_port_get_name(plugin, port)) ?? symbol
        isInput = isA(VG_CORE__InputPort)
        if isA(VG_CORE__ControlPort) {
            kind = .control
        } else if isA(VG_CORE__AudioPort) {
            kind = .audio
        } else if isA(VG_CORE__CVPort) {
            kind = .cv
        } else if isA(VG_ATOM__AtomPort) {
            kind = .atom
        } else if isA(VG_EVENT__EventPort) {
            kind = .events
        } else {
            kind = .other(lilv.take(lilv_port_get(plugin, port, lilv.constant(VG_RDF__type))) ?? "")
        }
        guard isInput || isA(VG_CORE__OutputPort) else {
            throw NodeError("port \(symbol) of \(lilv.uri(of: plugin)) is neither input nor output")
        }
        isOptional = has(VG_CORE__connectionOptional)

        switch kind {
        case .control:
            isToggled = has(VG_CORE__toggled)
            isInteger = has(VG_CORE__integer)
            isEnumeration = has(VG_CORE__enumeration)
            isLogarithmic = has(VG_PORT_PROPS__logarithmic)
            followsRate = has(VG_CORE__sampleRate)
            isTrigger = has(VG_PORT_PROPS__trigger)
            hasStrictBounds = has(VG_PORT_PROPS__hasStrictBounds)
            isAbrupt = has(VG_PORT_PROPS__causesArtifacts) || has(VG_PORT_PROPS__expensive)
            let designation = lilv.take(lilv_port_get(plugin, port, lilv.constant(VG_CORE__designation))) ?? ""
            isEnabler = designation == VG_CORE__enabled.string
            if isInput { source = designations[designation] ?? .given }
            unit = Self.unit(lilv, plugin, port)
            if unit.isEmpty, followsRate { unit = "Hz" }
            scalePoints = Self.scalePoints(lilv, plugin, port)
        case .audio:
            bus = groups.bus(of: port, symbol: symbol, sideChain: has(VG_CORE__isSideChain))
        case .cv:
            bus = "cv"
        case .atom:
            supportsMIDI = supports(VG_MIDI__MidiEvent)
            supportsTime = supports(VG_TIME__Position)
            supportsPatch = supports(VG_PATCH__Message)
            let designation = lilv.take(lilv_port_get(plugin, port, lilv.constant(VG_CORE__designation)))
            isControl = designation == VG_CORE__control.string
            if let size = lilv_port_get(plugin, port, lilv.constant(VG_RESIZE_PORT__minimumSize)) {
                if lilv_node_is_int(size) { minimumSize = max(0, Int(lilv_node_as_int(size))) }
                lilv_node_free(size)
            }
            asLargeAs = lilv.take(list: lilv_port_get_value(plugin, port, lilv.constant(VG_RESIZE_PORT__asLargeAs)))
            // Texts are states as a rule, which grow far beyond what the data asks for; unused room costs nothing.
            if !isInput, supports(VG_ATOM__String) { minimumSize = max(minimumSize, 1 << 20) }
        case .events:
            supportsMIDI = supports(VG_MIDI__MidiEvent)
        case .other: break
        }
    }

    private static func scalePoints(_ lilv: Lilv, _ plugin: OpaquePointer, _ port: OpaquePointer) -> [ScalePoint] {
        guard let points = lilv_port_get_scale_points(plugin, port) else { return [] }
        defer { lilv_scale_points_free(points) }
        var result: [ScalePoint] = []
        var position = lilv_scale_points_begin(points)
        while !lilv_scale_points_is_end(points, position) {
            let point = lilv_scale_points_get(points, position)
            let value = lilv_scale_point_get_value(point)
            if let number = lilv.number(value) {
                result.append(ScalePoint(label: lilv.text(lilv_scale_point_get_label(point)), value: number))
            }
            position = lilv_scale_points_next(points, position)
        }
        return result.sorted { $0.value < $1.value }
    }

    /// The unit as it is written behind a number. The names are those of the units vocabulary, whose own file is not
    /// loaded.
    private static func unit(_ lilv: Lilv, _ plugin: OpaquePointer, _ port: OpaquePointer) -> String {
        guard let node = lilv_port_get(plugin, port, lilv.constant(VG_UNITS__unit)) else { return "" }
        defer { lilv_node_free(node) }
        if let symbol = lilv.object(of: node, VG_UNITS__symbol) { return symbol }
        guard lilv_node_is_uri(node), let name = lilv.text(node).split(separator: "#").last else { return "" }
        return knownUnits[String(name)] ?? ""
    }
}

extension [PluginPort] {
    /// Gives every port at least the size of those that it is to be as large as, which may in turn depend on others,
    /// even in a circle.
    mutating func growAlike() {
        var changed = true
        while changed {
            changed = false
            for index in indices {
                let wanted = self[index].asLargeAs.compactMap { symbol in
                    first { $0.symbol == symbol && $0.kind == .atom }?.minimumSize
                }
                guard let largest = wanted.max(), largest > self[index].minimumSize else { continue }
                self[index].minimumSize = largest
                changed = true
            }
        }
    }
}

private let designations: [String: SpecialParameter.Source] = [
    VG_TIME__beatsPerMinute.string: .tempo, VG_TIME__beatsPerBar.string: .beatsPerBar, VG_TIME__speed.string: .speed,
    VG_TIME__frame.string: .frame, VG_CORE__freeWheeling.string: .freeWheeling,
]

private let knownUnits = [
    "bar": "bars", "beat": "beats", "bpm": "BPM", "cent": "ct", "cm": "cm", "coef": "", "db": "dB", "degree": "°",
    "frame": "frames", "hz": "Hz", "inch": "in", "khz": "kHz", "km": "km", "m": "m", "mhz": "MHz", "midiNote": "note",
    "mile": "mi", "min": "min", "mm": "mm", "ms": "ms", "oct": "octaves", "pc": "%", "s": "s",
    "semitone12TET": "semitones",
]

extension UnsafePointer<CChar> {
    /// The text of a C constant.
    var string: String { String(cString: self) }
}
