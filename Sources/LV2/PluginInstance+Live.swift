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

/// Changes while the plugin plays. [control]
extension PluginInstance {
    /// Turns a parameter: place, value, at once.
    typealias Turn = (Int, Float, Bool) -> Void

    /// Goes over to a preset. Parameters that may ramp do; a plugin that says that it can restores while it runs. All
    /// else is done while the output is faded to silence, with the `advance`s to come.
    func change(_ change: LiveChange, turn: Turn) {
        guard isActive else { return apply(change, turn) }
        var change = change
        if let state = change.state, info.restoresSafely {
            restore(state)
            change.state = nil
        }
        let isSmooth = change.values.allSatisfy { place, value in
            ports.layout.parameters[place].flags & UInt32(VG_PARAM_ABRUPT) == 0 || parameterValue(place) == value
        }
        if change.state == nil, isSmooth, waiting == nil, pause.pointee.stage.load(ordering: .acquiring) == 0 {
            for (place, value) in change.values { turn(place, value, false) }
        } else {
            if waiting?.add(change) == nil { waiting = change }
            advance(turn: turn)
        }
    }

    /// Takes what waits one step further; call it often.
    func advance(turn: Turn) {
        switch pause.pointee.stage.load(ordering: .acquiring) {
        case PauseStage.playing:
            if waiting != nil { pause.pointee.stage.store(PauseStage.fadingOut, ordering: .releasing) }
        case PauseStage.held:
            if let change = waiting.take() { apply(change, turn) }
            if worker.isIdle { pause.pointee.stage.store(PauseStage.fadingIn, ordering: .releasing) }
        default: break
        }
    }

    /// Does what still waits, now that the plugin does not run, and ends the pause.
    func settle(turn: Turn) {
        if let change = waiting.take() {
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
        guard let patches else { throw NodeError("\(info.name) takes no messages") }
        guard message.bytes.withUnsafeBytes({ patches.ends.push($0.baseAddress, size: $0.count) }) else {
            throw NodeError("too many messages to \(info.name) wait", hint: "try again when the graph runs")
        }
    }
}
