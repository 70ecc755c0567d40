// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// Foundation, and what comes with it: more than all else that a run loads.
private let heavy = ["libFoundation.so", "libFoundationInternationalization.so", "lib_FoundationICU.so"]

/// Which libraries the command loads: they take time at its start, and memory while it runs. And how many heaps it has.
@Suite(.timeLimit(.minutes(5))) struct LoadedLibrariesTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    /// What the loader says that it opened for a command, at its start or later.
    private func loaded(_ arguments: [String]) async throws -> String {
        let log = scratch.file("log")
        let program = try Program(
            [Program.voicegraph] + arguments,
            environment: [
                "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": log, "PATH": "/nowhere", "XDG_DATA_HOME": scratch.file("data"),
            ])
        #expect(try await program.end() == 0, "\(program.errors)")
        return try String(contentsOfFile: "\(log).\(program.processID)", encoding: .utf8)
    }

    @Test(
        "No command loads Foundation",
        arguments: [
            ["--version"], ["check", "GRAPH"], ["run", "GRAPH", "--driver", "dummy", "--duration", "0.1"],
            ["takes", "list"],
        ])
    func commands(arguments: [String]) async throws {
        let graph = try scratch.write("endless.conf", endless)
        let log = try await loaded(arguments.map { $0 == "GRAPH" ? graph : $0 })
        #expect(log.contains("libswiftCore.so"))
        for library in heavy { #expect(!log.contains(library)) }
    }

    @Test("Neither a run nor the process of an isolated node has Foundation in its memory") func isolated() async throws
    {
        let graph = endless.replacing("type = \"gain\"", with: "type = \"tremolo\"\nisolate = true")
        let run = try voicegraph(
            "run", scratch.write("isolated.conf", graph), "--driver", "dummy", "--json",
            environment: ["PATH": "/nowhere"])
        try await run.plays()
        let child = try #require(isolatedChild(of: run))
        for process in [run.processID, child] {
            let maps = contents("/proc/\(process)/maps")
            #expect(maps.contains("libswiftCore.so"))
            for library in heavy { #expect(!maps.contains(library)) }
        }
        run.signal(SIGINT)
        #expect(try await run.end() == 0, "\(run.errors)")
    }

    @Test("All threads of a run share two heaps, unless the environment tells another number", arguments: [nil, 8])
    func heaps(_ number: Int?) async throws {
        let run = try voicegraph(
            "run", scratch.write("endless.conf", endless), "--driver", "dummy", "--json",
            environment: number.map { ["MALLOC_ARENA_MAX": "\($0)"] } ?? [:])
        try await run.plays()
        let maps = contents("/proc/\(run.processID)/maps")
        let heaps = threadHeaps(maps)
        #expect(number == nil ? heaps == 1 : (2..<8).contains(heaps), "beside that of the first thread: \(heaps)")
        run.signal(SIGINT)
        #expect(try await run.end() == 0, "\(run.errors)")
    }

    /// How many heaps malloc has beside that of the first thread: each has 64 MiB of addresses for itself, of which what it
    /// uses comes first.
    private func threadHeaps(_ maps: String) -> Int {
        let all = maps.split(separator: "\n").compactMap { line in
            line.prefixMatch(of: /([0-9a-f]+)-([0-9a-f]+) (....) \S+ \S+ (\d+)/).map {
                (start: UInt($0.1, radix: 16)!, end: UInt($0.2, radix: 16)!, access: $0.3, inode: $0.4)
            }
        }
        let size: UInt = 64 << 20
        return all.count { first in
            guard first.start % size == 0, first.access == "rw-p", first.inode == "0" else { return false }
            // What is locked is a mapping for itself.
            let rest = all.filter { $0.start >= first.end && $0.start < first.start + size && $0.inode == "0" }
            return rest.last?.access == "---p" && rest.last?.end == first.start + size
        }
    }
}
