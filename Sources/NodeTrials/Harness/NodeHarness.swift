// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit
import Realtime

/// A MIDI event at an absolute frame.
public struct TimedMIDI: Sendable, Equatable {
    /// Frames since the harness started.
    public var frame: Int
    /// The message.
    public var bytes: [UInt8]

    /// Describes an event.
    public init(_ frame: Int, _ bytes: [UInt8]) {
        self.frame = frame
        self.bytes = bytes
    }
}

/// What a processor told from the audio thread.
public struct CapturedNote: Sendable, Equatable {
    /// Raw value of `vg_notice_kind`.
    public var kind: UInt32
    /// What it says.
    public var text: String
    /// Its number.
    public var value: Double
    /// When.
    public var position: UInt64
}

/// Takes a sentence on what no node may do. On whatever thread the node does it.
public typealias FaultReport = @Sendable (_ fault: String) -> Void

/// Runs one node type through the C ABI, as a host would: creates, prepares and activates it, then processes signals
/// cut into blocks, with guard zones around every buffer and outputs filled with garbage beforehand. A processor that
/// leaves a frame unwritten, writes past its block or flags a block as silent that is not is reported.
public final class NodeHarness {
    /// Where the processor stands in a feedback loop.
    public enum Order: Sendable {
        /// Not in a loop: `absorb`, if any, then `process`.
        case straight
        /// In a loop: `process`, then input = signal + gain * output, then `absorb`.
        case loop(gain: Float)
    }

    /// The node behind the boundary.
    public let instance: NodeInstance
    /// What it told its host.
    public let capture: NodeCapture
    /// What it was prepared for.
    public private(set) var preparation: Preparation
    /// Frames processed since the start.
    public private(set) var position = 0
    /// What `vg_cycle.position` is ahead of `position`.
    public var positionOffset = 0
    /// Whether blocks of zeros are flagged as silent; outputs are checked in any case.
    public var flagsSilence = true
    /// Whether output i shares its buffer with input i (only for types that allow it).
    public var inPlace = false
    /// Whether the node is polled after each block.
    public var polls = true
    /// Whether it is waited for before each block until the node has what the block needs, as a render does.
    public var waits = false
    /// Where the processor stands in a loop.
    public var order = Order.straight
    /// The transport that processors see.
    public var transport = vg_transport()
    /// Frames that the driver lost before the next block; then none.
    public var skipped = 0
    /// Values of the control inputs.
    public var controlInputs: [Float]
    /// Values of the control outputs after each block.
    public private(set) var controlOutputs: [[Float]] = []
    /// Events for each MIDI input, at absolute frames, ascending.
    public var midiInputs: [[TimedMIDI]]
    /// Events of each MIDI output so far, at absolute frames.
    public private(set) var midiOutputs: [[TimedMIDI]]
    /// Nanoseconds that the processor took for the last block.
    public private(set) var lastTime: UInt64 = 0
    /// Per block: the silence flag of each audio output.
    public private(set) var silentOutputs: [[Bool]] = []

    private let buffers: NodeBuffers
    private let notices = Ring<vg_notice>(minimumCapacity: 4096)

    /// Creates, prepares and activates a node of `type`. `rate` in Hz, `maxBlock` in frames, 8192 at most; `offline`: time
    /// goes by as it processes; `models`: the folder of models, by default this user's. Throws what the node says.
    public init(
        _ type: UnsafePointer<vg_node_type>, _ settings: [String: SettingValue] = [:], rate: Double = 48000,
        maxBlock: Int = 1024, offline: Bool = false, name: String = "node", baseFolder: String = "",
        models: String? = nil, report: @escaping FaultReport
    ) throws(NodeError) {
        capture = NodeCapture(models: models, report: report)
        instance = try NodeInstance(
            type: type, name: name, settings: Settings(settings), baseFolder: baseFolder, services: capture.services)
        capture.expect(instance.declarations)
        instance.isDriven = offline
        preparation = Preparation(rate: rate, maxBlock: maxBlock, offline: offline)
        buffers = NodeBuffers(instance: instance, longestBlock: 8192, report: report)
        controlInputs = instance.ports.filter { $0.kind == VG_CONTROL_PORT && $0.direction == VG_INPUT }.map(
            \.defaultValue)
        midiInputs = Array(repeating: [], count: buffers.midiIn.count)
        midiOutputs = Array(repeating: [], count: buffers.midiOut.count)
        try prepare(preparation)
    }

