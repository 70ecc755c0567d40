// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Host

/// The process in which isolated nodes live.
struct IsolatedChildCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "isolated-child", abstract: "Hold nodes for another process.", shouldDisplay: false)

    @Argument(help: "The id of the process that started this one.")
    var parent: Int32

    func run() { NodeRegistry.serveIsolated(parent: parent) }
}
