// SPDX-License-Identifier: Apache-2.0

/// What is being done with a plugin. Only a process made to try plugins tells it to anybody.
enum PluginStep: String, CaseIterable {
    case load = "dlopen"
    case describe = "lv2_descriptor"
    case instantiate
    case connectPort = "connect_port"
    case restore = "the restoring of its default state"
    case activate, run, deactivate, cleanup

    /// Set once, before the first plugin, by a process that tries plugins.
    nonisolated(unsafe) static var listener: (@Sendable (PluginStep) -> Void)?

    /// The step is about to be taken. [control]
    static func tell(_ step: PluginStep) { listener?(step) }
}
