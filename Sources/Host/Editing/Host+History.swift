// SPDX-License-Identifier: Apache-2.0
import Config
import GraphFile
import NodeKit
import Realtime

/// What is turned by the names that people use, and live edits that are taken back.
extension Host {
    /// Turns a parameter, or changes a live setting: `name` is a key or a label, `value` a number, a switch, the label of
    /// one of the parameter's points or a number with its unit, as in a file. Returns what it was set to.
    @discardableResult
    public func turn(
        _ node: String, _ name: String, to value: SettingValue, at time: Double? = nil
    ) async throws -> SettingValue {
        let settings = try graph().instance(node).declarations.settings
        if let setting = settings.first(where: { $0.key == name }), setting.isLive {
            guard time == nil else {
                throw Fault("'\(name)' is a setting", hint: "only parameters begin to move at a time")
            }
            var value = value
            if setting.kind == VG_SET_BOOL, case .string(let word) = value, ["on", "off"].contains(word.lowercased()) {
                value = .bool(word.lowercased() == "on")
            }
            try await change(node, name, to: value)
            return value
        }
        let (key, number) = try graph().parameter(node, name, for: value)
        try set(node, key, to: number, at: time)
        return .number(Double(number.description) ?? Double(number))
    }

    /// What `turn` sets, remembered for `undo`.
    func remember(_ node: String, _ key: String, was: Float) {
        let place = EditHistory.Place(node: node, key: key)
        history.add(EditHistory.Step(title: "set \(node).\(key)", before: nil, values: [place: was]))
    }

    /// Takes back the last live edit: a link, a node, a switch, a parameter that was turned, a reload. Returns what it was,
    /// and what that did.
    @discardableResult
    public func undo() async throws -> (step: String, difference: GraphDifference) { try await go(.back) }

    /// Does again what `undo` took back last.
    @discardableResult
    public func redo() async throws -> (step: String, difference: GraphDifference) { try await go(.again) }

    /// Of several calls at once each goes a step of its own, after the edits that were asked for before.
    private func go(_ way: EditHistory.Way) async throws -> (step: String, difference: GraphDifference) {
        try await Author.$current.withValue(way.author) { try await goStep(way) }
    }

    private func goStep(_ way: EditHistory.Way) async throws -> (step: String, difference: GraphDifference) {
        let asked = vg_ticks()
        let (step, edited) = try await afterOthers { try await self.step(way, asked) }
        var difference = GraphDifference()
        if let edited {
            difference = try await settle(edited, warns: true)
            // A node that had no link then is no mistake now.
            difference.warnings.removeAll { fault in
                edited.after.nodes.contains { $0.isUnlinkedText == fault.message }
            }
        }
        difference.parameters += step.values.count
        return (step.title, difference)
    }

    /// Makes the graph what it was before a step, which leads back then.
    private func step(_ way: EditHistory.Way, _ asked: UInt64) async throws -> (EditHistory.Step, Edited?) {
        guard let step = history.take(way) else {
            switch way {
            case .back:
                throw Fault("there is nothing to take back", hint: "nothing was changed since the run began")
            case .again: throw Fault("there is nothing to do again", hint: "only what was taken back can be")
            }
        }
        var inverse = step
        inverse.values = [:]
        var edited: Edited?
        if let before = step.before {
            do { edited = try await perform(false, asked) { $0 = before } } catch {
                history.put(step, way)
                throw error
            }
            inverse.before = edited?.back
        }
        for (place, value) in step.values {
            // The node may be of another type by now.
            guard let was = try? self.value(place.node, place.key) else { continue }
            inverse.values[place] = was
            try graph().set(place.node, place.key, to: value)
        }
        history.put(inverse, way.opposite)
        return (inverse, edited)
    }

    /// A graph before a change, in which the nodes that the change has ended have the values of their parameters.
    static func described(
        _ before: GraphDescription, ended: [String], as live: GraphDescription, without fading: Set<String>
    ) -> GraphDescription {
        var before = before
        before.nodes.removeAll { fading.contains($0.name) }
        before.links.removeAll { fading.contains($0.from.node) || fading.contains($0.to.node) }
        for index in before.nodes.indices where ended.contains(before.nodes[index].name) {
            if let node = live.nodes.first(where: { $0.name == before.nodes[index].name }) {
                before.nodes[index] = node
            }
        }
        return before
    }

    /// The graph as it plays, as the text of a file in `folder`, by default where its own file lies, with the comments of
    /// that. [any]
    public func text(in folder: String? = nil) throws -> String {
        let graph = try graph()
        var description = graph.liveDescription(without: fading)
        if let folder, !isSameFolder(folder, description.baseFolder) {
            for index in description.nodes.indices {
                let node = description.nodes[index]
                let instance = graph.nodes.first { $0.name == node.name }
                description.nodes[index].takeAlong(description.baseFolder, instance?.declarations.settings ?? [])
            }
        }
        return GraphText.text(of: description, from: source?.path, in: folder)
    }
}
