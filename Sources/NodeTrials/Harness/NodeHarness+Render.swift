// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit

/// Drives a node offline as a host would: waits for each block, processes it, polls.
extension NodeHarness {
    /// Renders until the node is idle, at most `limit` frames. Inputs and results as of `run`.
    public func renderUntilIdle(limit: Int, block: Int = 256, inputs: [[Float]] = []) -> [[Float]] {
        var result = [[Float]](repeating: [], count: outputCount)
        while !instance.askIdle(), (result.first?.count ?? 0) < limit {
            for (channel, samples) in render(block, block: block, inputs: inputs).enumerated() {
                result[channel] += samples
            }
        }
        return result
    }

    /// Renders `frames` in blocks. Inputs and results as of `run`.
    public func render(_ frames: Int, block: Int = 256, inputs: [[Float]] = []) -> [[Float]] {
        var result: [[Float]] = []
        var done = 0
        while done < frames {
            let count = min(block, frames - done)
            instance.wait(frames: count)
            let part = run([count], inputs: inputs.map { Array($0.dropFirst(done)) })
            if result.isEmpty { result = part } else { for index in part.indices { result[index] += part[index] } }
            done += count
        }
        return result
    }
}
