// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Host

@main
struct VoiceGraph: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "voicegraph", abstract: "A plugin-based realtime audio host: one text file declares a graph.",
        version: "voicegraph \(hostVersion)",
        subcommands: [
            RunCommand.self, RenderCommand.self, CheckCommand.self, GraphCommand.self, NodesCommand.self,
            DescribeCommand.self, StatusCommand.self, TopCommand.self, ControlCommand.self, LV2Command.self,
            PluginCommand.self,
            IsolatedChildCommand.self,
        ])
}
