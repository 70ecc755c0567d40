// SPDX-License-Identifier: Apache-2.0
import CNode
import Glibc
import Graph
import NodeKit
import Realtime
import System
import Synchronization

/// The audio thread of one node in a child: waits for a block, lets the node process it where it lies, answers.
final class ChildAudio: @unchecked Sendable {
    // Sendable: `stage` is the thread's own while it runs; the rest is atomic or never changes.
    private let stage: UnsafeMutablePointer<ChildStage>
    private let arena = Arena()
    private let ending = Atomic(false)
    private let thread = Atomic<Int32>(0)
    private var worker: SystemThread?
    private let line: ChildLine
    private let lostNotes = LostNotes()

    /// Notes that found their ring full, as the audio thread counts them.
    private final class LostNotes {
        let pointer: UnsafeMutablePointer<Atomic<UInt64>>
        init() {
            pointer = .allocate(capacity: 1)
            pointer.initialize(to: Atomic(0))
        }
        deinit { pointer.deallocate() }
    }

    /// Says that somebody is there again, and starts. [control]
    init(
        _ instance: NodeInstance, _ block: SharedBlock, _ shape: BlockShape, _ notices: RingWriter<vg_notice>,
        _ line: ChildLine
    ) throws(NodeError) {
        guard let process = instance.type.pointee.process, let processor = instance.processor else {
            throw NodeError("the node has no audio half")
        }
        self.line = line
        stage = arena.make(ChildStage.self, 1)
        stage.initialize(
            to: ChildStage(
                block: block, process: process, absorb: instance.absorb, processor: processor,
                io: Self.makeIO(block, shape, arena, stage), midiInputs: shape.midiInputs,
                midiOutputs: shape.midiOutputs, audioOutputs: shape.audioOutputs, notices: notices,
                lostNotes: lostNotes.pointer))
        let request = block.request.pointee.load(ordering: .acquiring)
        stage.pointee.done = request
        block.inside.pointee.store(0, ordering: .relaxed)
        block.response.pointee.store(request, ordering: .releasing)
        do throws(SystemError) {
            worker = try SystemThread(name: "vg-isolated") { [self] in run(instance) }
        } catch { throw NodeError(error) }
        while thread.load(ordering: .acquiring) == 0 { sched_yield() }
        block.thread.pointee.store(UInt32(bitPattern: thread.load(ordering: .acquiring)), ordering: .releasing)
    }

    /// Ends the thread and says that nobody is there. [control]
    func end() {
        ending.store(true, ordering: .releasing)
        vg_shared_wake(stage.pointee.block.request)
        worker?.join()
        worker = nil
        stage.pointee.block.fail()
        line.lose(takeLostNotices(), "lost notices")
    }

    /// Notes that were lost since the last call. [control]
    func takeLostNotices() -> UInt64 { lostNotes.pointer.pointee.exchange(0, ordering: .relaxed) }

    /// As the host's audio thread, as far as the system allows it. [control]
    func schedule(policy: Int32, priority: Int32) {
        var parameter = sched_param(sched_priority: priority)
        sched_setscheduler(thread.load(ordering: .acquiring), policy, &parameter)
    }

    private func run(_ instance: NodeInstance) {
        vg_denormals_off()
        thread.store(vg_thread_id(), ordering: .releasing)
        let block = stage.pointee.block
        while !ending.load(ordering: .acquiring) {
            let request = block.request.pointee.load(ordering: .acquiring)
            if request == stage.pointee.done {
                // A wake-up that comes just before is made up for by the end of the wait.
                vg_shared_wait(block.request, request, vg_nanoseconds() + 100_000_000)
                continue
            }
            block.inside.pointee.store(1, ordering: .relaxed)
            if block.cycle.pointee.flags & UInt32(VG_CYCLE_OFFLINE) != 0 {
                instance.wait(frames: Int(block.cycle.pointee.frames))
            }
            vg_realtime_enter()
            childProcess(stage)
            vg_realtime_exit()
            block.inside.pointee.store(0, ordering: .relaxed)
            stage.pointee.done = request
            block.response.pointee.store(request, ordering: .releasing)
            vg_shared_wake(block.response)
        }
    }