    /// Prepares and activates again, for example at another rate.
    public func prepare(_ preparation: Preparation) throws(NodeError) {
        precondition(
            preparation.maxBlock <= buffers.longestBlock, "the harness has room for \(buffers.longestBlock) frames")
        self.preparation = preparation
        try instance.prepare(preparation)
        let place = Unchecked(instance.ramps)
        let abrupt = instance.parameters.map { $0.flags & UInt32(VG_PARAM_ABRUPT) != 0 }
        let frames = UInt32(preparation.rate / 100)
        let harness = Unchecked(WeakHarness(harness: self))
        instance.onSetParameter { index, value, atOnce, position in
            // From a frame of the next block on; the harness looks no farther ahead.
            let next = UInt64(harness.value.harness.map { $0.position + $0.positionOffset } ?? 0)
            let start = UInt32(clamping: position > next ? position - next : 0)
            let isStep = atOnce || abrupt[index]
            (place.value + index).pointee.move(to: value, over: isStep ? 0 : frames, from: start)
            return true
        }
        instance.activate()
    }

    /// Sets a parameter: at once, or as a ramp over the next `frames`.
    public func set(_ key: String, _ value: Float, over frames: Int = 0) {
        guard let index = instance.parameterIndex(key) else {
            fatalError("no parameter \(key) in \(instance.typeName)")
        }
        instance.ramps[index].move(to: value, over: UInt32(frames), from: 0)
    }

    /// Does an action and waits for its end.
    @discardableResult
    public func perform(_ action: String, _ arguments: [String: SettingValue] = [:]) throws(NodeError) -> [String:
        SettingValue]
    {
        try instance.performAndWait(action, arguments)
    }

    /// Changes a live setting, checked as the host checks it, and waits for it.
    public func set(setting: String, to value: SettingValue) throws(NodeError) {
        try instance.declarations.check(live: setting, value)
        let monitor = Monitor()
        nonisolated(unsafe) var answer: NodeError??  // only with the monitor's lock
        instance.set(setting, to: value) { error in
            monitor.locked { answer = .some(error) }
            monitor.signal()
        }
        while true {
            if instance.isDriven { instance.drain() }
            let result: NodeError?? = monitor.locked {
                if answer == nil { monitor.wait(milliseconds: 10) }
                return answer
            }
            guard let result else { continue }
            if let result { throw result }
            return
        }
    }

    /// Processes `frames` cut by `plan`; `inputs` has one signal per audio input (missing ones are zeros), read from
    /// its start. Returns one signal per audio output.
    public func run(_ frames: Int, inputs: [[Float]] = [], plan: BlockPlan = .fixed(64)) -> [[Float]] {
        run(plan.sizes(frames), inputs: inputs)
    }

    /// Processes blocks of the given lengths.
    public func run(_ blocks: [Int], inputs: [[Float]] = []) -> [[Float]] {
        var outputs = [[Float]](repeating: [], count: buffers.audioOut.count)
        for index in outputs.indices { outputs[index].reserveCapacity(blocks.reduce(0, +)) }
        var start = 0
        for block in blocks {
            if waits { instance.wait(frames: block) }
            step(block, inputs: inputs, start: start)
            for (index, buffer) in buffers.audioOut.enumerated() {
                outputs[index].append(contentsOf: UnsafeBufferPointer(start: buffer.samples, count: block))
            }
            start += block
        }
        return outputs
    }

    /// Everything that processors noted since the last call.
    public func takeNotes() -> [CapturedNote] {
        var result: [CapturedNote] = []
        while let notice = notices.reader.pop() {
            result.append(
                CapturedNote(
                    kind: notice.kind.rawValue, text: notice.text.map { String(cString: $0) } ?? "",
                    value: notice.value,
                    position: notice.position))
        }
        return result
    }

