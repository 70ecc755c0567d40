// SPDX-License-Identifier: Apache-2.0

/// What shells read to complete commands.
enum CompletionScript {
    /// ArgumentParser ends each script with a command `help` of its own, in which nothing can be completed and which takes
    /// the place of ours. This takes it out.
    static func withOneHelp(_ script: String) -> String {
        var script = script
        let function = "_voicegraph_help() {\n"
        let functions = script.ranges(of: function)
        if functions.count == 2, let end = script[functions[1].upperBound...].firstRange(of: "\n}\n") {
            script.removeSubrange(functions[1].lowerBound..<end.upperBound)
        }
        script.replace("|help|help)", with: "|help)")
        script.replace(" help help'", with: " help'")
        return script.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("Show subcommand help information.") }.joined(separator: "\n")
    }
}
