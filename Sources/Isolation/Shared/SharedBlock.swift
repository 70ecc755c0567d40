// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import NodeKit
import Realtime
import Synchronization

/// How many of everything a node has, which decides what its shared memory looks like.
struct BlockShape: Equatable, Sendable {
    var audioInputs = 0
    var audioOutputs = 0
    var controlInputs = 0
    var controlOutputs = 0
    var midiInputs = 0
    var midiOutputs = 0
    var parameters = 0
    /// Frames.
    var maxBlock: Int

    init(_ ports: [Port], parameters: Int, maxBlock: Int) {
        func count(_ kind: vg_port_kind, _ direction: vg_direction) -> Int {
            ports.count { $0.kind == kind && $0.direction == direction }
        }
        audioInputs = count(VG_AUDIO_PORT, VG_INPUT)
        audioOutputs = count(VG_AUDIO_PORT, VG_OUTPUT)
        controlInputs = count(VG_CONTROL_PORT, VG_INPUT)
        controlOutputs = count(VG_CONTROL_PORT, VG_OUTPUT)
        midiInputs = count(VG_MIDI_PORT, VG_INPUT)
        midiOutputs = count(VG_MIDI_PORT, VG_OUTPUT)
        self.parameters = parameters
        self.maxBlock = maxBlock
    }
}

/// A number that both processes read and write.
typealias SharedWord = UnsafeMutablePointer<Atomic<UInt32>>

/// One block on its way from the host's audio thread to a child's and back: the two words by which each tells the other
/// what it has done, and everything that `vg_io` and `vg_cycle` hold. The same layout on both sides, each with its own
/// addresses. What the child wrote is checked before the host uses it as a count or a place.
///
/// `request` counts the blocks that were asked for. `response` is the number of the last one that was done. With
/// `failed` set in it there is no child that would do any, until a new one copies `request` to `response` and so begins
/// anew.
struct SharedBlock: BitwiseCopyable {
    /// In `response`: there is no child that would answer.
    static var failed: UInt32 {
        @_noLocks @inline(__always) get { 1 << 31 }
    }
    /// As many as a buffer of the schedule holds.
    static var midiEvents: Int {
        @_noLocks @inline(__always) get { MIDILimits.events }
    }
    static var midiBytes: Int {
        @_noLocks @inline(__always) get { MIDILimits.bytes }
    }
    private static let line = 128

    let request: SharedWord
    let response: SharedWord
    /// 1 while the node processes: where the child was when it ended.
    let inside: SharedWord
    /// The kernel's id of the child's audio thread; 0: there is none yet.
    let thread: SharedWord
    /// Frames; changes as the node's does.
    let latency: SharedWord
    let cycle: UnsafeMutablePointer<vg_cycle>
    let ramps: UnsafeMutablePointer<vg_ramp>
    let controlInputs, controlOutputs: UnsafeMutablePointer<Float>
    let silentInputs, silentOutputs: UnsafeMutablePointer<UInt8>
    private let audioInputs, audioOutputs: UnsafeMutablePointer<Float>
    private let midiInputs, midiOutputs: UnsafeMutableRawPointer
    /// Floats from one channel to the next.
    private let stride: Int

    /// Bytes that a block of this shape takes.
    static func size(_ shape: BlockShape) -> Int {
        // Only the size is computed here, so any address will do.
        let plan = Plan(shape, UnsafeMutableRawPointer(bitPattern: line)!)
        _ = SharedBlock(plan)
        return plan.offset
    }

    /// Looks at memory of `size(shape)` bytes, which begins as zeros.
    init(_ shape: BlockShape, at base: UnsafeMutableRawPointer) { self.init(Plan(shape, base)) }

    private init(_ plan: Plan) {
        // Channels begin at addresses that are aligned for any vector instruction.
        let stride = (plan.shape.maxBlock + 31) / 32 * 32
        request = plan.next(1)
        response = plan.next(1)
        inside = plan.next(1)
        thread = plan.next(1)
        latency = plan.next(1)
        cycle = plan.next(1)
        ramps = plan.next(plan.shape.parameters)
        controlInputs = plan.next(plan.shape.controlInputs)
        controlOutputs = plan.next(plan.shape.controlOutputs)
        silentInputs = plan.next(plan.shape.audioInputs)
        silentOutputs = plan.next(plan.shape.audioOutputs)
        audioInputs = plan.next(plan.shape.audioInputs * stride)
        audioOutputs = plan.next(plan.shape.audioOutputs * stride)
        midiInputs = plan.bytes(plan.shape.midiInputs * SharedMIDI.size)
        midiOutputs = plan.bytes(plan.shape.midiOutputs * SharedMIDI.size)
        self.stride = stride
    }

