// SPDX-License-Identifier: Apache-2.0
import GraphFile
import CNode
import NodeKit
import Synchronization

/// Lays a plan out in memory.
struct ScheduleBuilder {
    private let plan: Plan
    private let graph: ResolvedGraph
    private let arena: Arena
    private let maxBlock: Int
    private let rate: Double
    private let clock: UnsafeMutablePointer<FadeClock>?
    private let lines: [Plan.Line: DelayLine]
    private let notes: [NoteLink: HeldNotes]
    private let unended: UnsafeMutablePointer<Atomic<Int>>?

    private typealias Sample = UnsafeMutablePointer<Float>
    private typealias Slot = UnsafeMutablePointer<Sample?>

    private let pool: Sample
    private let stride: Int
    private let silence: Sample
    /// Per external port: what stands in for a buffer to write to.
    private let unbound: [Sample]
    private let cells: Sample
    private let flags: UnsafeMutablePointer<UInt8>
    private let midi: [UnsafeMutablePointer<vg_midi>]
    private let emptyIO: UnsafePointer<vg_io>
    private let externals: UnsafeMutablePointer<ExternalSlot>
    private var followers: [[Slot]]
    private(set) var ios: [UnsafePointer<vg_io>] = []

    init(
        _ plan: Plan, _ graph: ResolvedGraph, _ arena: Arena, rate: Double, maxBlock: Int,
        clock: UnsafeMutablePointer<FadeClock>?, lines: [Plan.Line: DelayLine], notes: [NoteLink: HeldNotes],
        unended: UnsafeMutablePointer<Atomic<Int>>?
    ) {
        self.plan = plan
        self.graph = graph
        self.arena = arena
        self.rate = rate
        self.maxBlock = maxBlock
        self.clock = clock
        self.lines = lines
        self.notes = notes
        self.unended = unended
        stride = (maxBlock + 15) & ~15
        pool = arena.make(Float.self, plan.poolCount * stride)
        silence = arena.make(Float.self, stride)
        let block = stride
        unbound = plan.externals.map { arena.make(Float.self, $0.isCapture || $0.isMIDI ? 0 : block) }
        cells = arena.copy(plan.cells)
        // All flags but the first are cleared word by word before each cycle: they begin at a word and fill at least one.
        flags = arena.make(UInt8.self, 8 + max(8, plan.values.count)) + 7
        flags[0] = 1
        midi = (0..<plan.midiCount).map { buffer in
            let midi = arena.make(vg_midi.self, 1)
            midi.pointee.capacity = buffer == 0 ? 0 : UInt32(MIDILimits.events)
            midi.pointee.byte_capacity = buffer == 0 ? 0 : UInt32(MIDILimits.bytes)
            midi.pointee.events = arena.make(vg_midi_event.self, buffer == 0 ? 1 : MIDILimits.events)
            midi.pointee.bytes = arena.make(UInt8.self, buffer == 0 ? 1 : MIDILimits.bytes)
            return midi
        }
        emptyIO = UnsafePointer(arena.make(vg_io.self, 1))
        externals = arena.make(ExternalSlot.self, plan.externals.count)
        followers = Array(repeating: [], count: plan.externals.count)
    }

