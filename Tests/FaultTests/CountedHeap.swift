// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// What a process has from `malloc` and has not freed.
struct HeapUse: CustomStringConvertible {
    var bytes = 0
    var pieces = 0

    var description: String { "\(pieces) pieces of \(bytes / 1024) kB" }
}

/// Counts what a process has from `malloc`, by a library that is preloaded into it. What the kernel tells of the process also
/// has what malloc keeps free, and how much that is depends on which thread did which edit.
struct CountedHeap {
    /// With this environment a process is counted, the first that has it.
    let environment: [String: String]
    private let file: String

    init(in scratch: Scratch) async throws {
        file = scratch.file("heap")
        let preload = try await compile("preload/heap", in: scratch, as: "heap.so")
        environment = ["LD_PRELOAD": preload, "HEAP": file]
    }

    /// What it has now.
    func use() throws -> HeapUse {
        let numbers = try Data(contentsOf: URL(filePath: file)).withUnsafeBytes { Array($0.bindMemory(to: Int.self)) }
        try #require(numbers.count == 3 && numbers[2] != 0, "it is counted")
        return HeapUse(bytes: numbers[0], pieces: numbers[1])
    }
}
