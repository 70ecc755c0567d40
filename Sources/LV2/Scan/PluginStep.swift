// SPDX-License-Identifier: Apache-2.0

/// What is being done with a plugin. Only a process made to try plugins tells it to anybody.
enum PluginStep: String, CaseIterable {
    case load = "dlopen"
    case describe = "lv2_descriptor"
    case instantiate
    case connectPort = "connect_port"
    case extensionData = "extension_data"
    case activate, run, work
    case workResponse = "work_response"
    case endRun = "end_run"
    case save, restore, deactivate, cleanup

    /// Set once, before the first plugin, by a process that tries plugins.
    nonisolated(unsafe) static var listener: (@Sendable (PluginStep) -> Void)?

    /// What was told last.
    nonisolated(unsafe) private static var current: PluginStep?

    /// The step is about to be taken. [control]
    static func tell(_ step: PluginStep) {
        guard let listener else { return }
        current = step
        listener(step)
    }

    /// Does what belongs to a step that comes up in another one, maybe on the worker's thread. Nothing else may be told
    /// meanwhile.
    static func during<Result>(_ step: PluginStep, _ body: () -> Result) -> Result {
        guard listener != nil else { return body() }
        let outer = current
        tell(step)
        defer { if let outer { tell(outer) } }
        return body()
    }
}
