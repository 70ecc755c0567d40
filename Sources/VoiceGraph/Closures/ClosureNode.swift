// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The node of a closure.
final class ClosureNode: AudioNode {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "program-closure", "what the program that has the graph does with sound", settings: [number],
        process: { ClosureNode.process($0, $1, $2) })

    static let number = Key.integer("closure", "which of the program's closures", in: 0...Int(Int32.max)).required()

    let layout: Layout
    private let closure: Closure
    private var state: UnsafeMutableRawPointer?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        guard let closure = Closure.all.find(try settings[Self.number]) else {
            throw NodeError("it lives in the program that made the graph", hint: "load the graph there")
        }
        self.closure = closure
        layout = Layout(
            ports: Port.audio(VG_INPUT, channels: closure.inputs) + Port.audio(VG_OUTPUT, channels: closure.outputs),
            parameters: closure.parameters)
    }

    deinit { state?.deallocate() }

    func prepare(_ preparation: Preparation) throws(NodeError) -> BodyProcessor {
        let body = closure.body
        let memory = state ?? .allocate(byteCount: body.size, alignment: body.alignment)
        state = memory
        body.begin(memory)
        return BodyProcessor(body: .passUnretained(body), state: memory, passes: closure.passes)
    }

    @_noLocks
    static func process(_ state: inout BodyProcessor, _ block: borrowing Block) { state.process(block) }
}

/// A closure and the ports of its node.
final class Closure: Sendable {
    let body: RealtimeBody
    let inputs: Int
    let outputs: Int
    let passes: Bool
    let parameters: [Parameter]
    private let number: Int

    static let all = NumberedObjects<Closure>()

    init(_ body: RealtimeBody, inputs: Int, outputs: Int, passes: Bool = false, _ parameters: [Parameter]) {
        self.body = body
        (self.inputs, self.outputs) = (max(0, min(inputs, 64)), max(0, min(outputs, 64)))
        self.passes = passes
        self.parameters = parameters
        number = Self.all.next()
        Self.all.keep(self, number)
    }

    deinit { Self.all.forget(number) }

    /// As a node of a graph, which keeps it.
    func placed(_ name: String?, file: String, line: UInt, column: UInt) -> PlacedNode {
        var node = PlacedNode(
            name, type: ClosureNode.descriptor.name, [(ClosureNode.number.setting.key, .integer(Int64(number)))],
            file: file, line: line, column: column)
        node.type = ProgramType(ClosureNode.self, keeping: self)
        return node
    }
}
