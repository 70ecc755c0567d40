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
    guard cycle.pointee.frames > 0 else { return }
    if plugin.pointee.pause.pointee.stage.load(ordering: .acquiring) != PauseStage.playing {
        return changingProcess(plugin, io, cycle)
    }
    runPlugin(plugin, io, cycle)
}

/// The block itself. [audio]
@_noLocks
@inline(__always)
func runPlugin(_ plugin: UnsafeMutablePointer<LV2Processor>, _ io: BlockIO, _ cycle: Cycle) {
    let frames = cycle.pointee.frames
    let revision = cycle.pointee.revision
    let pause = plugin.pointee.pause
    if pause.pointee.revision == revision {
        zeroOutputs(plugin, frames)
    } else {
        feedParameters(plugin, io, frames)
        connectPorts(plugin, io)
        zeroOutputs(plugin, frames)
        let holds = plugin.pointee.holdsParameters && revision != 0
        pause.pointee.revision = holds ? revision : noRevision
    }
    guard let extras = plugin.pointee.extras else {
        vg_lv2_run(&plugin.pointee.code, frames)
        return
    }
    setSpecials(extras, plugin.pointee.values, io.pointee.parameters, cycle)
    beforeRun(extras, io, cycle)
    vg_lv2_run(&plugin.pointee.code, frames)
    afterRun(extras, io, cycle)
}

/// The revision of no cycle.
var noRevision: UInt64 { @_noLocks get { .max } }

/// Sets the control inputs.
@_noLocks
@inline(__always)
private func feedParameters(_ plugin: UnsafeMutablePointer<LV2Processor>, _ io: BlockIO, _ frames: UInt32) {
    guard plugin.pointee.parameterCount > 0 else { return }
    var ramp = io.pointee.parameters.unsafelyUnwrapped
    var value = plugin.pointee.values
    let end = value + plugin.pointee.parameterCount
    repeat {
        value.pointee = vg_ramp_at(ramp, frames)
        value += 1
        ramp += 1
    } while value != end
}

/// Connects the audio ports whose buffers lie elsewhere than before.
@_noLocks
@inline(__always)
private func connectPorts(_ plugin: UnsafeMutablePointer<LV2Processor>, _ io: BlockIO) {
    // Pointers are read once here: a call into the plugin would make the compiler read them again.
    var port = plugin.pointee.inputs
    let inputEnd = plugin.pointee.inputEnd
    if port != inputEnd {
        var buffer = io.pointee.audio_in.unsafelyUnwrapped
        repeat {
            if port.pointee.connected != buffer.pointee.unsafelyUnwrapped { reconnect(plugin, port, buffer.pointee) }
            port += 1
            buffer += 1
        } while port != inputEnd
    }
    port = plugin.pointee.outputs
    let outputEnd = plugin.pointee.outputEnd
    if port != outputEnd {
        var buffer = io.pointee.audio_out.unsafelyUnwrapped
        repeat {
            if port.pointee.connected != buffer.pointee.unsafelyUnwrapped { reconnect(plugin, port, buffer.pointee) }
            port += 1
            buffer += 1
        } while port != outputEnd
    }
}

/// Some plugins add to their outputs or leave them alone.
@_noLocks
@inline(__always)
private func zeroOutputs(_ plugin: UnsafeMutablePointer<LV2Processor>, _ frames: UInt32) {
    var port = plugin.pointee.outputs
    let end = plugin.pointee.outputEnd
    while port != end {
        vg_zero(port.pointee.connected, frames)
        port += 1
    }
}

/// Apart from the loops, which seldom need it.
@_noLocks
@inline(never)
private func reconnect(
    _ plugin: UnsafeMutablePointer<LV2Processor>, _ port: UnsafeMutablePointer<vg_foreign_port>,
    _ samples: UnsafeMutablePointer<Float>?
) {
    port.pointee.connected = samples.unsafelyUnwrapped
    vg_lv2_connect(&plugin.pointee.code, port.pointee.port, samples)
}

