// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Every node type that needs no library, in the order in which `voicegraph nodes` lists them. Made once and never
/// freed. [control]
public var builtInNodeTypes: [UnsafePointer<vg_node_type>] { cachedTypes.list }

private struct TypeList: @unchecked Sendable {
    // Sendable: written once, before anyone can see it.
    let list: [UnsafePointer<vg_node_type>]
}

private let cachedTypes = TypeList(list: [
    makeNodeType(Input.self), makeNodeType(Output.self), makeNodeType(MIDIInput.self), makeNodeType(MIDIOutput.self),
    makeNodeType(Gain.self), makeNodeType(Mix.self), makeNodeType(Pan.self), makeNodeType(Mute.self),
    makeNodeType(Delay.self), makeNodeType(Tone.self), makeNodeType(Meter.self), makeNodeType(Visualizer.self),
    makeNodeType(Tap.self),
    makeNodeType(Filter.self), makeNodeType(Equalizer.self), makeNodeType(LFO.self), makeNodeType(Follower.self),
    makeNodeType(Balance.self), makeNodeType(Polarity.self), makeNodeType(Downmix.self),
    makeNodeType(Gate.self), makeNodeType(Deesser.self), makeNodeType(Compressor.self), makeNodeType(Limiter.self),
    makeNodeType(Duck.self), makeNodeType(Switch.self),
])
