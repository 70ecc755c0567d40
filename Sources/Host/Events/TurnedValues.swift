// SPDX-License-Identifier: Apache-2.0
import Graph
import GraphFile
import NodeKit
import System

/// What was turned and is to be told. Whoever turns something leaves a mark here, on any thread but the audio thread.
/// The pump takes what is due, of each parameter and live setting the newest value. There is at most one mark for each
/// that the nodes have.
final class TurnedValues: Sendable {
    /// A parameter by its place, or a live setting by its key, of a node by its number.
    enum Place: Hashable, Sendable {
        case parameter(UInt32, Int)
        case setting(UInt32, String)

        var node: UInt32 {
            switch self {
            case .parameter(let node, _), .setting(let node, _): node
            }
        }
    }

    /// What a place has now.
    enum Reading {
        /// The node is gone.
        case none
        /// A setting may have no value, and is not read.
        case value(SettingValue?)
    }

    /// A value that is to be told.
    struct News: Sendable {
        var place: Place
        var value: SettingValue?
        var by: String
        /// Whether it falls back by itself, so that it is no state.
        var isTrigger: Bool
    }

    /// What was turned since it was told.
    private struct Mark {
        var by: String
        /// What a trigger was set to.
        var fired: Float?
        /// What it was set to; a parameter is told as it is by then.
        var taken: SettingValue?
        /// Marks are told in their order.
        var number: Int
    }

    private struct Entry {
        var toldAt = -Double.infinity
        var mark: Mark?
    }

    private struct State {
        var entries: [Place: Entry] = [:]
        var marked: Set<Place> = []
        var count = 0
    }

    private let state = Lock(State())

    /// So many seconds lie between two events of one place: in rounds of a sixtieth of a second, thirty a second.
    static let pause = 0.03

    /// Turns a parameter by `engine`, and marks it. False: the engine does not take it; nothing is marked. [control]
    func turn(
        _ node: NodeInstance, _ index: Int, to value: Float, atOnce: Bool = false, at position: UInt64 = 0,
        by author: String, with engine: Engine
    ) -> Bool {
        guard node.parameters.indices.contains(index) else { return false }
        let parameter = node.parameters[index]
        // Under the lock, so that what it was belongs to what it is.
        return state.withLock { state in
            let was = SettingValue(node.value(index))
            guard engine.set(node, parameter: index, to: value, atOnce: atOnce, at: position) else { return false }
            let now = SettingValue(node.value(index))
            let fired = min(max(value, parameter.range.lowerBound), parameter.range.upperBound)
            Self.mark(
                .parameter(node.number, index), in: &state, was: was, is: now, by: author,
                fired: parameter.isTrigger ? fired : nil)
            return true
        }
    }

    /// A node has taken a live setting that was `was`. Nil: it has no value. [any]
    func mark(_ setting: String, of node: NodeInstance, was: SettingValue?, is taken: SettingValue?, by author: String)
    {
        state.withLock { state in
            Self.mark(.setting(node.number, setting), in: &state, was: was, is: taken, by: author, fired: nil)
        }
    }

    private static func mark(
        _ place: Place, in state: inout State, was: SettingValue?, is now: SettingValue?, by author: String,
        fired: Float?
    ) {
        // What is turned back is told, too: whoever has turned it must learn that it is no more what they set.
        guard fired != nil || now != was else { return }
        state.count += 1
        state.entries[place, default: Entry()].mark = Mark(by: author, fired: fired, taken: now, number: state.count)
        state.marked.insert(place)
    }

    /// Whether anything waits to be told. [any]
    var hasNews: Bool { state.withLock { !$0.marked.isEmpty } }

    /// Takes what is due at a time in seconds, oldest first, or `all` that waits. `reading` gives what a parameter has, or
    /// that a node is there. [control]
    func take(at now: Double, all: Bool = false, reading: (Place) -> Reading) -> [News] {
        state.withLock { state in
            var found: [(number: Int, news: News)] = []
            for place in state.marked {
                guard var entry = state.entries[place], let mark = entry.mark else { continue }
                guard all || now - entry.toldAt >= Self.pause else { continue }
                state.marked.remove(place)
                guard case .value(let value) = reading(place) else {
                    state.entries[place] = nil
                    continue
                }
                (entry.mark, entry.toldAt) = (nil, now)
                state.entries[place] = entry
                var told = mark.fired.map { SettingValue($0) } ?? value
                if case .setting = place { told = mark.taken }
                let news = News(place: place, value: told, by: mark.by, isTrigger: mark.fired != nil)
                found.append((mark.number, news))
            }
            return found.sorted { $0.number < $1.number }.map(\.news)
        }
    }

    /// Forgets all of these nodes, which are gone. [control]
    func forget(_ nodes: Set<UInt32>) {
        state.withLock { state in
            state.entries = state.entries.filter { !nodes.contains($0.key.node) }
            state.marked = state.marked.filter { !nodes.contains($0.node) }
        }
    }

    /// Places of which anything is known. [any]
    var count: Int { state.withLock { $0.entries.count } }
}
