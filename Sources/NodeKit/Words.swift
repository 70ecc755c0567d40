// SPDX-License-Identifier: Apache-2.0
import CNode

/// An enumeration whose values have words, for people and programs.
package protocol Worded: Equatable, Sendable {
    /// Every value with its word.
    static var words: [(value: Self, name: String)] { get }
}

extension Worded {
    /// In a word; of a value that this version does not know, the last one's. [any]
    package var name: String { (Self.words.first { $0.value == self } ?? Self.words.last)?.name ?? "" }

    /// The value of a word; nil: none has it. [any]
    package init?(name: String) {
        guard let value = Self.words.first(where: { $0.name == name })?.value else { return nil }
        self = value
    }
}

extension vg_setting_kind: Worded {
    package static let words: [(value: vg_setting_kind, name: String)] = [
        (VG_SET_BOOL, "boolean"), (VG_SET_INTEGER, "integer"), (VG_SET_NUMBER, "number"), (VG_SET_STRING, "text"),
        (VG_SET_PATH, "file"), (VG_SET_STRINGS, "text or list of texts"), (VG_SET_VALUE, "value"),
        (VG_SET_TABLE, "table"),
    ]
}

extension vg_value_kind: Worded {
    package static let words: [(value: vg_value_kind, name: String)] = [
        (VG_BOOL, "boolean"), (VG_INTEGER, "integer"), (VG_NUMBER, "number"), (VG_STRING, "text"), (VG_LIST, "list"),
        (VG_ANY, "value"), (VG_TABLE, "table"),
    ]
}

extension vg_scale: Worded {
    package static let words: [(value: vg_scale, name: String)] = [
        (VG_LOGARITHMIC, "logarithmic"), (VG_DECIBEL, "decibel"), (VG_LINEAR, "linear"),
    ]
}

extension vg_port_kind: Worded {
    package static let words: [(value: vg_port_kind, name: String)] = [
        (VG_AUDIO_PORT, "audio"), (VG_CONTROL_PORT, "control"), (VG_MIDI_PORT, "midi"), (VG_MESSAGE_PORT, "message"),
    ]
}

extension vg_direction: Worded {
    package static let words: [(value: vg_direction, name: String)] = [(VG_INPUT, "in"), (VG_OUTPUT, "out")]
}

extension Setting.Reach: Worded {
    package static let words: [(value: Setting.Reach, name: String)] = [
        (.file, "file"), (.program, "program"), (.variable, "variable"), (.address, "address"),
    ]
}