    mutating func build(
        _ segments: [Segment], handles: [UnsafeMutableRawPointer?]
    ) -> UnsafeMutablePointer<ScheduleHeader> {
        ios = graph.nodes.indices.map { makeIO($0) }
        var steps = plan.steps.map { makeStep($0) }
        for index in plan.externals.indices {
            externals[index] = ExternalSlot(
                handle: index < handles.count ? handles[index] : nil, bound: nil,
                followers: arena.copy(followers[index]), followerCount: followers[index].count,
                midi: plan.midiExternals.first { $0.value == index }.map { midi[$0.key] },
                isCapture: plan.externals[index].isCapture)
        }
        let written = plan.midiOutputs.enumerated().filter { !graph.nodes[$0.offset].instance.isExternal }
            .flatMap { $0.element }.filter { $0 != 0 }
        let others = Set(1..<plan.midiCount).subtracting(written).sorted()
        let driven = plan.steps.compactMap { step in
            if case .drive(let node, let parameter, _) = step {
                graph.nodes[node].instance.ramps + parameter
            } else {
                nil
            }
        }
        // Room for the times of segments or of steps, of which there are more.
        let record = arena.make(CycleLine.self, CycleLine.count(stamps: steps.count))
        let stamps = UnsafeMutableRawPointer(record + 1).assumingMemoryBound(to: UInt64.self)
        for (index, segment) in segments.enumerated() { steps[segment.steps.upperBound - 1].stamp = stamps + index }
        let header = arena.make(ScheduleHeader.self, 1)
        header.initialize(
            to: ScheduleHeader(
                steps: arena.copy(steps), stepCount: steps.count,
                segmentEnds: arena.copy(segments.map(\.steps.upperBound)), segmentCount: segments.count,
                hasDetails: segments.contains { $0.node == nil }, tasks: makeTasks(segments), record: record,
                stamps: stamps,
                externals: externals,
                externalCount: plan.externals.count, silenceFlags: flags + 1, silenceCount: plan.values.count - 1,
                midi: arena.copy((written + others).map { midi[$0] }), midiCount: written.count + others.count,
                writtenMIDICount: written.count, driven: arena.copy(driven), drivenCount: driven.count,
                grid: driven.isEmpty ? 0 : Schedule.grid(rate),
                lengths: arena.make(UInt64.self, driven.isEmpty ? 0 : steps.count),
                maxBlock: maxBlock, rate: rate,
                owner: UnsafeMutableRawPointer(header),
                forgotten: arena.make(RampRange.self, 0), forgottenCount: 0))
        return header
    }

    /// Tasks by the segments that they run; a segment ends wherever a task does.
    private func makeTasks(_ segments: [Segment]) -> ScheduleTasks {
        let tasks = plan.tasks ?? Plan.Tasks(threads: 1)
        let sources = tasks.sources
        let roots = sources.indices.filter { sources[$0] == 0 }.map { UInt32($0) }
        let first = arena.make(ScheduleTask.self, tasks.ends.count)
        var target = 0
        var segment = 0
        for (index, end) in tasks.ends.enumerated() {
            let start = segment
            while segment < segments.count, segments[segment].steps.upperBound <= end { segment += 1 }
            (first + index).initialize(
                to: ScheduleTask(
                    waiting: Atomic(sources[index]), sources: sources[index],
                    segments: SegmentRange(first: start, end: segment), firstTarget: target,
                    endTarget: target + tasks.targets[index].count))
            target += tasks.targets[index].count
        }
        return ScheduleTasks(
            first: first, count: tasks.ends.count, targets: arena.copy(tasks.targets.joined().map { UInt32($0) }),
            roots: arena.copy(roots), rootCount: roots.count)
    }

    /// Where a value's samples are. A pointer to the driver's buffer is filled in later, once the buffer is known.
    private mutating func slots(_ values: [Int]) -> Slot {
        let slots = arena.make(Optional<Sample>.self, values.count)
        for (index, value) in values.enumerated() {
            switch plan.values[value] {
            case .pool(let buffer): slots[index] = pool + buffer * stride
            case .silence, .unassigned: slots[index] = silence
            case .external(let external):
                // Until the driver binds its buffer, and for good if it has none.
                slots[index] = plan.externals[external].isCapture ? silence : unbound[external]
                followers[external].append(slots + index)
            }
        }
        return slots
    }

    private func flag(_ value: Int) -> UnsafeMutablePointer<UInt8> { flags + value }

