// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit

/// An audio buffer with a guard zone before and after it.
struct GuardedBuffer {
    static let guardFrames = 32
    static let guardValue: Float = 1234.5

    let samples: UnsafeMutablePointer<Float>
    let silent: UnsafeMutablePointer<UInt8>
    private let base: UnsafeMutablePointer<Float>
    private let count: Int

    init(frames: Int) {
        count = frames + 2 * Self.guardFrames
        base = .allocate(capacity: count)
        base.initialize(repeating: Self.guardValue, count: count)
        samples = base + Self.guardFrames
        silent = .allocate(capacity: 1)
        silent.initialize(to: 0)
    }

    func free() {
        base.deallocate()
        silent.deallocate()
    }

    /// Makes everything after `frames` a guard zone.
    func closeAfter(_ frames: Int) {
        (samples + frames).update(repeating: Self.guardValue, count: Self.guardFrames)
    }

    func isIntact(_ frames: Int) -> Bool {
        (0..<Self.guardFrames).allSatisfy {
            base[$0] == Self.guardValue && samples[frames + $0] == Self.guardValue
        }
    }
}

/// All that a `vg_io` points to, for one node.
final class NodeBuffers {
    /// What outputs hold before the call: a quiet NaN with a payload that no computation yields.
    static let unwritten = Float(bitPattern: 0x7FD5_5AA5)
    private static let eventCapacity = 512
    private static let byteCapacity = 8192

    let longestBlock: Int
    let audioIn, audioOut: [GuardedBuffer]
    let controlIn, controlOut: [UnsafeMutablePointer<Float>]
    let midiIn, midiOut: [UnsafeMutablePointer<vg_midi>]
    private(set) var io = vg_io()
    private var hasFailed = false
    private let report: FaultReport

    private let inPointers, outPointers: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
    private let inFlags: UnsafeMutablePointer<UnsafePointer<UInt8>?>
    private let outFlags: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>
    private let controlInPointers, controlOutPointers: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
    private let midiInPointers, midiOutPointers: UnsafeMutablePointer<UnsafeMutablePointer<vg_midi>?>

    init(instance: NodeInstance, longestBlock: Int, report: @escaping FaultReport) {
        self.report = report
        func count(_ kind: vg_port_kind, _ direction: vg_direction) -> Int {
            instance.ports.count { $0.kind == kind && $0.direction == direction }
        }
        func cells<T>(_ items: [T]) -> UnsafeMutablePointer<T?> {
            let memory = UnsafeMutablePointer<T?>.allocate(capacity: max(1, items.count))
            for (index, item) in items.enumerated() { (memory + index).initialize(to: item) }
            return memory
        }
        func midi() -> UnsafeMutablePointer<vg_midi> {
            let memory = UnsafeMutablePointer<vg_midi>.allocate(capacity: 1)
            memory.initialize(
                to: vg_midi(
                    count: 0, capacity: UInt32(Self.eventCapacity), used: 0, byte_capacity: UInt32(Self.byteCapacity),
                    dropped: 0, events: .allocate(capacity: Self.eventCapacity),
                    bytes: .allocate(capacity: Self.byteCapacity)))
            return memory
        }
        func control() -> UnsafeMutablePointer<Float> {
            let memory = UnsafeMutablePointer<Float>.allocate(capacity: 1)
            memory.initialize(to: 0)
            return memory
        }
        self.longestBlock = longestBlock
        audioIn = (0..<count(VG_AUDIO_PORT, VG_INPUT)).map { _ in GuardedBuffer(frames: longestBlock) }
        audioOut = (0..<count(VG_AUDIO_PORT, VG_OUTPUT)).map { _ in GuardedBuffer(frames: longestBlock) }
        controlIn = (0..<count(VG_CONTROL_PORT, VG_INPUT)).map { _ in control() }
        controlOut = (0..<count(VG_CONTROL_PORT, VG_OUTPUT)).map { _ in control() }
        midiIn = (0..<count(VG_MIDI_PORT, VG_INPUT)).map { _ in midi() }
        midiOut = (0..<count(VG_MIDI_PORT, VG_OUTPUT)).map { _ in midi() }
        inPointers = cells(audioIn.map(\.samples))
        outPointers = cells(audioOut.map(\.samples))
        inFlags = cells(audioIn.map { UnsafePointer($0.silent) })
        outFlags = cells(audioOut.map(\.silent))
        controlInPointers = cells(controlIn)
        controlOutPointers = cells(controlOut)
        midiInPointers = cells(midiIn)
        midiOutPointers = cells(midiOut)
        io.size = UInt32(MemoryLayout<vg_io>.size)
        io.audio_in = UnsafePointer(inPointers)
        io.audio_out = UnsafePointer(outPointers)
        io.audio_in_silent = UnsafePointer(inFlags)
        io.audio_out_silent = UnsafePointer(outFlags)
        io.control_in = UnsafePointer(controlInPointers)
        io.control_out = UnsafePointer(controlOutPointers)
        io.midi_in = UnsafePointer(midiInPointers)
        io.midi_out = UnsafePointer(midiOutPointers)
        io.audio_in_count = UInt32(audioIn.count)
        io.audio_out_count = UInt32(audioOut.count)
    }

