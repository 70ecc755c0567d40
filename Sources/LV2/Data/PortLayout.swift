// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// How a plugin's ports appear to the graph, and where the audio thread finds each of them.
///
/// Control inputs become parameters, control outputs control ports, audio and CV ports audio ports, atom ports that
/// carry MIDI midi ports. The other atom ports stay inside the host. A CV port is on the side bus `cv`.
struct PortLayout: Sendable {
    /// What the graph sees. Parameters have the plugin's own defaults.
    var layout: Layout
    /// Plugin ports behind the parameters, in order.
    var parameters: [Int] = []
    /// Plugin ports behind the control outputs, in order.
    var controlOutputs: [Int] = []
    /// Plugin ports behind the audio inputs, in order.
    var audioInputs: [Int] = []
    /// Plugin ports behind the audio outputs, in order.
    var audioOutputs: [Int] = []
    /// Every port for events, with its place among the midi ports of its direction.
    var atoms: [(port: Int, midi: Int?)] = []
    /// Ports of kinds that the host does not know; they may stay unconnected.
    var unconnected: [Int] = []

    /// Lays out a plugin's ports. Symbols that occur twice get the port's index behind them.
    init(_ info: PluginInfo) throws(NodeError) {
        layout = Layout()
        var portNames: Set<String> = []
        var parameterNames: Set<String> = []
        var midiCounts = [0, 0]
        for port in info.ports {
            let direction = port.isInput ? VG_INPUT : VG_OUTPUT
            switch port.kind {
            case .control where port.isInput:
                layout.parameters.append(port.parameter(key: unique(port, &parameterNames)))
                parameters.append(port.index)
            case .control:
                layout.ports.append(Port(VG_CONTROL_PORT, direction, unique(port, &portNames), doc: port.name))
                controlOutputs.append(port.index)
            case .audio, .cv:
                layout.ports.append(
                    Port(VG_AUDIO_PORT, direction, unique(port, &portNames), doc: port.name, bus: port.bus))
                if port.isInput { audioInputs.append(port.index) } else { audioOutputs.append(port.index) }
            case .atom, .events:
                var midi: Int?
                if port.supportsMIDI {
                    layout.ports.append(Port(VG_MIDI_PORT, direction, unique(port, &portNames), doc: port.name))
                    midi = midiCounts[port.isInput ? 0 : 1]
                    midiCounts[port.isInput ? 0 : 1] += 1
                }
                atoms.append((port.index, midi))
            case .other(let type):
                guard port.isOptional else {
                    throw NodeError(
                        "port \(port.symbol) of \(info.name) in \(info.bundle) is of a kind that the host does not know"
                            + (type.isEmpty ? "" : ": \(type)"),
                        hint: "the plugin cannot run here")
                }
                unconnected.append(port.index)
            }
        }
    }
}

private func unique(_ port: PluginPort, _ taken: inout Set<String>) -> String {
    var name = port.symbol
    while !taken.insert(name).inserted { name += "_\(port.index)" }
    return name
}

/// Rates between which a range that follows the sample rate is stretched: the rate is not known before `prepare`,
/// which then limits the values.
private let knownRates: (lowest: Float, highest: Float) = (8000, 192_000)

extension PluginPort {
    /// Bounds and default as the port itself takes them. Those of a port that follows the rate are those at 48 kHz: a
    /// graph is to begin with the same frequencies at every rate.
    var values: (minimum: Float?, maximum: Float?, defaultValue: Float?) {
        guard followsRate else { return (minimum, maximum, defaultValue) }
        let isMultiple = { (value: Float) in value >= minimum ?? -.infinity && value <= maximum ?? .infinity }
        // Some plugins give the default in Hz, which no bound in multiples of the rate admits.
        return (
            minimum.map(\.timesUsualRate), maximum.map(\.timesUsualRate),
            defaultValue.map { isMultiple($0) ? $0.timesUsualRate : $0 }
        )
    }

    /// The port as a parameter. A bound that the data does not give is no bound; a default outside the bounds widens
    /// them, since the plugin's author means it to work, unless the plugin relies on the bounds.
    func parameter(key: String) -> Parameter {
        var low = minimum ?? (isToggled ? 0 : -Float.greatestFiniteMagnitude)
        var high = maximum ?? (isToggled ? 1 : Float.greatestFiniteMagnitude)
        if followsRate {
            low *= low < 0 ? knownRates.highest : knownRates.lowest
            high *= high < 0 ? knownRates.lowest : knownRates.highest
        }
        if low > high { swap(&low, &high) }
        var value = values.defaultValue ?? max(low, min(high, 0))
        if hasStrictBounds { value = max(low, min(high, value)) }
        low = min(low, value)
        high = max(high, value)
        var flags = 0
        if isToggled || isTrigger { flags |= VG_PARAM_TOGGLE }
        if isTrigger { flags |= VG_PARAM_TRIGGER }
        if isInteger || isEnumeration { flags |= VG_PARAM_STEPPED }
        if flags != 0 || isAbrupt { flags |= VG_PARAM_ABRUPT }
        let scale = unit == "dB" ? VG_DECIBEL : isLogarithmic && low > 0 ? VG_LOGARITHMIC : VG_LINEAR
        let points = scalePoints.map { Parameter.Point($0.label, $0.value) }
        return Parameter(
            key, doc, low...high, default: value, unit: unit, scale: scale, flags: flags, label: name, points: points)
    }

    private var doc: String {
        if isEnabler { return name + ": 0 lets the signal pass by" }
        if source != .given { return name + ": set by the host" }
        guard isEnumeration, !scalePoints.isEmpty else { return name }
        return name + ": " + scalePoints.map { "\($0.value.brief) \($0.label)" }.joined(separator: ", ")
    }
}

extension Float {
    /// Multiplied by 48000, from the digits in which it was written: 0.0001 gives 4.8.
    fileprivate var timesUsualRate: Float { Float((Double("\(self)") ?? Double(self)) * 48_000) }

    /// The number without a needless fraction.
    var brief: String {
        self == Float(Int32(truncatingIfNeeded: Int(exactly: self) ?? .max)) ? "\(Int(self))" : "\(self)"
    }
}
