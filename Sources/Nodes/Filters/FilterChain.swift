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
        var bands: AudioArray<Band>
        var sections: AudioArray<FilterSection>
        /// Of the sections: see `vg_sections`.
        var values: AudioArray<Double>
        /// Channel after channel.
        var states: AudioArray<Double>
        /// Of each channel in this block: nothing goes in and nothing is left.
        var resting: AudioArray<Bool>
        var parameterCount: Int
        var rate: Double
        /// Whether the log has it that a frequency is too high for the rate.
        var isHeldTold = false
    }

    private let bands: AudioArrayMemory<Band>
    private let sections: AudioArrayMemory<FilterSection>
    private let values, states: AudioArrayMemory<Double>
    private let resting: AudioArrayMemory<Bool>
    /// What bands and sections begin with.
    private let first: (bands: [Band], sections: [FilterSection])
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
        parameterCount = parameter
        first = (bands, sections)
        self.bands = AudioArrayMemory(bands)
        self.sections = AudioArrayMemory(sections)
        let sizes = FilterSection.sizes(sections.count)
        values = AudioArrayMemory(repeating: 0, count: sizes.values)
        states = AudioArrayMemory(repeating: 0, count: sizes.states * channels)
        resting = AudioArrayMemory(repeating: true, count: channels)
    }

    /// A processor that has heard nothing yet.
    func prepare(_ preparation: Preparation) -> Processor {
        bands.fill(first.bands)
        sections.fill(first.sections)
        values.fill(0)
        states.fill(0)
        resting.fill(true)
        return Processor(
            bands: bands.array, sections: sections.array, values: values.array, states: states.array,
            resting: resting.array, parameterCount: parameterCount, rate: preparation.rate)
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
func filterChain(_ state: inout FilterChain.Processor, _ block: borrowing Block) {
    let frames = block.frames
    for channel in block.outputs {
        let resting = block.isSilent(channel) && isIdle(state, channel)
        state.resting[channel] = resting
        if resting {
            block.output(channel).clear()
            block.markSilent(channel)
        }
    }
    // While a parameter moves, the coefficients are new in each frame, and the same for every channel.
    let moving = min(lastMovement(state, block), frames)
    for frame in 0..<moving {
        tune(&state, block, frame)
        for channel in block.outputs where !state.resting[channel] {
            filter(state, block, channel, frame..<(frame + 1))
        }
    }
    if moving < frames { tune(&state, block, moving) }
    for channel in block.outputs where !state.resting[channel] {
        filter(state, block, channel, moving..<frames)
        if block.isSilent(channel) { settle(state, channel) }
    }
}

/// The frame of this block at which the last movement of a parameter has ended. [audio]
@_noLocks
private func lastMovement(_ state: FilterChain.Processor, _ block: borrowing Block) -> Int {
    var last = 0
    for index in 0..<state.parameterCount {
        let ramp = block.parameter(index)
        if !ramp.isSteady { last = max(last, ramp.end) }
    }
    return last
}

/// Gives the sections the coefficients of a frame. [audio]
@_noLocks
private func tune(_ state: inout FilterChain.Processor, _ block: borrowing Block, _ frame: Int) {
    let highest = 0.49
    for index in 0..<state.bands.count {
        let band = state.bands[index]
        let frequency = block.parameter(band.frequency)[frame]
        let q = block.parameter(band.q)[frame]
        let gain = block.parameter(band.gain)[frame]
        if frequency == band.frequencySet, q == band.qSet, gain == band.gainSet { continue }
        state.bands[index].frequencySet = frequency
        state.bands[index].qSet = q
        state.bands[index].gainSet = gain
        // Cycles per frame. The tangent has a pole at half the rate, so that the way there ends a little below.
        let perFrame = Double(frequency) / state.rate
        if perFrame > highest, !state.isHeldTold {
            block.log("a frequency is too high for this rate; it was held at (Hz)", highest * state.rate, frame: frame)
            state.isHeldTold = true
        }
        let angle = .pi * within(perFrame, 1e-6, highest)
        let tangent = vg_sin64(angle) / vg_cos64(angle)
        let amplitude = band.gain != band.frequency ? vg_pow64(10, within(Double(gain), -36, 36) / 40) : 1
        for place in band.firstSection..<band.firstSection + band.sectionCount {
            state.sections[place].write(
                band.kind, tangent: tangent, amplitude: amplitude, q: within(Double(q), 0.01, 100), to: state.values,
                at: place)
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
    _ state: FilterChain.Processor, _ block: borrowing Block, _ channel: Int, _ frames: Range<Int>
) {
    block.output(channel).part(frames).filter(
        block.input(channel).part(frames), sections: state.sections.count, values: state.values,
        states: states(state, channel))
}

@_noLocks @inline(__always)
private func states(_ state: FilterChain.Processor, _ channel: Int) -> AudioArray<Double> {
    let count = state.states.count / state.resting.count
    return state.states.part(channel * count..<(channel + 1) * count)
}

/// Whether nothing is left of what went in. [audio]
@_noLocks
private func isIdle(_ state: FilterChain.Processor, _ channel: Int) -> Bool {
    let states = states(state, channel)
    for index in 0..<states.count where states[index] != 0 { return false }
    return true
}

/// Ends what has died away, so that silence can be flagged: so little that no sample of 32 bits shows it, whatever comes in
/// next. [audio]
@_noLocks
private func settle(_ state: FilterChain.Processor, _ channel: Int) {
    let states = states(state, channel)
    for index in 0..<states.count where states[index].magnitude >= 1e-60 { return }
    for index in 0..<states.count { states[index] = 0 }
}
