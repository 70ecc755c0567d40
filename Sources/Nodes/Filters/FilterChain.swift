// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// Filters one after another, all of which every channel passes: what `filter` and `eq` are made of. It owns the memory of
/// its processor. [control]
final class FilterChain {
    /// One filter of the chain as settings describe it.
    struct Description {
        var kind: FilterKind
        /// Second-order sections in a row; more than one only for low and high pass.
        var sections = 1
    }

    /// One filter, whose sections follow the same parameters.
    struct Band: BitwiseCopyable {
        var kind: FilterKind
        var firstSection, sectionCount: Int
        /// Places of the parameters; `gain` is that of the frequency for kinds without a gain.
        var frequency, q, gain: Int
        /// What the coefficients belong to; NaN at first, which equals nothing.
        var frequencySet = Float.nan, qSet = Float.nan, gainSet = Float.nan
    }

    struct Processor: BitwiseCopyable {
        var bands: UnsafeMutablePointer<Band>
        var bandCount: Int
        var sections: UnsafeMutablePointer<FilterSection>
        var sectionCount: Int
        /// Channel after channel, `sectionCount` each.
        var states: UnsafeMutablePointer<FilterState>
        /// For one channel at a time.
        var pairs: UnsafeMutablePointer<FilterPair>
        /// Of each channel in this block: nothing goes in and nothing is left.
        var resting: UnsafeMutablePointer<Bool>
        var parameterCount: Int
        var rate: Double
        /// What to log when a frequency is too high for the rate; nil once told. Static text.
        var heldNote: UnsafePointer<CChar>?
    }

    private let bands: [Band]
    private let sections: [FilterSection]
    private let channels: Int
    private let bandMemory: UnsafeMutablePointer<Band>
    private let sectionMemory: UnsafeMutablePointer<FilterSection>
    private let stateMemory: UnsafeMutablePointer<FilterState>
    private let pairMemory: UnsafeMutablePointer<FilterPair>
    private let restingMemory: UnsafeMutablePointer<Bool>
    private let parameterCount: Int

    /// The layout's parameters are what `parameters(_:prefix:frequency:)` makes for each filter in turn.
    init(_ descriptions: [Description], channels: Int) {
        var (bands, sections) = ([Band](), [FilterSection]())
        var parameter = 0
        for description in descriptions {
            let gain = description.kind.hasGain
            bands.append(
                Band(
                    kind: description.kind, firstSection: sections.count, sectionCount: description.sections,
                    frequency: parameter, q: parameter + 1, gain: gain ? parameter + 2 : parameter))
            sections += Self.sections(description)
            parameter += gain ? 3 : 2
        }
        self.bands = bands
        self.sections = sections
        self.channels = channels
        parameterCount = parameter
        bandMemory = .allocate(capacity: bands.count)
        sectionMemory = .allocate(capacity: sections.count)
        stateMemory = .allocate(capacity: sections.count * channels)
        pairMemory = .allocate(capacity: max(1, sections.count / 2))
        restingMemory = .allocate(capacity: channels)
    }

    deinit {
        bandMemory.deallocate()
        sectionMemory.deallocate()
        stateMemory.deallocate()
        pairMemory.deallocate()
        restingMemory.deallocate()
    }

    /// A processor that has heard nothing yet.
    func prepare(_ preparation: Preparation) -> Processor {
        bandMemory.initialize(from: bands, count: bands.count)
        sectionMemory.initialize(from: sections, count: sections.count)
        stateMemory.initialize(repeating: FilterState(), count: sections.count * channels)
        pairMemory.initialize(repeating: FilterPair(), count: max(1, sections.count / 2))
        restingMemory.initialize(repeating: true, count: channels)
        let note: StaticString = "a frequency is too high for this rate; it was held at (Hz)"
        return Processor(
            bands: bandMemory, bandCount: bands.count, sections: sectionMemory, sectionCount: sections.count,
            states: stateMemory, pairs: pairMemory, resting: restingMemory, parameterCount: parameterCount,
            rate: preparation.rate,
            heldNote: UnsafeRawPointer(note.utf8Start).assumingMemoryBound(to: CChar.self))
    }

    /// The parameters of one filter, in the order that the chain expects.
    static func parameters(_ kind: FilterKind, prefix: String = "", frequency: Float) -> [Parameter] {
        let all = [
            Parameter(
                prefix + "frequency", "corner or centre; at most 0.49 of the rate is used", 1...96000,
                default: frequency, unit: "Hz", scale: VG_LOGARITHMIC),
            Parameter(
                prefix + "q", "quality: the higher, the narrower", 0.01...100, default: 0.7071, scale: VG_LOGARITHMIC),
            Parameter(prefix + "gain_db", "gain of peak and shelves", -36...36, default: 0, unit: "dB"),
        ]
        return kind.hasGain ? all : Array(all.dropLast())
    }

    /// Sections whose product is a Butterworth filter of twice as many orders when q is its default. Only the section of
    /// the highest Q follows it, so that q is the gain at the frequency whatever the order.
    private static func sections(_ description: Description) -> [FilterSection] {
        let count = description.sections
        guard count > 1 else { return [FilterSection()] }
        return (1...count).map { index in
            var section = FilterSection()
            let butterworth = 0.5 / cos(.pi * Double(2 * index - 1) / Double(4 * count))
            section.followsQ = index == count
            section.quality = section.followsQ ? butterworth * 2.0.squareRoot() : butterworth
            return section
        }
    }
}

