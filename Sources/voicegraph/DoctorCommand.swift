// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Doctor
import Drivers
import Glibc
import Host
import JSON

/// `voicegraph doctor`: everything that is known of this machine, the worst first, with what to do.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Say what is wrong with this machine, and what to do about it.",
        discussion: """
            Looks at JACK servers, PipeWire, sound cards, realtime rights, folders, models and plugins, and asks the hosts \
            that run; with a file also at what that wants: connections, devices, models. Starts and changes nothing. The \
            exit code is 1 if as it is nothing will be heard, else 0.

            Examples:
              voicegraph doctor
              voicegraph doctor voice.conf
            """)

    @Argument(help: "A graph file.", completion: .file(extensions: ["conf", "toml"]))
    var file: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Change a setting of the file: driver.key=value or node.NAME.key=value.", valueName: "override"))
    var overrides: [String] = []

    @Flag(help: "One JSON object with all findings.")
    var json = false

    @OptionGroup
    var plugins: PluginOptions

    func validate() throws {
        if file == nil, !overrides.isEmpty { throw ValidationError("--set changes a file: name it") }
    }

    func run() throws {
        let findings = Examination(
            file: file, overrides: overrides, search: try plugins.search(keeps: false), models: ModelsCommand.store
        ).findings()
        let color = isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil
        writeOut(json ? DoctorText.json(findings) : DoctorText.text(findings, color: color))
        if findings.count(.error) > 0 { throw ExitCode(1) }
    }
}

/// The process in which the doctor looks at a server: libjack talks to one server per process, and waits for one that hangs
/// for as long as that hangs.
struct ServerProbeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor-probe", abstract: "Look at a server for another process.", shouldDisplay: false)

    @Option(help: "The server's name.")
    var server: String?

    @Flag(help: "Ask PipeWire.")
    var pipewire = false

    func run() throws {
        do throws(DriverError) {
            writeOut(try ServerLook(server: server, library: pipewire ? .pipewire : .jackd).json.text + "\n")
        } catch { throw fail(error.fault.message) }
    }
}