    private mutating func makeIO(_ node: Int) -> UnsafePointer<vg_io> {
        let instance = graph.nodes[node].instance
        guard instance.runs else { return emptyIO }
        let io = arena.make(vg_io.self, 1)
        let inputs = plan.inputs[node]
        let outputs = plan.outputs[node]
        io.pointee.audio_in = UnsafePointer(slots(inputs))
        io.pointee.audio_out = UnsafePointer(slots(outputs))
        io.pointee.audio_in_silent = UnsafePointer(arena.copy(inputs.map { UnsafePointer<UInt8>?(flag($0)) }))
        io.pointee.audio_out_silent = UnsafePointer(
            arena.copy(outputs.map { UnsafeMutablePointer<UInt8>?(flag($0)) }))
        io.pointee.control_in = UnsafePointer(arena.copy(plan.controlInputs[node].map { Sample?(cells + $0) }))
        io.pointee.control_out = UnsafePointer(arena.copy(plan.controlOutputs[node].map { Sample?(cells + $0) }))
        io.pointee.midi_in = UnsafePointer(
            arena.copy(plan.midiInputs[node].map { UnsafeMutablePointer<vg_midi>?(midi[$0]) }))
        io.pointee.midi_out = UnsafePointer(
            arena.copy(plan.midiOutputs[node].map { UnsafeMutablePointer<vg_midi>?(midi[$0]) }))
        io.pointee.parameters = UnsafePointer(instance.ramps)
        io.pointee.audio_in_count = UInt32(inputs.count)
        io.pointee.audio_out_count = UInt32(outputs.count)
        io.pointee.node = instance.number
        return UnsafePointer(io)
    }

    /// What makes up what is heard of a node.
    private func outputModeTerms(_ node: Int, output: Int) -> [Plan.Term] {
        let (before, after) = (graph.nodes[node].previousMode, graph.nodes[node].outputMode)
        func term(_ value: Int, _ mode: OutputMode) -> Plan.Term? {
            guard before == mode || after == mode, value != 0 else { return nil }
            let fade: ResolvedGraph.Fade = before == after ? .steady : after == mode ? .rising : .falling
            return Plan.Term(value: value, gain: 1, fade: fade)
        }
        return [term(plan.outputs[node][output], .open), term(plan.dry[node][output], .bypassed)].compactMap { $0 }
    }

    /// What a guard of these audio ports needs, in memory that stays.
    private mutating func silencer(_ node: Int, _ ports: [Int]) -> UnsafeMutablePointer<GuardStepState> {
        let isCapture = graph.nodes[node].instance.isExternal && !plan.outputs[node].isEmpty
        let values = ports.map { plan.outputs[node].isEmpty ? plan.inputs[node][$0] : plan.outputs[node][$0] }
        let externals = values.map { value -> UnsafeMutablePointer<ExternalSlot>? in
            guard isCapture, case .external(let external) = plan.values[value] else { return nil }
            return self.externals + external
        }
        return arena.copy([
            GuardStepState(
                isUnfit: vg_unfit_choose(), node: graph.nodes[node].instance.guardState, channels: slots(values),
                silent: arena.copy(values.map { flag($0) }), slots: arena.copy(externals), count: ports.count,
                spare: isCapture ? arena.make(Float.self, ports.count * stride) : nil, stride: stride, rate: rate)
        ])
    }

    /// A node and the guard behind it in one step.
    private mutating func guardedStep(_ node: Int) -> ScheduleStep {
        let processor = graph.nodes[node].instance.processor!
        let code = GuardStepState.code(silencer(node, graph.nodes[node].guarded))
        let state = vg_guarded(
            guard: code, foreign: processor.assumingMemoryBound(to: vg_foreign.self).pointee, processor: processor)
        return ScheduleStep(
            process: vg_guarded_choose(code.count), state: UnsafeMutableRawPointer(arena.copy([state])), io: ios[node])
    }

    private mutating func mix(_ into: Int, _ terms: [Plan.Term]) -> ScheduleStep {
        let sources = slots(terms.map(\.value))
        let made = terms.enumerated().map { index, term in
            MixTerm(source: sources + index, silent: flag(term.value), gain: term.gain)
        }
        guard let clock, terms.contains(where: { $0.fade != .steady }) else {
            return helper(
                mixStep,
                MixState(terms: arena.copy(made), count: made.count, target: slots([into]), silent: flag(into)))
        }
        let fading = zip(made, terms).map { FadingTerm($0, $1.fade) }
        return helper(
            fadingMixStep,
            FadingMixState(
                terms: arena.copy(fading), count: fading.count, target: slots([into]), silent: flag(into), clock: clock)
        )
    }

