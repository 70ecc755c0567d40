// SPDX-License-Identifier: Apache-2.0
import CNode

/// What a node type has besides the core of the contract, by the names of `extensions.h`. What it has not is nil; a name
/// that is not known here is left out.
public struct TypeExtensions: @unchecked Sendable {
    // Sendable: tables and lists stay as they are while the code is loaded that they point to.

    /// What can be done to its nodes, and what does it.
    public private(set) var actions: UnsafePointer<vg_type_actions>?
    /// What takes messages.
    public private(set) var messages: UnsafePointer<vg_type_messages>?
    /// What changes settings while a node plays.
    public private(set) var liveSettings: UnsafePointer<vg_type_live_settings>?
    /// What its nodes measure.
    public private(set) var series: UnsafePointer<vg_type_series>?
    /// What opens streams for clients.
    public private(set) var streams: UnsafePointer<vg_type_streams>?
    /// What takes the inputs in a feedback loop.
    public private(set) var loop: UnsafePointer<vg_type_loop>?
    /// What waits for a node in a render.
    public private(set) var offline: UnsafePointer<vg_type_offline>?
    /// Whether a node still plays something of its own, and what ends it.
    public private(set) var ending: UnsafePointer<vg_type_ending>?
    /// Which models its nodes use.
    public private(set) var needs: UnsafePointer<vg_type_needs>?
    /// What other programs call it.
    public private(set) var otherNames: UnsafePointer<vg_type_other_names>?

    /// Reads those of a type. [any]
    public init(_ type: vg_node_type) {
        for one in elements(of: type.extensions, as: vg_extension.self) {
            guard let name = one.name, let table = one.table else { continue }
            switch String(cString: name) {
            case VG_EXT_ACTIONS: actions = table.assumingMemoryBound(to: vg_type_actions.self)
            case VG_EXT_MESSAGES: messages = table.assumingMemoryBound(to: vg_type_messages.self)
            case VG_EXT_LIVE_SETTINGS: liveSettings = table.assumingMemoryBound(to: vg_type_live_settings.self)
            case VG_EXT_SERIES: series = table.assumingMemoryBound(to: vg_type_series.self)
            case VG_EXT_STREAMS: streams = table.assumingMemoryBound(to: vg_type_streams.self)
            case VG_EXT_LOOP: loop = table.assumingMemoryBound(to: vg_type_loop.self)
            case VG_EXT_OFFLINE: offline = table.assumingMemoryBound(to: vg_type_offline.self)
            case VG_EXT_ENDING: ending = table.assumingMemoryBound(to: vg_type_ending.self)
            case VG_EXT_NEEDS: needs = table.assumingMemoryBound(to: vg_type_needs.self)
            case VG_EXT_OTHER_NAMES: otherNames = table.assumingMemoryBound(to: vg_type_other_names.self)
            default: break
            }
        }
    }
}

/// One extension in memory that is never freed. [control]
func immortalExtension<Table>(_ name: String, _ table: Table) -> vg_extension {
    vg_extension(name: immortal(name), table: UnsafeRawPointer(immortal([table])))
}
