// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport

/// An effect that is late by 1000 frames and says so.
final class Late: Node {
    static let frames = 1000
    static let descriptor = NodeDescriptor(
        "late", "for tests", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        process: delayed)
    static let calls: NodeCalls = [.latency]

    struct Line: BitwiseCopyable {
        var samples: UnsafeMutablePointer<Float>
        var position = 0
    }

    private let samples = UnsafeMutablePointer<Float>.allocate(capacity: frames)
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    deinit { samples.deallocate() }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Line {
        samples.initialize(repeating: 0, count: Self.frames)
        return Line(samples: samples)
    }

    var latency: Int { Self.frames }
}

@_noLocks
private func delayed(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let line = memory.assumingMemoryBound(to: Late.Line.self)
    let input = io.input(0)
    let output = io.output(0)
    for frame in 0..<cycle.frames {
        output[frame] = line.pointee.samples[line.pointee.position]
        line.pointee.samples[line.pointee.position] = input[frame]
        line.pointee.position = line.pointee.position == 999 ? 0 : line.pointee.position + 1
    }
}
