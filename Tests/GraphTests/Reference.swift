// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime
import TestSupport

@testable import Graph

/// Plays a specification without any of the compiler's ideas: asks each node for its output when somebody needs it,
/// keeps the whole past of every output, and looks each delay up there.
final class Reference {
    struct Output {
        var audio: [[Float]] = []
        var controls: [Float] = []
        var midi: [[TimedMIDI]] = []
    }

    let spec: Specification
    private let into: [[Specification.Link]]
    private let looping: [Bool]
    private var arrivals: [Int?]
    /// Per node and output: every sample so far.
    private var past: [[[Float]]]
    /// Per node and output: what was computed, before the latency.
    private var computed: [[[Float]]]
    /// Per echo and channel: every sample that went in.
    private var heard: [[[Float]]]
    /// Where the parameter of each node is, and on its way to, and the latest value of the control that it follows.
    private var amounts: [vg_ramp]
    private var latest: [Float?]
    /// At 48 kHz moves begin at multiples of so many frames.
    private static let grid = 256
    private var counts: [UInt64]
    private var done: [Output?] = []
    private var position = 0
    private var frames = 0
    private var captures: [Int: Output] = [:]

    init(_ spec: Specification) {
        self.spec = spec
        into = spec.nodes.indices.map { node in spec.links.filter { $0.to == node } }
        looping = spec.nodes.indices.map { Reference.reachesItself($0, spec) }
        arrivals = Array(repeating: nil, count: spec.nodes.count)
        past = spec.nodes.map { Array(repeating: [], count: $0.outs) }
        computed = past
        heard = spec.nodes.map { Array(repeating: [], count: $0.ins) }
        amounts = Array(
            repeating: vg_ramp(value: 0.5, step: 0, target: 0.5, frames: 0, start: 0, length: 0),
            count: spec.nodes.count)
        latest = Array(repeating: nil, count: spec.nodes.count)
        counts = Array(repeating: 0, count: spec.nodes.count)
    }

    /// One block; `captures` is what the driver brings, by node. Returns what it gets, by node.
    func cycle(_ frames: Int, captures: [Int: Output]) -> [Int: Output] {
        vg_denormals_off()
        guard spec.links.contains(where: { $0.kind == VG_CONTROL_PORT && $0.input == nil }) else {
            return piece(frames, captures)
        }
        var result: [Int: Output] = [:]
        var begun = 0
        while begun < frames {
            let length = min(frames - begun, Self.grid - position % Self.grid)
            let given = captures.mapValues { all in
                Output(
                    audio: all.audio.map { Array($0[begun..<begun + length]) },
                    midi: all.midi.map { $0.filter { (position..<position + length).contains($0.frame) } })
            }
            for (node, output) in piece(length, given) {
                guard let before = result[node] else {
                    result[node] = output
                    continue
                }
                result[node] = Output(
                    audio: zip(before.audio, output.audio).map(+),
                    midi: zip(before.midi, output.midi).map { Array(($0 + $1).prefix(512)) })
            }
            begun += length
        }
        return result
    }

    private func piece(_ frames: Int, _ captures: [Int: Output]) -> [Int: Output] {
        self.frames = frames
        self.captures = captures
        done = Array(repeating: nil, count: spec.nodes.count)
        for node in spec.nodes.indices { _ = output(node) }
        for node in spec.nodes.indices where spec.nodes[node].kind == .echo && spec.nodes[node].runs {
            for (channel, samples) in audio(into: node).enumerated() { heard[node][channel] += samples }
        }
        var result: [Int: Output] = [:]
        for (node, one) in spec.nodes.enumerated() where one.kind == .playback || one.kind == .midiPlayback {
            result[node] = Output(audio: audio(into: node), midi: (0..<one.midis).map { midi(into: node, $0) })
        }
        position += frames
        return result
    }

    private static func reachesItself(_ node: Int, _ spec: Specification) -> Bool {
        var seen: Set<Int> = []
        var waiting = [node]
        while let next = waiting.popLast() {
            for link in spec.links where link.from == next {
                if link.to == node { return true }
                if seen.insert(link.to).inserted { waiting.append(link.to) }
            }
        }
        return false
    }

    /// An echo in a loop cuts it.
    private func cuts(_ node: Int) -> Bool { spec.nodes[node].kind == .echo && looping[node] }

    private func arrival(_ node: Int) -> Int {
        if let known = arrivals[node] { return known }
        let result = into[node].filter { $0.kind == VG_AUDIO_PORT }.compactMap { departure($0.from) }.max() ?? 0
        arrivals[node] = result
        return result
    }

    /// nil: what comes out of a loop, for which nobody waits.
    private func departure(_ node: Int) -> Int? {
        if cuts(node) { return nil }
        let one = spec.nodes[node]
        return arrival(node) + (one.runs && one.kind != .echo ? one.latency : 0)
    }

