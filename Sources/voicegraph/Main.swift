// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

@main
struct VoiceGraph: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "voicegraph", abstract: "A plugin-based realtime audio host: one text file declares a graph.",
        subcommands: [
            CheckCommand.self, GraphCommand.self, NodesCommand.self, DescribeCommand.self, PluginCommand.self,
        ])
}
