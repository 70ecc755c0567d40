// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host
import System

@main
struct VoiceGraph: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "voicegraph", abstract: "A plugin-based realtime audio host: one text file declares a graph.",
        version: "voicegraph \(hostVersion)",
        subcommands: [
            RunCommand.self, RenderCommand.self, RecordCommand.self, SayCommand.self, SpeakCommand.self,
            VoicesCommand.self, SpeechDispatcherCommand.self,
            TranscribeCommand.self, PictureCommand.self, VideoCommand.self, CheckCommand.self, GraphCommand.self,
            NodesCommand.self,
            DescribeCommand.self,
            TranscriptsCommand.self, TakesCommand.self,
            StatusCommand.self, TopCommand.self, WebCommand.self, ControlCommand.self, LV2Command.self,
            ModelsCommand.self,
            PluginCommand.self, DoctorCommand.self, HelpCommand.self, IsolatedChildCommand.self,
            PluginTrialCommand.self, PluginCheckCommand.self,
            ServerProbeCommand.self, ManualCommand.self,
        ])
}

extension VoiceGraph {
    /// Runs the command that the arguments name and ends the process. Standard output is written by `writeOut` alone, so
    /// that whatever is lost of it makes the command fail.
    static func main() async {
        shareHeaps()
        endCrashesQuickly()
        // A reader that has gone away is an error of `write`, so that a run ends in order.
        signal(SIGPIPE, SIG_IGN)
        // So is a file that may not become larger.
        signal(SIGXFSZ, SIG_IGN)
        var code = ExitCode.success
        do {
            var command = try parseAsRoot()
            let files = OpenFiles.raisedLimit()
            if files < OpenFiles.least {
                throw fail(
                    "only \(files) files can be open at once here, and at least \(OpenFiles.least) are needed: "
                        + "ulimit -n 1024, or LimitNOFILE= of a service")
            }
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            code = exitCode(for: error)
            var message = fullMessage(for: error)
            if code == .validationFailure, message.contains("nexpected argument") {
                message = UnknownCommand.message(Array(CommandLine.arguments.dropFirst())) ?? message
            }
            if code.isSuccess, CommandLine.arguments.contains(where: { $0.hasPrefix("--generate-completion-script") }) {
                message = CompletionScript.withOneHelp(message)
            }
            if !message.isEmpty { writeOut(message + "\n", to: code.isSuccess ? STDOUT_FILENO : STDERR_FILENO) }
        }
        Glibc.exit(code.isSuccess && isOutputLost ? ExitCode.failure.rawValue : code.rawValue)
    }
}
