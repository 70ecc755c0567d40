// SPDX-License-Identifier: Apache-2.0
import CNode

/// One port of a node; see `vg_port` for what each kind carries.
public struct Port: Sendable, Equatable {
    /// The name that links use.
    public var symbol: String
    /// One line for `voicegraph describe`.
    public var doc: String
    /// What the port carries.
    public var kind: vg_port_kind
    /// Whether the node reads or writes it.
    public var direction: vg_direction
    /// The side bus it belongs to; nil for the main bus.
    public var bus: String?
    /// What a control input holds while nothing is linked to it, and a control output while its node does not run: of a
    /// gate, what closes it.
    public var defaultValue: Float
    /// `VG_TAKES_*` of a message input; 0: it takes anything.
    public var takes: UInt32

    /// Describes a port.
    public init(
        _ kind: vg_port_kind, _ direction: vg_direction, _ symbol: String, doc: String = "", bus: String? = nil,
        defaultValue: Float = 0, takes: Int = 0
    ) {
        self.symbol = symbol
        self.doc = doc
        self.kind = kind
        self.direction = direction
        self.bus = bus
        self.defaultValue = defaultValue
        self.takes = UInt32(takes)
    }

    /// `count` mono audio ports `in_1`, `in_2`, ... or `out_1`, ...; a single one is `in` or `out`. Without `doc`, each
    /// says which channel it is.
    public static func audio(_ direction: vg_direction, channels count: Int, doc: String? = nil) -> [Port] {
        let stem = direction == VG_INPUT ? "in" : "out"
        let what = doc ?? (direction == VG_INPUT ? "audio to process" : "the result")
        if count == 1 { return [Port(VG_AUDIO_PORT, direction, stem, doc: what)] }
        return (0..<max(count, 0)).map {
            Port(VG_AUDIO_PORT, direction, "\(stem)_\($0 + 1)", doc: "\(what), channel \($0 + 1)")
        }
    }
}

/// A float that is turned while the graph runs; see `vg_parameter`.
public struct Parameter: Sendable, Equatable {
    /// The name used in the file and by `--set`.
    public var key: String
    /// One line for `voicegraph describe`.
    public var doc: String
    /// "dB", "Hz", "s" or "".
    public var unit: String
    /// The values accepted.
    public var range: ClosedRange<Float>
    /// The value without an entry in the file.
    public var defaultValue: Float
    /// How a control surface should spread the range.
    public var scale: vg_scale
    /// `VG_PARAM_*` flags.
    public var flags: UInt32
    /// What people call it; it may be set by this name too, in any capitals. Empty: its key.
    public var label: String
    /// Values that have names, by which it may be set too.
    public var points: [Point]

    /// A value that has a name; see `vg_point`.
    public struct Point: Sendable, Equatable {
        /// Its name.
        public var label: String
        /// In the parameter's unit.
        public var value: Float

        /// Names a value.
        public init(_ label: String, _ value: Float) {
            self.label = label
            self.value = value
        }
    }

    /// Describes a parameter.
    public init(
        _ key: String, _ doc: String, _ range: ClosedRange<Float>, default defaultValue: Float, unit: String = "",
        scale: vg_scale = VG_LINEAR, flags: Int = 0, label: String = "", points: [Point] = []
    ) {
        self.key = key
        self.doc = doc
        self.unit = unit
        self.range = range
        self.defaultValue = defaultValue
        self.scale = scale
        self.flags = UInt32(flags)
        self.label = label
        self.points = points
    }
}

/// Something fixed when the node is created, unless it is live, or an argument of an action; see `vg_setting`.
public struct Setting: Sendable, Equatable {
    /// The name used in the file.
    public var key: String
    /// One line for `voicegraph describe`.
    public var doc: String
    /// The values accepted.
    public var kind: vg_setting_kind
    /// Whether the file must give it.
    public var required: Bool
    /// The value without an entry, as it would be written in the file.
    public var defaultText: String?
    /// The numbers accepted; nil: any.
    public var range: ClosedRange<Double>?
    /// The unit of a number.
    public var unit: String?
    /// The strings accepted; empty: any.
    public var choices: [String]
    /// Whether it may be changed while the node plays, by `Node.set`.
    public var isLive: Bool
    /// What its texts name beyond the graph; nil: nothing.
    public var reach: Reach?

