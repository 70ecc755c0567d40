// SPDX-License-Identifier: Apache-2.0
import JSON
import ModelStore

/// Models as text.
enum ModelsText {
    /// For people: two lines a model, or three.
    static func table(_ states: [(Model, ModelState)], _ store: ModelStore) -> String {
        let width = (states.map(\.0.name.count) + store.others.map(\.count)).max() ?? 0
        func pad(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        var text = ""
        for (model, state) in states {
            let size = model.wheel(for: store.machine).map { "\(megabytes($0.installedSize)) MB" } ?? ""
            text += pad(model.name, width + 2) + pad(word(state), 15) + pad(model.version, 8)
            text += String(repeating: " ", count: max(0, 9 - size.count)) + size + "  \(model.licence)\n"
            text += "  \(model.purpose)\n"
            if model.readySize > 0 {
                text += "  takes another \(megabytes(model.readySize)) MB from its first use on\n"
            }
            if let more = explanation(state, store) { text += "  \(more)\n" }
        }
        for name in store.others { text += pad(name, width + 2) + "your own\n" }
        return text + "Installed models are in \(store.folder).\n"
    }

    /// For programs: an object a line.
    static func json(_ states: [(Model, ModelState)], _ store: ModelStore) -> String {
        states.map { model, state in
            let wheel = model.wheel(for: store.machine)
            func bytes(_ size: Int?) -> JSON { size.map { .integer(Int64($0)) } ?? .null }
            var fields: [String: JSON] = [
                "name": .string(model.name), "purpose": .string(model.purpose), "version": .string(model.version),
                "licence": .string(model.licence), "needs": .list(model.needs.map { .string($0) }),
                "state": .string(key(state)), "installed": .bool(isThere(state)),
                "size": bytes(wheel?.installedSize), "download_size": bytes(wheel?.size),
                "ready_size": .integer(Int64(model.readySize)),
                "package": wheel.map { .string($0.requirement) } ?? .null,
                "path": isThere(state) ? .string(store.path(model.name)) : .null,
            ]
            switch state {
            case .damaged(let reason): fields["reason"] = .string(reason)
            case .outdated(let version): fields["installed_version"] = .string(version)
            default: break
            }
            return JSON.object(fields).text + "\n"
        }.joined()
            + store.others.map { name in
                let fields: [String: JSON] = [
                    "name": .string(name), "state": .string("own"), "installed": .bool(true),
                    "path": .string(store.path(name)),
                ]
                return JSON.object(fields).text + "\n"
            }.joined()
    }

    private static func isThere(_ state: ModelState) -> Bool {
        switch state {
        case .installed, .outdated: true
        case .absent, .noBuild, .damaged: false
        }
    }

    private static func key(_ state: ModelState) -> String {
        switch state {
        case .absent: "absent"
        case .noBuild: "no-build"
        case .installed: "installed"
        case .outdated: "outdated"
        case .damaged: "damaged"
        }
    }

    private static func word(_ state: ModelState) -> String {
        switch state {
        case .absent: "not installed"
        case .noBuild: "unavailable"
        case .installed: "installed"
        case .outdated: "outdated"
        case .damaged: "damaged"
        }
    }

    private static func explanation(_ state: ModelState, _ store: ModelStore) -> String? {
        switch state {
        case .absent, .installed: nil
        case .noBuild: "there is no package of it for this machine (\(store.machine))"
        case .outdated(let version): "version \(version) is installed; `models install` replaces it"
        case .damaged(let reason): "\(reason); `models install` replaces it"
        }
    }
}