    private mutating func makeStep(_ step: Plan.Step) -> ScheduleStep {
        switch step {
        case .process(let node):
            let step = nodeStep(node, graph.nodes[node].instance.type.pointee.process!)
            let ports = graph.nodes[node].measured
            guard !ports.isEmpty else { return step }
            return helper(measuredStep, MeasuredStepState(node: step, levels: silencer(node, ports)))
        case .absorb(let node):
            return nodeStep(node, graph.nodes[node].instance.absorb!)
        case .mix(let into, let terms): return mix(into, terms)
        case .guard(let node):
            return helper(vg_guard_choose(), GuardStepState.code(silencer(node, graph.nodes[node].guarded)))
        case .guarded(let node): return guardedStep(node)
        case .outputMode(let node):
            let mixes = plan.heard[node].indices.map { mix(plan.heard[node][$0], outputModeTerms(node, output: $0)) }
            return helper(sequenceStep, SequenceState(steps: arena.copy(mixes), count: mixes.count))
        case .tick:
            return ScheduleStep(process: fadeClockStep, state: UnsafeMutableRawPointer(clock!), io: emptyIO)
        case .delay(let into, let from, _):
            return helper(
                delayStep,
                DelayState(source: slots([from]), target: slots([into]), line: lines[plan.lines[into]!]!.state))
        case .sum(let into, let sources):
            return helper(
                sumStep,
                SumState(sources: arena.copy(sources.map { cells + $0 }), count: sources.count, target: cells + into))
        case .drive(let node, let parameter, let cell):
            let instance = graph.nodes[node].instance
            let described = instance.parameters[parameter]
            return helper(
                driveStep,
                DriveState(
                    source: cells + cell, ramp: instance.ramps + parameter, minimum: described.range.lowerBound,
                    maximum: described.range.upperBound, abrupt: described.isAbrupt,
                    grid: UInt32(Schedule.grid(rate))))
        case .merge(let into, let sources):
            return helper(
                mergeStep,
                MergeState(
                    sources: arena.copy(sources.map { midi[$0] }), count: sources.count, target: midi[into],
                    next: arena.make(UInt32.self, sources.count), ending: ending(into)))
        case .follow(let inlet):
            let terms = plan.inlets[inlet].live.map {
                FollowTerm(source: midi[$0.buffer], table: notes[$0.link]!.table)
            }
            return helper(followStep, FollowState(terms: arena.copy(terms), count: terms.count))
        }
    }

    /// The notes to end in a merged buffer.
    private func ending(_ buffer: Int) -> UnsafeMutablePointer<EndingState>? {
        guard let unended, let inlet = plan.inlets.first(where: { $0.buffer == buffer }), !inlet.ended.isEmpty else {
            return nil
        }
        let ended = inlet.ended.map { notes[$0]!.table }
        let live = inlet.live.map { notes[$0.link]!.table }
        return arena.copy([
            EndingState(
                ended: arena.copy(ended), endedCount: ended.count, live: arena.copy(live), liveCount: live.count,
                left: unended)
        ])
    }

    private func nodeStep(_ node: Int, _ function: @escaping vg_process_function) -> ScheduleStep {
        let processor = graph.nodes[node].instance.processor!
        // Called directly where there is one, as `function` would only pass the call on to it.
        let direct = graph.nodes[node].instance.foreign?.pointee.steady
        return ScheduleStep(process: direct ?? function, state: processor, io: ios[node])
    }

    private func helper<State: BitwiseCopyable>(_ function: @escaping vg_process_function, _ state: State)
        -> ScheduleStep
    {
        ScheduleStep(process: function, state: UnsafeMutableRawPointer(arena.copy([state])), io: emptyIO)
    }
}

extension Parameter {
    /// Whether a change takes effect at once.
    var isAbrupt: Bool { flags & UInt32(VG_PARAM_ABRUPT | VG_PARAM_STEPPED | VG_PARAM_TOGGLE) != 0 }
}
