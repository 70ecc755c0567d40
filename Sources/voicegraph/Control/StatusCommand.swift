// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Control
import Host
import Terminal

/// `voicegraph status`: what a host that runs measures of itself.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show driver, load and xruns of the host that runs.",
        discussion: """
            Examples:
              voicegraph status
              voicegraph status --client voice --json
            """)

    @OptionGroup var target: ControlOptions

    func run() throws {
        let answer = try ask(target.host(), "status", json: target.json)
        if !target.json { writeOut(statusText(answer)) }
    }
}
