// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Lets a signal through, times a factor that may be anything.
final class Faulty: Node {
    static let descriptor = NodeDescriptor(
        "faulty", "for tests", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        parameters: [Parameter("fault", "0: none, 1: no number, 2: infinite, 3: loud", 0...3, default: 0)],
        process: misbehave)
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}

@_noLocks
private func misbehave(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let (input, output) = (io.input(0), io.output(0))
    let fault = io.parameter(0).pointee.target
    for frame in 0..<cycle.frames { output[frame] = input[frame] }
    // In the middle of a block, as it happens.
    let middle = cycle.frames / 2
    if fault == 1 { output[middle] = .nan }
    if fault == 2 { output[middle] = -.infinity }
    if fault == 3 { output[middle] = 100 }
}
