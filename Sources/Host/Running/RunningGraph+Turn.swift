// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import GraphFile
import NodeKit
import System

/// How parameters are turned, and how what was turned or switched is told.
extension RunningGraph {
    /// Turns a parameter. Calls, undo and files that are read again lead here. What a node turns of itself goes the same
    /// way, which `activate` gives it. False: the node does not run, or the queue is full. [control]
    func turn(
        _ node: NodeInstance, _ index: Int, to value: Float, at position: UInt64 = 0, by author: String
    ) -> Bool {
        turned.turn(node, index, to: value, at: position, by: author, with: engine)
    }

    /// Turns what a change of the graph turns. What the queue has no room for waits until the audio thread has taken the
    /// rest. Where it takes nothing for a second, that is told. [control]
    func turn(_ values: [ParameterValue], by author: String) {
        let playing = Set((engine.schedule?.nodes ?? []).map { ObjectIdentifier($0) })
        var late: [String: Int] = [:]
        var deadline = monotonicSeconds() + 1
        for wanted in values where wanted.instance.value(wanted.index) != wanted.value {
            guard playing.contains(ObjectIdentifier(wanted.instance)) else { continue }
            var isDone = turn(wanted.instance, wanted.index, to: wanted.value, by: author)
            while !isDone, !isDriven, monotonicSeconds() < deadline {
                usleep(1000)
                isDone = turn(wanted.instance, wanted.index, to: wanted.value, by: author)
                if isDone { deadline = monotonicSeconds() + 1 }
            }
            if !isDone { late[wanted.instance.name, default: 0] += 1 }
        }
        for (name, count) in late.sorted(by: { $0.key < $1.key }) {
            let text =
                "\(count) of its parameters could not be set: the audio is not called, or too much changes at once"
            tell(HostEvent.log, node: name, ["text": .string(text), "level": .string("warning")])
        }
    }

    /// Publishes what was turned and is due, or `all` of it. In a round.
    func tellTurned(all: Bool = false) {
        guard turned.hasNews else { return }
        let nodes = state.withLock(\.nodes)
        let byNumber = Dictionary(nodes.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        // An offline run is told by its own time, so that every run is told the same.
        let now = isDriven ? time.now : monotonicSeconds()
        let news = turned.take(at: now, all: all) { place in
            guard let node = byNumber[place.node] else { return .none }
            switch place {
            case .parameter(_, let index): return .value(SettingValue(node.value(index)))
            case .setting: return .value(nil)
            }
        }
        for one in news {
            guard let node = byNumber[one.place.node] else { continue }
            bus.publish(.event(event(one, of: node)))
        }
    }

    private func event(_ news: TurnedValues.News, of node: NodeInstance) -> Event {
        var fields: [String: SettingValue] = ["by": .string(news.by)]
        fields["value"] = news.value
        switch news.place {
        case .parameter(_, let index):
            fields["parameter"] = .string(node.parameters[index].key)
            var event = time.event(HostEvent.parameterChanged, node: node.name, fields: fields)
            event.isRetained = !news.isTrigger
            return event
        case .setting(_, let key):
            fields["setting"] = .string(key)
            return time.event(HostEvent.settingChanged, node: node.name, fields: fields)
        }
    }

    /// Publishes how the switches of nodes stand that were switched. [any]
    func tell(switched names: some Sequence<String>, by author: String) {
        let nodes = state.withLock { $0.description.nodes }
        for name in names.sorted() {
            guard let node = nodes.first(where: { $0.name == name }) else { continue }
            tell(
                HostEvent.switched, node: name,
                ["mute": .bool(node.mute), "bypass": .bool(node.bypass), "by": .string(author)])
        }
    }

    /// A node has taken a live setting, from what one description says to what the other says. [any]
    func mark(
        _ setting: String, of name: String, from before: GraphDescription, to after: GraphDescription, by author: String
    ) {
        guard let node = nodes.first(where: { $0.name == name }) else { return }
        turned.mark(
            setting, of: node, was: before.shown(setting, of: node), is: after.shown(setting, of: node), by: author)
    }

    /// Forgets what was told of what nodes had that are gone, also where there is another of that name: it has what it
    /// began with. Not from a round: what a round tells of them comes before this or not at all. [control]
    func forgetTurned(_ gone: [NodeInstance]) {
        guard !gone.isEmpty else { return }
        round.locked {
            turned.forget(Set(gone.map(\.number)))
            for node in gone {
                bus.forget(node.name, [HostEvent.parameterChanged.name, HostEvent.settingChanged.name])
            }
        }
    }
}

extension GraphDescription {
    /// What a live setting of a node is, for whoever looks; nil: it has no value.
    fileprivate func shown(_ setting: String, of node: NodeInstance) -> SettingValue? {
        nodes.first { $0.name == node.name }?.entries[setting]?.shown
            ?? node.declarations.settings.first { $0.key == setting }?.defaultValue
    }
}
