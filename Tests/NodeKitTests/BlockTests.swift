// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport
import Testing

@Suite("A block") struct BlockTests {
    @Test(
        "What an audio half keeps of its block is an error of the compiler",
        arguments: [
            ("kept = block.input(0)[0] + block.parameter(0)[0]; state = block.frames", nil),
            ("let samples = block.input(0); last = samples", "'samples' escapes its scope"),
            ("let ramp = block.parameter(0); movement = ramp", "'ramp' escapes its scope"),
            ("let frames = { block.frames }; state = frames()", "cannot be captured by an escaping closure"),
            ("all.append(block.output(0)[0])", "can cause locking"),
        ])
    func kept(_ body: String, _ message: String?) async throws {
        let output = try await compile(
            """
            nonisolated(unsafe) var kept: Float = 0
            nonisolated(unsafe) var last: InputSamples
            nonisolated(unsafe) var movement: Ramp
            nonisolated(unsafe) var all: [Float] = []
            @_noLocks
            func process(_ state: inout Int, _ block: borrowing Block) { \(body) }
            """
        ).errors
        if let message {
            #expect(output.contains("error: ") && output.contains(message), "\(output)")
        } else {
            #expect(!output.contains("error: "), "\(output)")
        }
    }

    @Test("What the host calls of an audio half is the node's own function, also in a build for debugging")
    func direct() async throws {
        let made = try await compile(
            """
            final class Half: LoopNode {
                struct Processor: BitwiseCopyable { var count = 0 }
                static let descriptor = NodeDescriptor(
                    "half", "for tests", process: { Half.process($0, $1, $2) }, absorb: { Half.absorb($0, $1, $2) })
                init(settings: Settings, host: NodeHost) throws(NodeError) {}
                func prepare(_ preparation: Preparation) throws(NodeError) -> Processor { Processor() }
                @_noLocks static func process(_ state: inout Processor, _ block: borrowing Block) { state.count += 1 }
                @_noLocks static func absorb(_ state: inout Processor, _ block: borrowing Block) { state.count -= 1 }
            }
            """)
        #expect(!made.errors.contains("error: "), "\(made.errors)")
        let called = made.code.split(separator: "\n").filter { $0.contains("// function_ref static ") }
        for name in ["process", "absorb"] {
            #expect(called.contains { $0.contains(" Half.\(name)(_:_:)") })
            #expect(!called.contains { $0.contains("Node.\(name)(_:_:_:)") })
        }
    }

    @Test("A place outside of an array or of samples ends a debug build") func outside() async {
        await #expect(processExitsWith: .failure) {
            let memory = AudioArrayMemory<Float>(repeating: 1, count: 4)
            _ = memory.array[4]
        }
        await #expect(processExitsWith: .failure) {
            let memory = AudioArrayMemory<Float>(repeating: 1, count: 4)
            memory.array.samples(1..<3)[2] = 0
        }
        await #expect(processExitsWith: .success) {
            let memory = AudioArrayMemory<Float>(repeating: 1, count: 4)
            memory.array.samples(1..<3)[1] = memory.array[3]
        }
    }

    private func compile(_ text: String) async throws -> (code: String, errors: String) {
        let scratch = try Scratch()
        try ("import NodeKit\n" + text).write(toFile: scratch.file("half.swift"), atomically: true, encoding: .utf8)
        return try await compileSwift([scratch.file("half.swift")])
    }
}
