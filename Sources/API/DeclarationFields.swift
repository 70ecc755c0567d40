// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit

extension SettingState {
    /// All that is declared of the setting, and its value.
    var values: [String: SettingValue] {
        var values = setting.values
        if let value { values["value"] = value }
        return values
    }
}

extension ParameterState {
    /// All that is declared of the parameter, and its value.
    public var values: [String: SettingValue] { parameter.values.merging(["value": SettingValue(value)]) { $1 } }
}

extension Port {
    /// All that is declared of it, and whether something goes in there.
    var fields: SettingValue { .table(values.merging(["input": .bool(direction == VG_INPUT)]) { $1 }) }
}
