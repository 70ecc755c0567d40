// SPDX-License-Identifier: Apache-2.0
import CLilv
import NodeKit

/// One block through a plugin. [audio]
///
/// The block is never split and never empty: a fifth of all plugins sounds different when its blocks are cut, and
/// some change their state in `run(0)`. A parameter that ramps has in this block the value it reaches at its end.
@_noLocks
func lv2Process(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let plugin = memory.assumingMemoryBound(to: LV2Processor.self)
    let frames = cycle.pointee.frames
    guard frames > 0 else { return }

    let ramps = io.pointee.parameters.unsafelyUnwrapped
    let values = plugin.pointee.values
    var index = 0
    while index < plugin.pointee.parameterCount {
        values[index] = vg_ramp_at(ramps + index, frames)
        index += 1
    }

    let inputs = plugin.pointee.inputs
    index = 0
    while index < plugin.pointee.inputCount {
        let buffer = io.pointee.audio_in[index].unsafelyUnwrapped
        if inputs[index].connected != buffer {
            inputs[index].connected = buffer
            vg_lv2_connect(&plugin.pointee.code, inputs[index].port, buffer)
        }
        index += 1
    }

    // Some plugins add to their outputs or leave them alone, so these are zeroed first.
    let outputs = plugin.pointee.outputs
    index = 0
    while index < plugin.pointee.outputCount {
        let buffer = io.pointee.audio_out[index].unsafelyUnwrapped
        if outputs[index].connected != buffer {
            outputs[index].connected = buffer
            vg_lv2_connect(&plugin.pointee.code, outputs[index].port, buffer)
        }
        vg_zero(buffer, frames)
        index += 1
    }

    guard let extras = plugin.pointee.extras else {
        vg_lv2_run(&plugin.pointee.code, frames)
        return
    }
    beforeRun(extras, values, io, cycle)
    vg_lv2_run(&plugin.pointee.code, frames)
    afterRun(extras, io, cycle)
}

@_noLocks
private func beforeRun(
    _ extras: UnsafeMutablePointer<PluginExtras>, _ values: UnsafeMutablePointer<Float>, _ io: BlockIO, _ cycle: Cycle
) {
    var index = 0
    while index < extras.pointee.specialCount {
        let special = extras.pointee.specials + index
        let place = special.pointee.index
        let given = values[place]
        if special.pointee.isTrigger, given == special.pointee.last {
            values[place] = special.pointee.rest
        } else {
            values[place] = max(special.pointee.minimum, min(given, special.pointee.maximum))
        }
        special.pointee.last = given
        index += 1
    }

    let tellTime = extras.pointee.wantsTime && extras.pointee.transport.changes(cycle)
    index = 0
    while index < extras.pointee.atomCount {
        let atom = extras.pointee.atoms[index]
        if atom.isInput {
            atom.clear(extras.pointee.urids)
            if tellTime, atom.wantsTime { _ = atom.appendPosition(cycle.pointee.transport, extras.pointee.urids) }
            if atom.midi >= 0 {
                atom.append(io.pointee.midi_in[atom.midi].unsafelyUnwrapped, extras.pointee.urids)
            }
        } else {
            atom.offer(extras.pointee.urids)
        }
        index += 1
    }
}

@_noLocks
private func afterRun(_ extras: UnsafeMutablePointer<PluginExtras>, _ io: BlockIO, _ cycle: Cycle) {
    if let worker = extras.pointee.worker { deliverResponses(worker) }

    var index = 0
    while index < extras.pointee.atomCount {
        let atom = extras.pointee.atoms[index]
        if !atom.isInput, atom.midi >= 0 {
            let midi = io.pointee.midi_out[atom.midi].unsafelyUnwrapped
            atom.read(into: midi, frames: cycle.pointee.frames, extras.pointee.urids)
        }
        index += 1
    }

    index = 0
    while index < extras.pointee.controlCount {
        io.pointee.control_out[index].unsafelyUnwrapped.pointee = extras.pointee.controls[index]
        index += 1
    }

    if extras.pointee.latency >= 0 { followLatency(extras, io, cycle) }
}

/// Tells the host when the plugin's latency is not what it was.
@_noLocks
private func followLatency(_ extras: UnsafeMutablePointer<PluginExtras>, _ io: BlockIO, _ cycle: Cycle) {
    let reported = extras.pointee.controls[extras.pointee.latency]
    let frames = latencyFrames(reported)
    guard frames != extras.pointee.latencyFrames.pointee.load(ordering: .relaxed) else { return }
    extras.pointee.latencyFrames.pointee.store(frames, ordering: .releasing)
    _ = vg_note_push(io, VG_NOTE_LATENCY, nil, Double(frames), cycle.pointee.position)
}

/// A latency port's value in whole frames; nonsense counts as none. [audio]
@_noLocks
func latencyFrames(_ value: Float) -> UInt32 {
    value >= 0.5 && value < 1e8 ? UInt32(value + 0.5) : 0
}
