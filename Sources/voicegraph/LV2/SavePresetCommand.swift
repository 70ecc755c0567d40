// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Host
import LV2
import NodeKit

extension LV2Command {
    /// `voicegraph lv2 save-preset PLUGIN LABEL`: writes a preset that every LV2 host finds.
    struct SavePreset: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "save-preset", abstract: "Write a preset for all LV2 hosts.",
            discussion: """
                The preset has the plugin's defaults, then what --preset and --state give, then the values of --param. \
                It is a bundle of its own, in ~/.lv2 unless --folder names another one.

                Examples:
                  voicegraph lv2 save-preset eg-amp Quiet --param gain=-12
                """)

        @Argument(help: "URI or unique name.", completion: .lv2Plugins)
        var plugin: String

        @Argument(help: "What the preset is called.")
        var label: String

        @Option(
            name: .customLong("param"),
            help: ArgumentHelp("Set a parameter; may be given several times.", valueName: "symbol=value"))
        var params: [String] = []

        @Option(help: ArgumentHelp("Begin with a preset.", valueName: "label"))
        var preset: String?

        @Option(
            help: ArgumentHelp("Begin with a saved state: file or folder.", valueName: "path"), completion: .file())
        var state: String?

        @Option(help: ArgumentHelp("The new bundle.", valueName: "folder"), completion: .directory)
        var folder: String?

        func validate() throws {
            if label.allSatisfy(\.isWhitespace) { throw ValidationError("the label is empty") }
            _ = try values()
        }

        func run() throws {
            useScan()
            let new = NewPreset(plugin: plugin, label: label, params: try values(), preset: preset, state: state)
            do throws(NodeError) {
                writeOut("wrote \(try World.shared.save(new, to: folder))\n")
            } catch {
                throw fail(error)
            }
        }

        private func values() throws -> [String: SettingValue] {
            var result: [String: SettingValue] = [:]
            for param in params {
                let parts = param.split(separator: "=", maxSplits: 1).map(String.init)
                guard parts.count == 2 else { throw ValidationError("--param \(param): write SYMBOL=VALUE") }
                guard result.updateValue(value(parts[1]), forKey: parts[0]) == nil else {
                    throw ValidationError("--param \(param): \(parts[0]) is given twice")
                }
            }
            return result
        }

        /// As TOML would have it, with the quotes left away.
        private func value(_ text: String) -> SettingValue {
            if let number = Double(text) { return .number(number) }
            return text == "true" || text == "false" ? .bool(text == "true") : .string(text)
        }
    }
}
