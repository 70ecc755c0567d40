// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Host

/// The process in which plugins are tried.
struct PluginTrialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin-trial", abstract: "Open the plugins of standard input.", shouldDisplay: false)

    func run() { PluginTrial.serve() }
}
