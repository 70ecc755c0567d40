// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host

/// `voicegraph man-pages FOLDER`: writes the manual, for `scripts/install`.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "man-pages", abstract: "Write a manual page for each command.",
        discussion: "They have the date of $SOURCE_DATE_EPOCH, else of today.", shouldDisplay: false)

    @Argument(help: "The folder for them, which must be there.", completion: .directory)
    var folder: String

    func run() throws {
        let program = CommandHelp(VoiceGraph.self)
        for help in [program] + program.commands {
            let page = ManualPage(help, in: program)
            let path = "\(folder)/\(page.name).1"
            let text = page.text(date: try manualDate(), version: "voicegraph \(hostVersion)")
            try writeWhole(Array(text.utf8), to: path)
        }
    }
}

/// The date of manual pages, as in "2026-03-01": that of $SOURCE_DATE_EPOCH, else today. [any]
func manualDate() throws -> String {
    var seconds = time(nil)
    if let given = getenv("SOURCE_DATE_EPOCH").map({ String(cString: $0) }) {
        guard let number = Int(given) else {
            throw fail("SOURCE_DATE_EPOCH is \"\(given)\"; it must be a number of seconds")
        }
        seconds = number
    }
    var parts = tm()
    gmtime_r(&seconds, &parts)
    return String(unsafeUninitializedCapacity: 32) { strftime($0.baseAddress!, 32, "%Y-%m-%d", &parts) }
}