/// Filters every channel of a node. [audio]
@_noLocks
func filterChainProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: FilterChain.Processor.self)
    let frames = cycle.frames
    let channels = io.outputCount
    for channel in 0..<channels {
        let resting = io.isSilent(input: channel) && isIdle(state, channel)
        state.pointee.resting[channel] = resting
        if resting {
            vg_zero(io.output(channel), UInt32(truncatingIfNeeded: frames))
            io.markSilent(output: channel)
        }
    }
    // While a parameter moves, the coefficients are new in each frame, and the same for every channel.
    let moving = min(lastMovement(state, io), frames)
    for frame in 0..<moving {
        tune(state, io, cycle, frame)
        for channel in 0..<channels where !state.pointee.resting[channel] {
            filter(state, io, channel, frame..<(frame + 1))
        }
    }
    if moving < frames { tune(state, io, cycle, moving) }
    for channel in 0..<channels where !state.pointee.resting[channel] {
        filter(state, io, channel, moving..<frames)
        if io.isSilent(input: channel) { settle(state, channel) }
    }
}

/// The frame of this block at which the last movement of a parameter has ended. [audio]
@_noLocks
private func lastMovement(_ state: UnsafeMutablePointer<FilterChain.Processor>, _ io: BlockIO) -> Int {
    var last = 0
    for index in 0..<state.pointee.parameterCount {
        let ramp = io.parameter(index)
        if !ramp.isSteady { last = max(last, Int(ramp.pointee.start) + Int(ramp.pointee.frames)) }
    }
    return last
}

/// Gives the sections the coefficients of a frame. [audio]
@_noLocks
private func tune(
    _ state: UnsafeMutablePointer<FilterChain.Processor>, _ io: BlockIO, _ cycle: Cycle, _ frame: Int
) {
    let highest = 0.49
    for index in 0..<state.pointee.bandCount {
        let band = state.pointee.bands + index
        let frequency = io.parameter(band.pointee.frequency)[frame: frame]
        let q = io.parameter(band.pointee.q)[frame: frame]
        let gain = io.parameter(band.pointee.gain)[frame: frame]
        if frequency == band.pointee.frequencySet, q == band.pointee.qSet, gain == band.pointee.gainSet { continue }
        (band.pointee.frequencySet, band.pointee.qSet, band.pointee.gainSet) = (frequency, q, gain)
        // Cycles per frame. The tangent has a pole at half the rate, so that the way there ends a little below.
        let perFrame = Double(frequency) / state.pointee.rate
        if perFrame > highest, let note = state.pointee.heldNote {
            let position = cycle.pointee.position + UInt64(truncatingIfNeeded: frame)
            _ = vg_note_push(io, VG_NOTE_LOG, note, highest * state.pointee.rate, position)
            state.pointee.heldNote = nil
        }
        let angle = .pi * within(perFrame, 1e-6, highest)
        let tangent = vg_sin64(angle) / vg_cos64(angle)
        let amplitude =
            band.pointee.gain != band.pointee.frequency ? vg_pow64(10, within(Double(gain), -36, 36) / 40) : 1
        for place in 0..<band.pointee.sectionCount {
            state.pointee.sections[band.pointee.firstSection + place].set(
                band.pointee.kind, tangent: tangent, amplitude: amplitude, q: within(Double(q), 0.01, 100))
        }
    }
}

/// The nearest number in a range; the lower bound if it is no number. [audio]
@_noLocks
private func within(_ value: Double, _ low: Double, _ high: Double) -> Double {
    value > low ? value < high ? value : high : low
}

/// One channel through all sections. Output and input may be the same buffer. [audio]
@_noLocks
private func filter(
    _ state: UnsafeMutablePointer<FilterChain.Processor>, _ io: BlockIO, _ channel: Int, _ frames: Range<Int>
) {
    let (input, output) = (io.input(channel), io.output(channel))
    let sections = UnsafePointer(state.pointee.sections)
    let count = state.pointee.sectionCount
    let states = state.pointee.states + channel * count
    if count == 1 {
        // Copies, which stay in registers.
        var (section, own) = (sections.pointee, states.pointee)
        for frame in frames { output[frame] = Float(filterStep(&section, &own, finiteSample(input[frame]))) }
        states.pointee = own
        return
    }
    if frames.count > count {
        filterInPairs(state.pointee.pairs, sections, states, count: count, input, output, frames)
        return
    }
    for frame in frames {
        var sample = finiteSample(input[frame])
        for index in 0..<count { sample = filterStep(sections + index, states + index, sample) }
        output[frame] = Float(sample)
    }
}

/// Whether nothing is left of what went in. [audio]
@_noLocks
private func isIdle(_ state: UnsafeMutablePointer<FilterChain.Processor>, _ channel: Int) -> Bool {
    let states = state.pointee.states + channel * state.pointee.sectionCount
    for index in 0..<state.pointee.sectionCount where states[index].band != 0 || states[index].low != 0 {
        return false
    }
    return true
}

/// Ends what has died away, so that silence can be flagged. [audio]
@_noLocks
private func settle(_ state: UnsafeMutablePointer<FilterChain.Processor>, _ channel: Int) {
    let states = state.pointee.states + channel * state.pointee.sectionCount
    for index in 0..<state.pointee.sectionCount where !states[index].isGone() { return }
    for index in 0..<state.pointee.sectionCount { (states[index].band, states[index].low) = (0, 0) }
}
