// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import JSON

/// `voicegraph web`: the link to a run that is shown to browsers.
struct WebCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web", abstract: "Print the link to a running host's page, and open it.",
        discussion: """
            The link has the token of that run, which lets whoever has it in. It is opened where there is a desktop, by \
            xdg-open. A run has a page if it was started with --web, or has [web] in its file.

            Examples:
              voicegraph web
              voicegraph web --no-open
            """)

    @OptionGroup
    var target: ControlOptions

    @Flag(help: "Only print it.")
    var noOpen = false

    func run() throws {
        let answer = try ask(target.client, "web", json: target.json)
        guard !target.json, let link = answer["link"]?.string else { return }
        writeOut(link + "\n")
        let hasDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains { (name: String) in
            getenv(name).map { $0.pointee != 0 } ?? false
        }
        guard !noOpen, hasDesktop else { return }
        try open(link)
    }

    private func open(_ link: String) throws {
        var process = pid_t()
        let words: [UnsafeMutablePointer<CChar>?] = ["xdg-open", link].map { (word: String) in strdup(word) } + [nil]
        defer { for word in words { free(word) } }
        guard posix_spawnp(&process, "xdg-open", nil, nil, words, environ) == 0 else {
            throw fail("xdg-open cannot be started; open the link yourself")
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        if status != 0 { throw fail("xdg-open could not open it; open the link yourself") }
    }
}