    private static func makeIO(
        _ block: SharedBlock, _ shape: BlockShape, _ arena: Arena, _ stage: UnsafeMutablePointer<ChildStage>
    ) -> UnsafeMutablePointer<vg_io> {
        func list<T>(_ count: Int, _ item: (Int) -> T) -> UnsafeMutablePointer<T> {
            let memory = arena.make(T.self, count)
            for index in 0..<count { (memory + index).initialize(to: item(index)) }
            return memory
        }
        func midi(_ shared: SharedMIDI) -> UnsafeMutablePointer<vg_midi>? {
            list(1) { _ in
                vg_midi(
                    count: 0, capacity: UInt32(SharedBlock.midiEvents), used: 0,
                    byte_capacity: UInt32(SharedBlock.midiBytes), dropped: 0, events: shared.events,
                    bytes: shared.bytes)
            }
        }
        let sink = list(1) { _ in vg_notice_sink(handle: UnsafeMutableRawPointer(stage), push: pushChildNote) }
        var io = vg_io()
        io.size = UInt32(MemoryLayout<vg_io>.size)
        io.audio_in = UnsafePointer(list(shape.audioInputs) { Optional(block.input($0)) })
        io.audio_out = UnsafePointer(list(shape.audioOutputs) { Optional(block.output($0)) })
        io.audio_in_silent = UnsafePointer(
            list(shape.audioInputs) { Optional(UnsafePointer(block.silentInputs + $0)) })
        io.audio_out_silent = UnsafePointer(list(shape.audioOutputs) { Optional(block.silentOutputs + $0) })
        io.control_in = UnsafePointer(list(shape.controlInputs) { Optional(block.controlInputs + $0) })
        io.control_out = UnsafePointer(list(shape.controlOutputs) { Optional(block.controlOutputs + $0) })
        io.midi_in = UnsafePointer(list(shape.midiInputs) { midi(block.midiInput($0)) })
        io.midi_out = UnsafePointer(list(shape.midiOutputs) { midi(block.midiOutput($0)) })
        io.parameters = UnsafePointer(block.ramps)
        io.notices = UnsafePointer(sink)
        io.audio_in_count = UInt32(shape.audioInputs)
        io.audio_out_count = UInt32(shape.audioOutputs)
        return list(1) { _ in io }
    }
}

/// All that a child's audio thread knows of its node.
struct ChildStage {
    let block: SharedBlock
    let process: vg_process_function
    let absorb: vg_process_function?
    let processor: UnsafeMutableRawPointer
    let io: UnsafeMutablePointer<vg_io>
    let midiInputs, midiOutputs, audioOutputs: Int
    let notices: RingWriter<vg_notice>
    let lostNotes: UnsafeMutablePointer<Atomic<UInt64>>
    var done: UInt32 = 0
}

/// One block of the real node. [audio]
@_noLocks
func childProcess(_ stage: UnsafeMutablePointer<ChildStage>) {
    let block = stage.pointee.block
    let io = stage.pointee.io
    for index in 0..<stage.pointee.midiInputs {
        let midi = io.pointee.midi_in[index].unsafelyUnwrapped
        let numbers = block.midiInput(index).numbers
        midi.pointee.count = numbers[0]
        midi.pointee.used = numbers[1]
    }
    for index in 0..<stage.pointee.midiOutputs {
        let midi = io.pointee.midi_out[index].unsafelyUnwrapped
        midi.pointee.count = 0
        midi.pointee.used = 0
        midi.pointee.dropped = 0
    }
    for index in 0..<stage.pointee.audioOutputs { block.silentOutputs[index] = 0 }
    // Outside a feedback loop, which an isolated node is never part of, taking comes before giving.
    if let absorb = stage.pointee.absorb { vg_call_process(absorb, stage.pointee.processor, io, block.cycle) }
    vg_call_process(stage.pointee.process, stage.pointee.processor, io, block.cycle)
    for index in 0..<stage.pointee.midiOutputs {
        let midi = io.pointee.midi_out[index].unsafelyUnwrapped
        let numbers = block.midiOutput(index).numbers
        numbers[0] = midi.pointee.count
        numbers[1] = midi.pointee.used
        numbers[2] = midi.pointee.dropped
    }
}

/// A latency goes straight to the host's audio thread, anything else to the control thread.
@_noLocks
private func pushChildNote(_ handle: UnsafeMutableRawPointer?, _ notice: UnsafePointer<vg_notice>?) -> Bool {
    guard let notice, let stage = handle?.assumingMemoryBound(to: ChildStage.self) else { return false }
    if notice.pointee.kind == VG_NOTICE_LATENCY {
        let frames = min(max(notice.pointee.value, 0), 1e9)
        stage.pointee.block.latency.pointee.store(UInt32(frames), ordering: .relaxed)
        return true
    }
    if stage.pointee.notices.put(notice.pointee) { return true }
    stage.pointee.lostNotes.pointee.wrappingAdd(1, ordering: .relaxed)
    return false
}

extension RingWriter<vg_notice> {
    @_noLocks
    fileprivate func put(_ notice: vg_notice) -> Bool { push(notice) }
}

/// Memory that is freed all at once.
final class Arena {
    private var pieces: [UnsafeMutableRawPointer] = []

    func make<T>(_ type: T.Type, _ count: Int) -> UnsafeMutablePointer<T> {
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: max(1, count) * MemoryLayout<T>.stride, alignment: max(16, MemoryLayout<T>.alignment))
        pieces.append(memory)
        return memory.bindMemory(to: T.self, capacity: max(1, count))
    }

    deinit { for piece in pieces { piece.deallocate() } }
}
