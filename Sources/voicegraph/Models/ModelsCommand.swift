// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Config
import Graph
import GraphFile
import ModelStore
import System

/// `voicegraph models`: what was trained and is installed beside voicegraph.
struct ModelsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "models", abstract: "List, install and remove models for speaking and listening.",
        discussion: """
            Models are fetched by pip, as you have set it up, from the Python Package Index, in fixed versions with fixed \
            SHA-256, and kept in voicegraph's data folder. Nothing is installed into Python. What needs no model works \
            without.

            Examples:
              voicegraph models list
              voicegraph models install moonshine-base-en
            """,
        subcommands: [List.self, Install.self, Remove.self, Path.self])

    /// Of this user.
    static var store: ModelStore {
        let folders = UserFolders()
        return ModelStore(
            folder: folders.models, cache: folders.cache + "/models", environment: processEnvironment())
    }
}

extension ModelsCommand {
    /// `voicegraph models list`: every model of the catalogue, and how it is here.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List all models, and which of them are installed.",
            discussion: """
                With --verify the exit code is 1 if an installed model is damaged.

                Examples:
                  voicegraph models list
                  voicegraph models list --verify --json
                """)

        @Flag(help: "One JSON object a line.")
        var json = false

        @Flag(help: "Compare every byte of what is installed, by its SHA-256.")
        var verify = false

        func run() throws {
            let store = ModelsCommand.store
            let states = store.catalogue.map { ($0, store.state(of: $0, verifying: verify)) }
            writeOut(json ? ModelsText.json(states, store) : ModelsText.table(states, store))
            guard verify else { return }
            let damaged = states.filter { if case .damaged = $0.1 { true } else { false } }.map(\.0.name)
            if !damaged.isEmpty {
                let names = damaged.joined(separator: " ")
                throw fail("damaged: \(names); `voicegraph models install \(names)` replaces what is damaged")
            }
        }
    }

    /// `voicegraph models install NAME...`: what is missing of these models and of those that they need.
    struct Install: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "install", abstract: "Install models, and those that they need.",
            discussion: """
                What is installed already is left alone, unless it is damaged or another version. A model that is not \
                whole is never used. Ctrl-C stops, and leaves nothing half.

                Examples:
                  voicegraph models install moonshine-base-en
                  voicegraph models install --all
                """)

        @Argument(help: "Names of models, as `list` shows them.", completion: .models)
        var names: [String] = []

        @Flag(help: "Install every model that there is for this machine.")
        var all = false

        func validate() throws {
            if names.isEmpty != all { throw ValidationError("name the models to install, or give --all") }
        }

        func run() throws {
            let store = ModelsCommand.store
            try requireModels(names, in: store)
            let wanted = all ? store.catalogue.filter { $0.wheel(for: store.machine) != nil }.map(\.name) : names
            let flag = EndFlag()
            let output = InstallOutput()
            do throws(Fault) {
                try store.install(wanted, isInterrupted: { flag.isSet }, tell: { output.show($0) })
            } catch {
                output.end()
                let code = fail(error)
                // As of a program that Ctrl-C has ended.
                throw error.isInterruption ? ExitCode(130) : code
            }
        }
    }

    /// `voicegraph models remove NAME...`.
    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove models.",
            discussion: """
                A model that others need is kept, unless they go as well.

                Examples:
                  voicegraph models remove moonshine-base-en
                """)

        @Argument(help: "Names of models, as `list` shows them.", completion: .models)
        var names: [String]

        @Flag(help: "Remove it also when others need it.")
        var force = false

        func run() throws {
            let store = ModelsCommand.store
            try requireModels(names, in: store)
            do throws(Fault) {
                try store.remove(names, force: force) { step in
                    switch step {
                    case .absent(let name): writeOut("\(name) is not installed\n")
                    case .removed(let name): writeOut("removed \(name)\n")
                    }
                }
            } catch { throw fail(error) }
        }
    }

    /// `voicegraph models path [NAME]`: where models are, for scripts.
    struct Path: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "path", abstract: "Print the folder of all models, or of an installed one.",
            discussion: """
                Examples:
                  voicegraph models path
                  voicegraph models path moonshine-base-en
                """)

        @Argument(help: "The name of a model.", completion: .models)
        var name: String?

        func run() throws {
            let store = ModelsCommand.store
            guard let name else {
                writeOut(store.folder + "\n")
                return
            }
            let model = try requireModels([name], in: store)[0]
            switch store.state(of: model) {
            case .installed, .outdated: writeOut(store.path(name) + "\n")
            case .damaged(let reason):
                throw fail("\(name) is damaged: \(reason); `voicegraph models install \(name)` replaces it")
            case .absent, .noBuild:
                throw fail("\(name) is not installed; `voicegraph models install \(name)` does that")
            }
        }
    }
}

/// The models of these names; one that there is not is told, with what may have been meant.
@discardableResult
private func requireModels(_ names: [String], in store: ModelStore) throws -> [Model] {
    try names.map { name in
        if let model = store.model(name) { return model }
        var suggester = Suggester()
        let hint = suggester.hint(
            name, among: store.catalogue.map(\.name), otherwise: "`voicegraph models list` lists all")
        throw fail("there is no model \(name); \(hint)")
    }
}

extension CompletionKind {
    /// The names of all models.
    static var models: CompletionKind { .list(Model.catalogue.map(\.name)) }
}
