// SPDX-License-Identifier: Apache-2.0
import CLilv
import NodeKit
import Synchronization

/// A parameter that is more than a copied number.
struct SpecialParameter: BitwiseCopyable {
    /// What the host knows better than the file, and gives itself.
    enum Source {
        case given, tempo, beatsPerBar, speed, frame, freeWheeling
    }

    let source: Source
    /// Place among the parameters.
    let index: Int
    /// Bounds at this sample rate.
    let minimum, maximum: Float
    /// Holds a new value for one block, then falls back to `rest`.
    let isTrigger: Bool
    let rest: Float
    /// What a trigger has in the first block.
    var first: Float
    var last: Float
}

/// All that the audio thread knows of a plugin. What it points to belongs to the instance and never moves.
struct LV2Processor: BitwiseCopyable {
    /// First: the way through a block in which nothing moved.
    var foreign: vg_foreign
    var code: vg_lv2_code
    /// Whether parameters hold until they move; otherwise they are written anew for every block.
    var holdsParameters: Bool
    /// Connected to the control inputs, in the order of the parameters, then to the control outputs.
    var values: UnsafeMutablePointer<Float>
    var parameterCount: Int
    var inputs, inputEnd: UnsafeMutablePointer<vg_foreign_port>
    var outputs, outputEnd: UnsafeMutablePointer<vg_foreign_port>
    /// What an ordinary effect does not have; nil: none of it.
    var extras: UnsafeMutablePointer<PluginExtras>?
    /// Whether the plugin is being changed.
    var pause: UnsafeMutablePointer<PluginPause>
}

/// The rarer things that a plugin may have.
struct PluginExtras: BitwiseCopyable {
    var urids: URIDs
    var specials: UnsafeMutablePointer<SpecialParameter>
    var specialCount: Int
    var atoms: UnsafeMutablePointer<AtomPort>
    var atomCount: Int
    /// Control outputs, at the end of `LV2Processor.values`.
    var controls: UnsafeMutablePointer<Float>
    var controlCount: Int
    /// Nil: the plugin has no worker.
    var worker: UnsafeMutablePointer<WorkerCore>?
    /// Place among the control outputs; negative: none.
    var latency: Int
    /// The latency last reported, for the control half.
    var latencyFrames: UnsafeMutablePointer<Atomic<UInt32>>
    var wantsTime: Bool
    /// What the plugin is to be told by message, one a block; nil: nothing.
    var patches: PacketRingEnds?
    /// Room for the message in hand.
    var patch: UnsafeMutableRawPointer
    /// Where what the plugin tells of its properties goes; nil: nobody listens.
    var answers: PacketRingEnds?
    /// The event inputs hold what came while the plugin did not run.
    var keepsEvents = false
    var transport = TransportMemory()
}
