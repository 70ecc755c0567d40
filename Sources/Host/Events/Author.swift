// SPDX-License-Identifier: Apache-2.0

/// Who turns what is turned, as the field `by` of events says it. The name goes with a task into all that it calls:
///
///     try await Author.$current.withValue("my program") { try await host.set("low", "gain_db", to: -6) }
public enum Author {
    /// The name of whoever asks now; without one it is the program that embeds the host. [any]
    @TaskLocal public static var current: String = "program"

    /// A file that is read again.
    static let file = "file"
    /// The node itself, as a plugin that has loaded a preset.
    static let plugin = "plugin"

    /// All names that the host and its commands give, for people.
    static let doc = "who: file, undo, redo, plugin, terminal, control socket, browser (RIGHT), or program"
}

extension EditHistory.Way {
    /// Who turns what a step turns.
    var author: String { self == .back ? "undo" : "redo" }
}