    /// What a text may name that is not of the graph; see `VG_SETTING_FILE` and its neighbours.
    public enum Reach: Sendable, Equatable, CaseIterable {
        /// A file or folder, read or written.
        case file
        /// A program, or a line for the shell.
        case program
        /// A variable of the environment.
        case variable
        /// A URL, or another machine.
        case address
    }

    /// Describes a setting. A `VG_SET_PATH` names a file in any case.
    public init(
        _ key: String, _ kind: vg_setting_kind, _ doc: String, required: Bool = false,
        default defaultText: String? = nil,
        range: ClosedRange<Double>? = nil, unit: String? = nil, choices: [String] = [], live isLive: Bool = false,
        names reach: Reach? = nil
    ) {
        self.key = key
        self.doc = doc
        self.kind = kind
        self.required = required
        self.defaultText = defaultText
        self.range = range
        self.unit = unit
        self.choices = choices
        self.isLive = isLive
        self.reach = reach ?? (kind == VG_SET_PATH ? .file : nil)
    }
}

extension Setting.Reach {
    /// As `VG_SETTING_*`.
    var flag: UInt32 {
        switch self {
        case .file: UInt32(VG_SETTING_FILE)
        case .program: UInt32(VG_SETTING_PROGRAM)
        case .variable: UInt32(VG_SETTING_VARIABLE)
        case .address: UInt32(VG_SETTING_ADDRESS)
        }
    }
}

extension Parameter {
    /// Whether what it is set to holds for one block, and its default after that.
    public var isTrigger: Bool { flags & UInt32(VG_PARAM_TRIGGER) != 0 }
}

/// The ports and parameters of a node.
public struct Layout: Sendable, Equatable {
    /// In the order in which the processor sees them.
    public var ports: [Port]
    /// In the order in which the processor sees them.
    public var parameters: [Parameter]

    /// Describes a layout.
    public init(ports: [Port] = [], parameters: [Parameter] = []) {
        self.ports = ports
        self.parameters = parameters
    }
}

/// What a node type says of itself: all that `voicegraph describe` prints and all that a file is checked against.
public struct NodeDescriptor: Sendable {
    /// What the file's `type` says.
    public var name: String
    /// One line.
    public var summary: String
    /// More than one line, if needed.
    public var doc: String
    /// Ports and parameters with default settings.
    public var layout: Layout
    /// The settings accepted.
    public var settings: [Setting]
    /// What can be done to a node besides turning its parameters.
    public var actions: [Action]
    /// What a node publishes now and then.
    public var events: [EventType]
    /// What a node measures regularly.
    public var series: [Series]
    /// Which way the sound of clients goes; nil: nodes have no streams. See `Node.openStream`.
    public var streams: vg_direction?
    /// Models that nodes use.
    public var needs: [Need]
    /// What other programs call such a type.
    public var otherNames: [String]
    /// `VG_IN_PLACE` and the like.
    public var flags: UInt32
    /// The audio half; nil for a node that only handles messages.
    public var process: vg_process_function?
    /// The second audio half of a node that may close a feedback loop.
    public var absorb: vg_process_function?

    /// Describes a node type. `process` of an `AudioNode` is `{ Gain.process($0, $1, $2) }`, and `absorb` of a `LoopNode`
    /// alike: C calls a function that knows the type.
    public init(
        _ name: String, _ summary: String, doc: String = "", ports: [Port] = [], parameters: [Parameter] = [],
        settings: [any SettingDeclaration] = [], actions: [Action] = [], events: [EventType] = [],
        series: [Series] = [], streams: vg_direction? = nil, needs: [Need] = [], otherNames: [String] = [],
        flags: Int = 0, process: vg_process_function? = nil, absorb: vg_process_function? = nil
    ) {
        self.name = name
        self.summary = summary
        self.doc = doc
        self.layout = Layout(ports: ports, parameters: parameters)
        self.settings = settings.map(\.setting)
        self.actions = actions
        self.events = events
        self.series = series
        self.streams = streams
        self.needs = needs
        self.otherNames = otherNames
        self.flags = UInt32(flags)
        self.process = process
        self.absorb = absorb
    }
}
