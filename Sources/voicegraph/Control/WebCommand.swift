// SPDX-License-Identifier: Apache-2.0
import API
import ArgumentParser
import Control
import Glibc
import Host
import JSON
import System

extension Right: ExpressibleByArgument {}

/// `voicegraph web`: the link to a run that is shown to browsers.
struct WebCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web", abstract: "Print the link to a running host's page, and open it.",
        discussion: """
            The link has a token, which lets whoever has it in, with a right: a visitor talks and listens; an operator \
            also turns parameters, does actions, and sees takes and transcripts; an owner also changes the graph. It is \
            opened where there is a desktop, by xdg-open. A run has a page if it was started with --web, or has [web] in its file. With --ssh the page of a \
            run on another machine is at the same address of this one, until Ctrl-C.

            Examples:
              voicegraph web
              voicegraph web --right visitor --no-open
              voicegraph web --ssh pi@stage
            """)

    @OptionGroup
    var target: ControlOptions

    @Option(help: ArgumentHelp("What the link lets do: visitor, operator or owner.", valueName: "right"))
    var right = Right.owner

    @Flag(help: "Only print it.")
    var noOpen = false

    func run() throws {
        // Before there is an ssh, so that it ends in order.
        let ended = target.remote.ssh == nil ? nil : EndFlag()
        let connection = try connect(target.host(), forwards: true)
        let answer = try ask(connection, "web", json: target.json)
        guard !target.json, let link = answer["links"]?[right.rawValue]?.string else { return }
        if ended != nil { try forward(link, connection) }
        writeOut(link + "\n")
        try show(link)
        while let ended, !ended.isSet {
            if connection.isCut { throw fail("the connection to \(target.remote.ssh ?? "") has ended") }
            usleep(100_000)
        }
    }

    /// Makes the page of another machine reachable here, unless it listens where other machines reach it.
    private func forward(_ link: String, _ connection: ControlClient) throws {
        let address = link.trimmingPrefix("http://").prefix { $0 != "/" }
        guard ["127.", "[::1]", "localhost"].contains(where: { address.hasPrefix($0) }) else { return }
        do throws(Fault) { try connection.forward(String(address)) } catch {
            throw fail("\(Fault(error.message, hint: "is that port taken on this machine?"))")
        }
    }

    /// Opens it where there is a desktop.
    private func show(_ link: String) throws {
        let hasDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains { (name: String) in
            getenv(name).map { $0.pointee != 0 } ?? false
        }
        guard !noOpen, hasDesktop else { return }
        try open(link)
    }

    /// By a page of the user's own that goes on there: what a program is started with, everybody on the machine sees.
    private func open(_ link: String) throws {
        let page: String
        do throws(Fault) { page = try ControlFolder.standard().page(leadingTo: link) } catch {
            throw fail("\(Fault(error.message, hint: "open the link yourself"))")
        }
        var process = pid_t()
        let words: [UnsafeMutablePointer<CChar>?] = ["xdg-open", page].map { (word: String) in strdup(word) } + [nil]
        defer { for word in words { free(word) } }
        guard posix_spawnp(&process, "xdg-open", nil, nil, words, environ) == 0 else {
            throw fail("xdg-open cannot be started; open the link yourself")
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        if status != 0 { throw fail("xdg-open could not open it; open the link yourself") }
    }
}
