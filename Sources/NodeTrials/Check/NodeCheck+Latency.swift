// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

extension NodeCheck {
    /// How much of what comes out must be like what went in, from 0 to 1, for its delay to be told.
    private static let likeness = 0.3

    func latency(_ make: Maker) throws(NodeError) -> [CheckFinding] {
        let node = try make()
        let declared = node.instance.latency
        guard node.inputCount > 0, node.outputCount > 0 else {
            return [CheckFinding(.fine, .latency, "no sound goes through it; it declares \(declared) frames")]
        }
        let frames = 48000 + declared
        let input = node.noise(frames)[0]
        let output = node.run(frames, inputs: node.noise(frames))[0]
        guard let (delay, likeness) = Self.delay(of: output, behind: input, upTo: declared + 4800),
            likeness >= Self.likeness
        else {
            return [
                CheckFinding(
                    .omitted, .latency, "it declares \(declared) frames; what comes out is not like what goes in")
            ]
        }
        if abs(delay - declared) <= 1 {
            return [CheckFinding(.fine, .latency, "\(declared) frames, as it declares")]
        }
        if declared == 0 {
            return [
                CheckFinding(
                    .fine, .latency, "it declares none; its sound comes \(delay) frames late, as that of a delay may")
            ]
        }
        return [
            CheckFinding(
                .warning, .latency, "it declares \(declared) frames, and its sound comes \(delay) frames late",
                hint: "`latency` tells by how much other ways through the graph must wait for this one")
        ]
    }

    /// By how many frames `output` follows `input`, and how like it is then, from 0 to 1: the largest correlation; nil: one of
    /// them is silent.
    static func delay(of output: [Float], behind input: [Float], upTo longest: Int) -> (frames: Int, likeness: Double)?
    {
        let length = min(input.count, output.count) - longest
        guard length > 0 else { return nil }
        var best = (frames: 0, product: 0.0)
        var energy = 0.0
        input.withUnsafeBufferPointer { input in
            output.withUnsafeBufferPointer { output in
                for frame in 0..<length { energy += Double(input[frame]) * Double(input[frame]) }
                for lag in 0...longest {
                    var sum: Float = 0
                    // Eight thousand are enough, and eight times as fast.
                    for frame in 0..<min(length, 8192) { sum += input[frame] * output[frame + lag] }
                    if abs(Double(sum)) > abs(best.product) { best = (lag, Double(sum)) }
                }
            }
        }
        let count = min(length, 8192)
        let inputLevel = Signal.rms(input[..<count])
        let outputLevel = Signal.rms(output[best.frames..<best.frames + count])
        guard inputLevel > 0, outputLevel > 0 else { return nil }
        return (best.frames, abs(best.product) / (Double(count) * inputLevel * outputLevel))
    }
}
