// SPDX-License-Identifier: Apache-2.0
import CLilv
import NodeKit
import Synchronization

/// How far a plugin is faded out, so that it can be changed in a way that would be heard.
///
/// The stages go round: `playing` and `held` are left by the control side, the other two by the audio thread, so that
/// each side owns what it touches.
enum PauseStage {
    /// As if there were no such thing.
    static var playing: UInt8 { @_noLocks get { 0 } }
    /// The output goes to silence, while the plugin runs on.
    static var fadingOut: UInt8 { @_noLocks get { 1 } }
    /// The plugin does not run and its output is silent: it may be changed.
    static var held: UInt8 { @_noLocks get { 2 } }
    /// The plugin runs again and its output comes back.
    static var fadingIn: UInt8 { @_noLocks get { 3 } }
}

/// The pause of one plugin, in memory that never moves.
struct PluginPause: ~Copyable {
    /// Of the cycle for which parameters and ports were looked at last; like this and the next, `vg_foreign_state`
    /// begins. [audio], and the control side while the plugin does not run
    var revision = noRevision
    /// One of `PauseStage`.
    let stage = Atomic<UInt8>(PauseStage.playing)
    /// What the output is multiplied by. [audio]
    var gain: Float = 1
    /// How much that changes in a frame.
    var step: Float
    /// Whether a block has gone by since the control side was done, so that what it asked of the engine before has
    /// arrived. [audio]
    var waited = false

    /// A plugin that plays; fades take 10 ms.
    init(rate: Double) { step = Float(100 / max(rate, 100)) }

    /// The same memory as the short way sees it.
    static func state(of pause: UnsafeMutablePointer<PluginPause>) -> UnsafeMutablePointer<vg_foreign_state> {
        UnsafeMutableRawPointer(pause).assumingMemoryBound(to: vg_foreign_state.self)
    }
}

/// One block of a plugin that is being changed. [audio]
@_noLocks
@inline(never)
func changingProcess(_ plugin: UnsafeMutablePointer<LV2Processor>, _ io: BlockIO, _ cycle: Cycle) {
    let pause = plugin.pointee.pause
    let stage = pause.pointee.stage.load(ordering: .acquiring)
    if stage == PauseStage.fadingOut {
        runPlugin(plugin, io, cycle)
        fade(plugin, io, cycle.pointee.frames, by: -pause.pointee.step)
        if pause.pointee.gain <= 0 { pause.pointee.stage.store(PauseStage.held, ordering: .releasing) }
    } else if stage == PauseStage.held || !pause.pointee.waited {
        pause.pointee.waited = stage == PauseStage.fadingIn
        holdStill(plugin, io, cycle.pointee.frames)
    } else {
        if pause.pointee.gain <= 0, let worker = plugin.pointee.extras?.pointee.worker { deliverWaiting(worker) }
        runPlugin(plugin, io, cycle)
        fade(plugin, io, cycle.pointee.frames, by: pause.pointee.step)
        if pause.pointee.gain >= 1 {
            pause.pointee.waited = false
            pause.pointee.stage.store(PauseStage.playing, ordering: .releasing)
        }
    }
}

@_noLocks
private func fade(
    _ plugin: UnsafeMutablePointer<LV2Processor>, _ io: BlockIO, _ frames: UInt32, by step: Float
) {
    let pause = plugin.pointee.pause
    let start = pause.pointee.gain
    var end = start
    let count = Int(io.pointee.audio_out_count)
    var output = 0
    repeat {
        var gain = start
        if output < count {
            let samples = io.pointee.audio_out[output].unsafelyUnwrapped
            var frame = 0
            while frame < Int(frames) {
                gain = max(0, min(1, gain + step))
                samples[frame] *= gain
                frame += 1
            }
        } else {
            gain = max(0, min(1, gain + step * Float(frames)))
        }
        end = gain
        output += 1
    } while output < count
    pause.pointee.gain = end
}

/// A block in which the plugin does not run. Notes are kept for its next one: a note that never ends is worse than one
/// that ends late.
@_noLocks
private func holdStill(_ plugin: UnsafeMutablePointer<LV2Processor>, _ io: BlockIO, _ frames: UInt32) {
    var index = 0
    while index < Int(io.pointee.audio_out_count) {
        vg_zero(io.pointee.audio_out[index].unsafelyUnwrapped, frames)
        io.pointee.audio_out_silent[index].unsafelyUnwrapped.pointee = 1
        index += 1
    }
    guard let extras = plugin.pointee.extras else { return }
    index = 0
    while index < extras.pointee.controlCount {
        io.pointee.control_out[index].unsafelyUnwrapped.pointee = extras.pointee.controls[index]
        index += 1
    }
    index = 0
    while index < extras.pointee.atomCount {
        let atom = extras.pointee.atoms[index]
        if atom.isInput, atom.midi >= 0 {
            if !extras.pointee.keepsEvents { atom.clear(extras.pointee.urids) }
            atom.append(io.pointee.midi_in[atom.midi].unsafelyUnwrapped, extras.pointee.urids, atStart: true)
        }
        index += 1
    }
    extras.pointee.keepsEvents = true
}