/// Brings the parameters that are more than copied numbers to what the plugin is to see. Without `ramps` no trigger
/// fires. [audio]
@_noLocks
func setSpecials(
    _ extras: UnsafeMutablePointer<PluginExtras>, _ values: UnsafeMutablePointer<Float>,
    _ ramps: UnsafePointer<vg_ramp>?, _ cycle: Cycle
) {
    var index = 0
    while index < extras.pointee.specialCount {
        let special = extras.pointee.specials + index
        let place = special.pointee.index
        var given = values[place]
        if special.pointee.isTrigger {
            given = fired(special, given, ramps.map { $0 + place })
        } else {
            given = known(special.pointee.source, given, cycle)
        }
        values[place] = max(special.pointee.minimum, min(given, special.pointee.maximum))
        index += 1
    }
}

/// What a trigger has in this block: a value that it was set to, or that the control it follows has come to; else its
/// default.
@_noLocks
private func fired(
    _ trigger: UnsafeMutablePointer<SpecialParameter>, _ given: Float, _ ramp: UnsafePointer<vg_ramp>?
) -> Float {
    let rest = trigger.pointee.rest
    guard let ramp else { return rest }
    if trigger.pointee.first != rest {
        let first = trigger.pointee.first
        trigger.pointee.first = rest
        return first
    }
    let isSet = ramp.pointee.length == .max
    let isNew = given != trigger.pointee.last
    trigger.pointee.last = isSet ? rest : given
    return isSet || isNew ? given : rest
}

@_noLocks
private func beforeRun(_ extras: UnsafeMutablePointer<PluginExtras>, _ io: BlockIO, _ cycle: Cycle) {
    var patched = false
    let tellTime = extras.pointee.wantsTime && extras.pointee.transport.changes(cycle)
    var index = 0
    while index < extras.pointee.atomCount {
        let atom = extras.pointee.atoms[index]
        if atom.isInput {
            if atom.midi < 0 || !extras.pointee.keepsEvents { atom.clear(extras.pointee.urids) }
            if tellTime, atom.wantsTime { _ = atom.appendPosition(cycle.pointee.transport, extras.pointee.urids) }
            if atom.takesPatches, !patched, let patches = extras.pointee.patches {
                patched = true
                atom.appendPatch(patches, extras.pointee.patch, extras.pointee.urids)
            }
            if atom.midi >= 0 {
                atom.append(io.pointee.midi_in[atom.midi].unsafelyUnwrapped, extras.pointee.urids)
            }
        } else {
            atom.offer(extras.pointee.urids)
        }
        index += 1
    }
    extras.pointee.keepsEvents = false
}

/// The value of a parameter that the host sets, or else `given`.
@_noLocks
func known(_ source: SpecialParameter.Source, _ given: Float, _ cycle: Cycle) -> Float {
    let transport = cycle.pointee.transport
    switch source {
    case .given: return given
    case .tempo: return transport.bpm > 0 ? Float(transport.bpm) : given
    case .beatsPerBar: return transport.beats_per_bar > 0 ? Float(transport.beats_per_bar) : given
    case .speed: return transport.rolling ? 1 : 0
    case .frame: return Float(transport.frame)
    case .freeWheeling: return cycle.pointee.flags & UInt32(VG_CYCLE_OFFLINE | VG_CYCLE_FREEWHEEL) != 0 ? 1 : 0
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
        if atom.tellsPatches, let answers = extras.pointee.answers { atom.tell(answers, extras.pointee.urids) }
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
    _ = vg_notice_push(io, VG_NOTICE_LATENCY, nil, Double(frames), cycle.pointee.position)
}

/// A latency port's value in whole frames; nonsense counts as none. [audio]
@_noLocks
func latencyFrames(_ value: Float) -> UInt32 {
    value >= 0.5 && value < 1e8 ? UInt32(value + 0.5) : 0
}