    private func output(_ node: Int) -> Output {
        if let known = done[node] { return known }
        let one = spec.nodes[node]
        var result = Output(
            audio: Array(repeating: Array(repeating: 0, count: frames), count: one.outs),
            controls: Array(repeating: 0.125, count: one.controlOuts), midi: Array(repeating: [], count: one.midiOuts))
        if one.isExternal {
            if let given = captures[node] { result = given }
        } else if one.fails {
            if one.ins == one.outs, !cuts(node) { result.audio = audio(into: node) }
        } else if one.kind == .echo {
            for channel in 0..<one.outs {
                result.audio[channel] = (0..<frames).map { sample(heard[node][channel], position + $0 - one.latency) }
            }
        } else {
            result = unit(node, one)
        }
        done[node] = result
        for index in 0..<one.outs { past[node][index] += result.audio[index] }
        return result
    }

    private func sample(_ signal: [Float], _ time: Int) -> Float { time < 0 ? 0 : signal[time] }

    private func audio(into node: Int) -> [[Float]] {
        (0..<spec.nodes[node].ins).map { input in
            var sum = [Float](repeating: 0, count: frames)
            for link in into[node] where link.kind == VG_AUDIO_PORT && link.input == input {
                _ = output(link.from)
                let wait = departure(link.from).map { arrival(node) - $0 } ?? 0
                let signal = past[link.from][link.output]
                for frame in 0..<frames { sum[frame] += sample(signal, position + frame - wait) * link.gain }
            }
            return sum
        }
    }

    private func control(into node: Int, _ input: Int?) -> Float? {
        let links = into[node].filter { $0.kind == VG_CONTROL_PORT && $0.input == input }
        return links.isEmpty ? nil : links.reduce(0) { $0 + output($1.from).controls[$1.output] }
    }

    private func midi(into node: Int, _ input: Int) -> [TimedMIDI] {
        let links = into[node].filter { $0.kind == VG_MIDI_PORT && $0.input == input }
        let all = links.flatMap { output($0.from).midi[$0.output] }
        let order = all.indices.sorted { (all[$0].frame, $0) < (all[$1].frame, $1) }
        return order.prefix(512).map { all[$0] }
    }

    private func unit(_ node: Int, _ one: Specification.Node) -> Output {
        let seed = one.kind == .inPlace ? -one.seed : one.seed
        let inputs = audio(into: node)
        var ramp = amounts[node]
        if let now = control(into: node, nil) {
            let wanted = latest[node]
            latest[node] = now
            if let wanted, position % Self.grid == 0 {
                let target = min(max(wanted, -1), 1)
                if target != ramp.value {
                    ramp.frames = UInt32(Self.grid)
                    ramp.step = evenStep(ramp.value, target, ramp.frames)
                }
                ramp.target = target
            }
        }
        defer {
            if ramp.frames > frames {
                ramp.value += ramp.step * Float(frames)
                ramp.frames -= UInt32(frames)
                amounts[node] = ramp
            } else {
                amounts[node] = vg_ramp(
                    value: ramp.target, step: 0, target: ramp.target, frames: 0, start: 0, length: 0)
            }
        }
        let control = (0..<one.controls).reduce(Float(0)) { $0 + (self.control(into: node, $1) ?? 0.125) }
        let rests = unitRests(seed, UInt64(position)) && one.latency == 0
        for frame in 0..<frames {
            let amount = vg_ramp_at(&ramp, UInt32(frame))
            for index in 0..<one.outs {
                var sum: Float = 0
                for input in 0..<one.ins { sum += inputs[input][frame] * unitWeight(seed, input, index) }
                let last = computed[node][index].last ?? 0
                computed[node][index].append(rests ? 0 : sum * amount + last * 0.25 + control * 0.0625)
            }
        }
        var result = Output()
        result.audio = computed[node].map { signal in
            (0..<frames).map { sample(signal, position + $0 - one.latency) }
        }
        let last = computed[node].first?.last ?? 0
        result.controls = (0..<one.controlOuts).map { control * 0.5 + last + Float($0) * 0.25 }
        let events = (0..<one.midis).flatMap { midi(into: node, $0) }
        let order = events.indices.sorted { (events[$0].frame, $0) < (events[$1].frame, $1) }
        for index in 0..<one.midiOuts {
            counts[node] += 1
            var all = order.map { events[$0] }
            for event in all.indices { all[event].bytes[2] &+= UInt8(index + 1) }
            all.append(TimedMIDI(position + frames - 1, [0x90, UInt8(one.seed % 128), UInt8(counts[node] % 128)]))
            result.midi.append(Array(all.prefix(512)))
        }
        return result
    }
}