    private func step(_ frames: Int, inputs: [[Float]], start: Int) {
        precondition(frames <= preparation.maxBlock, "block of \(frames) frames, prepared for \(preparation.maxBlock)")
        buffers.fill(frames, inputs: inputs, start: start, flagsSilence: flagsSilence, inPlace: inPlace)
        buffers.fillControls(controlInputs)
        for (index, events) in midiInputs.enumerated() { buffers.fillMIDI(index, events, position..<position + frames) }
        var cycle = vg_cycle()
        cycle.size = UInt32(MemoryLayout<vg_cycle>.size)
        cycle.frames = UInt32(frames)
        cycle.flags = preparation.offline ? UInt32(VG_CYCLE_OFFLINE) : 0
        cycle.rate = preparation.rate
        cycle.position = UInt64(position + positionOffset)
        cycle.clock = cycle.position
        cycle.transport = transport
        cycle.skipped = UInt32(skipped)
        skipped = 0
        var sink = vg_notice_sink()
        withUnsafePointer(to: notices.writer) { writer in
            sink.handle = UnsafeMutableRawPointer(mutating: writer)
            sink.push = pushNotice
            withUnsafePointer(to: sink) { sink in
                var io = buffers.io
                io.notices = sink
                io.parameters = UnsafePointer(instance.ramps)
                call(&io, &cycle)
            }
        }
        if instance.type.pointee.process != nil { buffers.check(frames, typeName: instance.typeName) }
        silentOutputs.append(buffers.audioOut.map { $0.silent.pointee != 0 })
        controlOutputs.append(buffers.controlOut.map(\.pointee))
        for index in midiOutputs.indices {
            midiOutputs[index] += buffers.events(buffers.midiOut[index]).map {
                TimedMIDI($0.frame + position, $0.bytes)
            }
        }
        advanceRamps(frames)
        position += frames
        if polls { instance.poll() }
    }

    private func call(_ io: inout vg_io, _ cycle: inout vg_cycle) {
        guard let processor = instance.processor, let process = instance.type.pointee.process else { return }
        let absorb = instance.absorb
        vg_denormals_off()
        let start = vg_nanoseconds()
        defer { lastTime = vg_nanoseconds() - start }
        switch order {
        case .straight:
            if let absorb { realtime(absorb, processor, &io, &cycle) }
            realtime(process, processor, &io, &cycle)
        case .loop(let gain):
            realtime(process, processor, &io, &cycle)
            buffers.feedBack(Int(cycle.frames), gain: gain)
            if let absorb { realtime(absorb, processor, &io, &cycle) }
        }
    }

    /// With the realtime sanitizer loaded, whatever could block ends the program.
    private func realtime(
        _ function: vg_process_function, _ processor: UnsafeMutableRawPointer, _ io: inout vg_io,
        _ cycle: inout vg_cycle
    ) {
        vg_realtime_enter()
        vg_call_process(function, processor, &io, &cycle)
        vg_realtime_exit()
    }

    private func advanceRamps(_ frames: Int) {
        for index in instance.parameters.indices where instance.ramps[index].frames > 0 {
            instance.ramps[index].advance(UInt32(frames))
        }
    }
}

extension vg_ramp {
    fileprivate mutating func move(to target: Float, over frames: UInt32, from start: UInt32) {
        if frames == 0, start == 0 {
            self = .steady(target)
        } else {
            // At least a frame: where it is, then where it shall be.
            let frames = max(1, frames)
            self = vg_ramp(
                value: value, step: (target - value) / Float(frames), target: target, frames: frames, start: start,
                length: frames)
        }
    }

    fileprivate mutating func advance(_ count: UInt32) {
        let waited = min(start, count)
        start -= waited
        let moved = count - waited
        if moved >= frames {
            self = .steady(target)
        } else {
            value += step * Float(moved)
            frames -= moved
        }
    }
}

private struct WeakHarness {
    weak var harness: NodeHarness?
}

/// The harness runs audio and control on one thread.
private struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

private func pushNotice(_ handle: UnsafeMutableRawPointer?, _ notice: UnsafePointer<vg_notice>?) -> Bool {
    guard let handle, let notice else { return false }
    return handle.assumingMemoryBound(to: RingWriter<vg_notice>.self).pointee.push(notice.pointee)
}
