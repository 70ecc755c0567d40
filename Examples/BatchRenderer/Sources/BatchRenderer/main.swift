// SPDX-License-Identifier: Apache-2.0
// Makes voice recordings even, as fast as it goes: BatchRenderer FOLDER FILE...
import Glibc
import VoiceGraph

/// Bends what is loud, without a step in its slope; the compiler holds it to what the audio thread may do.
@_noLocks
@Sendable func soften(_ block: borrowing Block) {
    for channel in block.outputs {
        let input = block.input(channel)
        let output = block.output(channel)
        for frame in 0..<block.frames {
            let sample = max(-1, min(1, input[frame]))
            output[frame] = 1.5 * sample - 0.5 * sample * sample * sample
        }
    }
}

guard CommandLine.arguments.count > 2 else {
    print("usage: BatchRenderer FOLDER FILE...")
    exit(64)
}
let folder = CommandLine.arguments[1]
var failed = false
for file in CommandLine.arguments.dropFirst(2) {
    let name = file.split(separator: "/").last.map(String.init) ?? file
    let result = folder + "/" + (name.split(separator: ".").first.map(String.init) ?? name) + ".flac"
    let graph = Graph("batch") {
        File("voice", path: file, channels: 1)
            => Filter("rumble", kind: .highpass, frequency: 80)
            => Compressor("even", thresholdDB: -24, ratio: 3)
            => EffectNode("soften", body: soften)
            => Limiter("limit", ceilingDB: -1)
            => Output("out", channels: 1)
    }
    do {
        let start = ContinuousClock.now
        let outcome = try await graph.render(to: result)
        let factor = Double(outcome.frames) / 48000 / ((ContinuousClock.now - start) / .seconds(1))
        print("\(result): \(outcome.frames) frames, \(Int(factor)) times as fast as they sound")
    } catch {
        print("\(file): \(error)")
        failed = true
    }
}
exit(failed ? 1 : 0)