    /// Lays pieces one after the other, each on cache lines of its own.
    private final class Plan {
        let shape: BlockShape
        let base: UnsafeMutableRawPointer
        var offset = 0

        init(_ shape: BlockShape, _ base: UnsafeMutableRawPointer) {
            self.shape = shape
            self.base = base
        }

        func bytes(_ count: Int) -> UnsafeMutableRawPointer {
            defer { offset += (count + line - 1) / line * line }
            return base + offset
        }

        func next<T: ~Copyable>(_ count: Int) -> UnsafeMutablePointer<T> {
            // The memory holds zeros, which are values of every type that is kept here.
            bytes(count * MemoryLayout<T>.stride).assumingMemoryBound(to: T.self)
        }
    }

    /// The samples of an audio input. [audio]
    @_noLocks @inline(__always)
    func input(_ index: Int) -> UnsafeMutablePointer<Float> { audioInputs + index * stride }

    /// The samples of an audio output. [audio]
    @_noLocks @inline(__always)
    func output(_ index: Int) -> UnsafeMutablePointer<Float> { audioOutputs + index * stride }

    /// The events of a MIDI input. [audio]
    @_noLocks @inline(__always)
    func midiInput(_ index: Int) -> SharedMIDI { SharedMIDI(base: midiInputs + index * SharedMIDI.size) }

    /// The events of a MIDI output. [audio]
    @_noLocks @inline(__always)
    func midiOutput(_ index: Int) -> SharedMIDI { SharedMIDI(base: midiOutputs + index * SharedMIDI.size) }

    /// Says that no answer will come, and wakes the thread that waits for one. After the child's end. [control]
    func fail() {
        response.pointee.store(request.pointee.load(ordering: .relaxed) | Self.failed, ordering: .releasing)
        vg_shared_wake(response)
    }
}

/// The events of one MIDI port in shared memory.
struct SharedMIDI: BitwiseCopyable {
    static var size: Int {
        @_noLocks @inline(__always) get {
            64 + SharedBlock.midiEvents * MemoryLayout<vg_midi_event>.stride + SharedBlock.midiBytes
        }
    }
    let base: UnsafeMutableRawPointer

    /// Count, bytes used, dropped.
    var numbers: UnsafeMutablePointer<UInt32> {
        @_noLocks @inline(__always) get { base.assumingMemoryBound(to: UInt32.self) }
    }
    var events: UnsafeMutablePointer<vg_midi_event> {
        @_noLocks @inline(__always) get { (base + 64).assumingMemoryBound(to: vg_midi_event.self) }
    }
    var bytes: UnsafeMutablePointer<UInt8> {
        @_noLocks @inline(__always) get {
            (base + 64 + SharedBlock.midiEvents * MemoryLayout<vg_midi_event>.stride)
                .assumingMemoryBound(to: UInt8.self)
        }
    }

    /// Gives what it holds to another buffer; an event that makes no sense is left out. [audio]
    @_noLocks
    func give(_ target: UnsafeMutablePointer<vg_midi>, frames: UInt32) {
        let count = min(Int(numbers[0]), SharedBlock.midiEvents)
        var index = 0
        while index < count {
            let event = events[index]
            index += 1
            guard event.frame < frames, Int(event.offset) + Int(event.size) <= SharedBlock.midiBytes else { continue }
            _ = vg_midi_write(target, event.frame, bytes + Int(event.offset), event.size)
        }
        target.pointee.dropped &+= min(numbers[2], 1 << 16)
    }
}

/// Memory that a child can map too. It is unmapped with the last reference.
final class SharedMemory: @unchecked Sendable {
    // Sendable: nothing of it changes; what is in it is shared by design.
    let descriptor: Int32
    let address: UnsafeMutableRawPointer
    let size: Int

    /// New memory, all zeros; nil: there is none left.
    convenience init?(size: Int) {
        let descriptor = vg_shared_memory("voicegraph", size)
        guard descriptor >= 0 else { return nil }
        self.init(descriptor: descriptor, size: size)
    }

    /// The memory behind a descriptor, which it takes over.
    init?(descriptor: Int32, size: Int) {
        guard let address = vg_shared_map(descriptor, size) else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        self.address = address
        self.size = size
    }

    deinit {
        munmap(address, size)
        close(descriptor)
    }
}
