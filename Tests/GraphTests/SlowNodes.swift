// SPDX-License-Identifier: Apache-2.0
import CRealtime
import NodeKit

/// Takes as many milliseconds of every block as its parameter says.
final class Slow: Node {
    static let calls: NodeCalls = []
    static let descriptor = slowDescriptor("slow", flags: VG_IN_PLACE)
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> UInt64 { 0 }
}

/// The same, but says that it takes next to no time.
final class Light: Node {
    static let calls: NodeCalls = []
    static let descriptor = slowDescriptor("light", flags: VG_IN_PLACE | VG_LIGHT)
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> UInt64 { 0 }
}

private func slowDescriptor(_ name: String, flags: Int) -> NodeDescriptor {
    NodeDescriptor(
        name, "takes its time", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        parameters: [Parameter("ms", "time in every block", 0...1000, default: 0, flags: VG_PARAM_ABRUPT)],
        flags: flags, process: slowProcess)
}

@_noLocks
private func slowProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let end = vg_nanoseconds() &+ UInt64(io.parameter(0).target * 1e6)
    while vg_nanoseconds() < end {}
}
