// SPDX-License-Identifier: Apache-2.0
import CLilv
import NodeKit
import Synchronization

/// What a preset changes of a plugin that exists already.
struct LiveChange {
    /// What the plugin itself is to restore; nil: nothing.
    var state: PluginState?
    /// Values by place among the parameters.
    var values: [Int: Float]

    /// Adds a change that came later and goes before it.
    mutating func add(_ later: LiveChange) {
        if let state = later.state { self.state = state }
        values.merge(later.values) { $1 }
    }
}

/// What waits for its turn.
enum PendingChange {
    /// For a time at which the plugin has heard what it was told before and, where need be, is silent.
    case change(LiveChange)
    /// For the changes before it.
    case message(PatchMessage)
}

/// Changes while the plugin plays. What is asked for first is done first. [control]
extension PluginInstance {
    /// Turns a parameter: place, value, at once.
    typealias Turn = (Int, Float, Bool) -> Void

    /// Goes over to a preset. Parameters that may ramp do; a plugin that says that it can restores while it runs. All
    /// else is done while the output is faded to silence, with the `advance`s to come.
    func change(_ change: LiveChange, turn: Turn) {
        if !isActive, waiting.isEmpty, hasHeardAll { return apply(change, turn) }
        if case .change(var last)? = waiting.last {
            last.add(change)
            waiting[waiting.count - 1] = .change(last)
        } else {
            waiting.append(.change(change))
        }
        if isActive { advance(turn: turn) }
    }

    /// Takes what waits one step further; call it often.
    func advance(turn: Turn) {
        switch pause.pointee.stage.load(ordering: .acquiring) {
        case PauseStage.playing:
            while let first = waiting.first {
                switch first {
                case .message(let message):
                    guard push(message) else { return }
                    waiting.removeFirst()
                case .change(let change):
                    guard hasHeardAll else { return }
                    if let rest = changeSmoothly(change, turn) {
                        waiting[0] = .change(rest)
                        pause.pointee.stage.store(PauseStage.fadingOut, ordering: .releasing)
                        return
                    }
                    waiting.removeFirst()
                }
            }
        case PauseStage.held:
            // What it was told before may still be in work.
            guard worker.isIdle else { return }
            if case .change(let change)? = waiting.first {
                waiting.removeFirst()
                apply(change, turn)
            }
            if worker.isIdle { pause.pointee.stage.store(PauseStage.fadingIn, ordering: .releasing) }
        default: break
        }
    }

    /// Does what can be done while the plugin is heard; returns what cannot.
    private func changeSmoothly(_ wanted: LiveChange, _ turn: Turn) -> LiveChange? {
        var change = wanted
        if let state = change.state, info.restoresSafely {
            restore(state)
            change.state = nil
        }
        let isSmooth = change.values.allSatisfy { place, value in
            ports.layout.parameters[place].flags & UInt32(VG_PARAM_ABRUPT) == 0 || parameterValue(place) == value
        }
        guard change.state == nil, isSmooth else { return change }
        for (place, value) in change.values { turn(place, value, false) }
        return nil
    }

    /// Does what still waits, now that the plugin does not run, and ends the pause. What must come after a message stays.
    func settle(turn: Turn) {
        while hasHeardAll, case .change(let change)? = waiting.first {
            waiting.removeFirst()
            apply(change, turn)
            worker.finishWork()
        }
        pause.pointee.gain = 1
        pause.pointee.waited = false
        pause.pointee.stage.store(PauseStage.playing, ordering: .releasing)
    }

    /// Nothing of the plugin is heard.
    private func apply(_ change: LiveChange, _ turn: Turn) {
        if let state = change.state { restore(state) }
        for (place, value) in change.values { turn(place, value, true) }
    }

    /// Tells the plugin something with its next blocks.
    func send(_ message: PatchMessage) throws(NodeError) {
        guard patches != nil else { throw NodeError("\(info.name) takes no messages") }
        if waiting.isEmpty, push(message) { return }
        guard !waiting.isEmpty, waiting.count < Self.mostWaiting else {
            throw NodeError("too many messages to \(info.name) wait", hint: "try again when the graph runs")
        }
        waiting.append(.message(message))
    }

    private static var mostWaiting: Int { 256 }

    private func push(_ message: PatchMessage) -> Bool {
        guard let patches else { return false }
        return message.bytes.withUnsafeBytes { patches.ends.push($0.baseAddress, size: $0.count) }
    }

    /// Whether no message is still on its way to the plugin.
    private var hasHeardAll: Bool { patches?.ends.isEmpty ?? true }
}
