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
    func kept(_ body: String, _ message: String?) throws {
        let scratch = try Scratch()
        try """
        import NodeKit
        nonisolated(unsafe) var kept: Float = 0
        nonisolated(unsafe) var last: InputSamples
        nonisolated(unsafe) var movement: Ramp
        nonisolated(unsafe) var all: [Float] = []
        @_noLocks
        func process(_ state: inout Int, _ block: borrowing Block) { \(body) }
        """.write(toFile: scratch.file("half.swift"), atomically: true, encoding: .utf8)
        let built = URL(filePath: Program.voicegraph).deletingLastPathComponent().path
        let c = ["CNode", "CRealtime"].flatMap { name in
            let include = "\(packageRoot)/Sources/\(name)/include"
            return ["-I", include, "-Xcc", "-fmodule-map-file=\(include)/module.modulemap"]
        }
        let output = try compilerOutput(
            ["-emit-sil", "-o", "/dev/null", "-swift-version", "6", "-I", "\(built)/Modules"] + c
                + [scratch.file("half.swift")])
        if let message {
            #expect(output.contains("error: ") && output.contains(message), "\(output)")
        } else {
            #expect(!output.contains("error: "), "\(output)")
        }
    }

    private func compilerOutput(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["swiftc"] + arguments
        process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "LD_PRELOAD" }
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, pipe)
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return output
    }
}
