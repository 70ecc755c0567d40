// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Host
import LV2
import NodeKit

/// `voicegraph lv2`: the installed LV2 plugins.
struct LV2Command: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lv2", abstract: "List and describe the installed LV2 plugins.",
        discussion: """
            PLUGIN is a URI or a name as in a graph file: the last part of the URI or the plugin's own name, in any \
            capitals, if only one plugin has it. LV2_PATH names the folders that are searched. `info` tells, too, what is \
            wrong with a plugin's data, and which properties it takes or only tells.

            Examples:
              voicegraph lv2 list reverb
              voicegraph lv2 info eg-amp
            """,
        subcommands: [List.self, Info.self, Presets.self, SavePreset.self, Scan.self, ScanChild.self])
}

extension LV2Command {
    /// `voicegraph lv2 list`: every plugin, from an index that is kept up to date.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the installed LV2 plugins.",
            discussion: """
                With words, those plugins of which all of them are found where a word of the name, of the last part of the \
                URI or of the class begins; or the URI itself begins so.

                Examples:
                  voicegraph lv2 list reverb stereo
                  voicegraph lv2 list amp --anywhere
                """)

        @Argument(help: "Words to look for, in any capitals.")
        var words: [String] = []

        @Flag(help: "Find words in the middle of others, too, and of the whole URI.")
        var anywhere = false

        @Flag(help: "One JSON object a line.")
        var json = false

        func validate() throws {
            if anywhere, words.isEmpty { throw ValidationError("--anywhere is for words to look for: name some") }
        }

        func run() throws {
            let index = PluginIndex(cache: cachePath("lv2-index"))
            let found = index.matching(words, anywhere: anywhere)
            if json {
                writeOut(found.map { LV2Text.json($0) + "\n" }.joined())
            } else if found.isEmpty {
                let more = anywhere ? 0 : index.matching(words, anywhere: true).count
                throw fail(
                    index.plugins.isEmpty
                        ? "no LV2 plugins are installed; LV2_PATH names the folders that are searched"
                        : "none of the \(index.plugins.count) plugins matches \(words.joined(separator: " "))"
                            + (more == 0 ? "" : "; with --anywhere \(counted(more, "plugin")) would be found"))
            } else {
                writeOut(LV2Text.table(found, of: index.plugins))
            }
        }
    }

    /// `voicegraph lv2 info PLUGIN`: ports, features, presets, and whether it can run here.
    struct Info: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "info", abstract: "Show a plugin's ports, features and presets.",
            discussion: """
                Examples:
                  voicegraph lv2 info eg-amp
                  voicegraph lv2 info http://lv2plug.in/plugins/eg-amp --json
                """)

        @Argument(help: "URI or unique name.", completion: .lv2Plugins)
        var plugin: String

        @Flag(help: "One JSON object.")
        var json = false

        func run() throws { try Self.show(plugin, json: json) }

        /// Prints all that is known of a plugin, after trying it if need be.
        static func show(_ plugin: String, json: Bool) throws {
            var description = try describe(plugin)
            useScan()
            if description.problem == nil { description.problem = PluginScan.shared.problem(with: description.uri) }
            writeOut(json ? LV2Text.json(description) + "\n" : LV2Text.text(description))
        }
    }

    /// `voicegraph lv2 presets PLUGIN`: its presets by label.
    struct Presets: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "presets", abstract: "List a plugin's presets.",
            discussion: """
                Examples:
                  voicegraph lv2 presets eg-amp
                """)

        @Argument(help: "URI or unique name.", completion: .lv2Plugins)
        var plugin: String

        @Flag(help: "One JSON object a line.")
        var json = false

        func run() throws {
            let description = try describe(plugin)
            let presets = description.presets
            if json {
                writeOut(presets.map { LV2Text.json(preset: $0) + "\n" }.joined())
            } else if presets.isEmpty {
                writeOut("\(description.name) has no presets\n")
            } else {
                let width = min(40, presets.map(\.label.count).max() ?? 0)
                writeOut(presets.map { LV2Text.pad($0.label, width + 2) + $0.uri + "\n" }.joined())
            }
        }
    }

    /// `voicegraph lv2 scan PLUGIN...`: tries plugins in a process of their own, whatever is known of them.
    struct Scan: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "scan", abstract: "Try plugins in a process of their own and remember what came of it.",
            discussion: """
                `run` and `render` do so by themselves with each plugin that they do not know yet.

                Examples:
                  voicegraph lv2 scan eg-amp
                  voicegraph lv2 scan --all
                """)

        @Argument(help: "URIs or unique names.")
        var plugins: [String] = []

        @Flag(help: "Try every installed plugin.")
        var all = false

        func validate() throws {
            if plugins.isEmpty != all { throw ValidationError("name the plugins to try, or give --all") }
        }

        func run() throws {
            useScan()
            var faulty = 0
            var open = all ? PluginIndex(cache: cachePath("lv2-index")).plugins.map(\.uri) : plugins
            while !open.isEmpty {
                do throws(NodeError) {
                    // So many at a time that there is something to read meanwhile.
                    for result in try PluginScan.shared.tryAgain(Array(open.prefix(8))) {
                        writeOut("\(result.uri): \(result.fault ?? "fine")\n")
                        if result.fault != nil { faulty += 1 }
                    }
                } catch {
                    throw fail(error)
                }
                open.removeFirst(min(8, open.count))
            }
            if faulty > 0 { throw fail("\(faulty) plugin\(faulty == 1 ? "" : "s") cannot run here") }
        }
    }

    /// The process in which plugins are tried.
    struct ScanChild: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "scan-child", abstract: "Try the plugins of standard input.", shouldDisplay: false)

        func run() { PluginScanChild.serve() }
    }
}

extension CompletionKind {
    /// Short names of the installed plugins.
    static var lv2Plugins: CompletionKind {
        .custom { _, _, _ in Set(PluginIndex(cache: cachePath("lv2-index")).plugins.map(\.shortName)).sorted() }
    }
}

private func describe(_ plugin: String) throws -> PluginDescription {
    do throws(NodeError) { return try World.shared.describe(plugin) } catch { throw fail(error) }
}