    deinit {
        for buffer in audioIn + audioOut { buffer.free() }
        for cell in controlIn + controlOut { cell.deallocate() }
        for midi in midiIn + midiOut {
            midi.pointee.events.deallocate()
            midi.pointee.bytes.deallocate()
            midi.deallocate()
        }
        for cells in [inPointers, outPointers, controlInPointers, controlOutPointers] { cells.deallocate() }
        for cells in [midiInPointers, midiOutPointers] { cells.deallocate() }
        inFlags.deallocate()
        outFlags.deallocate()
    }

    func fill(_ frames: Int, inputs: [[Float]], start: Int, flagsSilence: Bool, inPlace: Bool) {
        for (index, buffer) in audioIn.enumerated() {
            var silent = true
            for frame in 0..<frames {
                let sample =
                    index < inputs.count && start + frame < inputs[index].count ? inputs[index][start + frame] : 0
                buffer.samples[frame] = sample
                if sample != 0 { silent = false }
            }
            buffer.silent.pointee = silent && flagsSilence ? 1 : 0
            buffer.closeAfter(frames)
        }
        for (index, buffer) in audioOut.enumerated() {
            buffer.samples.update(repeating: Self.unwritten, count: frames)
            buffer.silent.pointee = 0
            buffer.closeAfter(frames)
            let shared = inPlace && index < audioIn.count
            if shared { buffer.samples.update(from: audioIn[index].samples, count: frames) }
            outPointers[index] = buffer.samples
        }
        for (index, buffer) in audioIn.enumerated() {
            inPointers[index] = inPlace && index < audioOut.count ? audioOut[index].samples : buffer.samples
        }
    }

    func fillControls(_ values: [Float]) {
        for (cell, value) in zip(controlIn, values) { cell.pointee = value }
    }

    func fillMIDI(_ index: Int, _ events: [TimedMIDI], _ window: Range<Int>) {
        midiIn[index].pointee.count = 0
        midiIn[index].pointee.used = 0
        for event in events where window.contains(event.frame) {
            let written = event.bytes.withUnsafeBufferPointer {
                vg_midi_write(
                    midiIn[index], UInt32(event.frame - window.lowerBound), $0.baseAddress!, UInt32(event.bytes.count))
            }
            precondition(written, "more MIDI in one block than the harness has room for")
        }
        for midi in midiOut {
            midi.pointee.count = 0
            midi.pointee.used = 0
        }
    }

    func events(_ midi: UnsafeMutablePointer<vg_midi>) -> [TimedMIDI] {
        (0..<Int(midi.pointee.count)).map {
            let event = midi.pointee.events[$0]
            let bytes = UnsafeBufferPointer(start: midi.pointee.bytes + Int(event.offset), count: Int(event.size))
            return TimedMIDI(Int(event.frame), Array(bytes))
        }
    }

    /// Adds the outputs to the inputs, as links around a loop would.
    func feedBack(_ frames: Int, gain: Float) {
        for (input, output) in zip(audioIn, audioOut) {
            for frame in 0..<frames { input.samples[frame] += gain * output.samples[frame] }
            input.silent.pointee = 0
        }
    }

    /// Reports, once, whatever no processor may do.
    func check(_ frames: Int, typeName: String) {
        if hasFailed { return }
        for (index, buffer) in audioOut.enumerated() {
            if !buffer.isIntact(frames) { fail("\(typeName) wrote outside the block of output \(index)") }
            let samples = UnsafeBufferPointer(start: buffer.samples, count: frames)
            if samples.contains(where: { $0.bitPattern == Self.unwritten.bitPattern }) {
                fail("\(typeName) left frames of output \(index) unwritten")
            }
            if buffer.silent.pointee != 0, samples.contains(where: { $0 != 0 }) {
                fail("\(typeName) flagged output \(index) as silent; it is not")
            }
        }
        for (index, buffer) in audioIn.enumerated() where !buffer.isIntact(frames) {
            fail("\(typeName) wrote outside the block of input \(index)")
        }
    }

    private func fail(_ text: String) {
        hasFailed = true
        report(text)
    }
}
