// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import System
import TestSupport

@testable import Drivers

@Suite("The database of jackd's clients") struct JackMetadataTests {
    private let scratch: Scratch
    private let regions: [String]

    init() throws {
        let scratch = try Scratch()
        self.scratch = scratch
        regions = try (1...3).map { try scratch.write("__db.00\($0)", String(repeating: "x", count: 8192)) }
        _ = try scratch.write("metadata.db", "what was said")
    }

    private func age(seconds: Double) throws {
        for region in regions {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -seconds)], ofItemAtPath: region)
        }
    }

    private var left: [String] { regions.filter { access($0, F_OK) == 0 } }

    @Test("Regions that nobody has any more are removed, and nothing else") func unused() throws {
        try age(seconds: 5)
        #expect(JackMetadata.removeUnused(scratch.path))
        #expect(left.isEmpty && access(scratch.file("metadata.db"), F_OK) == 0)
        #expect(!JackMetadata.removeUnused(scratch.path))
    }

    @Test("Regions of a process that lives stay") func used() throws {
        try age(seconds: 5)
        let file = open(regions[1], O_RDONLY)
        defer { close(file) }
        let memory = mmap(nil, 8192, PROT_READ, MAP_SHARED, file, 0)
        #expect(!JackMetadata.removeUnused(scratch.path))
        #expect(left == regions)
        munmap(memory, 8192)
        #expect(JackMetadata.removeUnused(scratch.path))
    }

    @Test("Regions that were removed and made anew are not those of a process that has the old ones") func old() throws
    {
        let file = open(regions[1], O_RDONLY)
        let memory = mmap(nil, 8192, PROT_READ, MAP_SHARED, file, 0)
        close(file)
        defer { munmap(memory, 8192) }
        unlink(regions[1])
        try scratch.write("__db.002", String(repeating: "x", count: 8192))
        try age(seconds: 5)
        #expect(JackMetadata.removeUnused(scratch.path))
        #expect(left.isEmpty)
    }

    @Test("Who has another folder at that path, as in a container, does not use these", .enabled(if: getuid() == 0))
    func elsewhere() async throws {
        try age(seconds: 5)
        let other = try Program(
            [
                "unshare", "-m", "bash", "-ec",
                "mount -t tmpfs none $0; cp $(type -P sleep) $0/__db.001; exec $0/__db.001 60", scratch.path,
            ])
        try await other.wait("it has its own") { contents("/proc/\($0.processID)/maps").contains("/__db.001") }
        #expect(!JackMetadata.isUsed(scratch.path))
        #expect(JackMetadata.removeUnused(scratch.path))
        other.signal(SIGKILL)
        _ = try await other.end()
    }

    @Test("Regions that were made just now stay: their maker may not have them yet") func young() throws {
        #expect(!JackMetadata.removeUnused(scratch.path))
        #expect(left == regions)
    }

    @Test("A server that was killed leaves nothing that the next one waits for") func nextServer() async throws {
        let server = try await Jackd.start()
        defer { server.stop() }
        let made = names(in: JackMetadata.folder).filter { $0.hasPrefix("__db.") }
        #expect(!made.isEmpty)
        #expect(!JackMetadata.removeUnused(), "it is used by \(server.name)")
        server.crash()
    }

    @Test("A client has nothing to do with the database, so no lock of the dead that is in it holds it up") func apart()
        async throws
    {
        let server = try await Jackd.start()
        defer { server.stop() }
        let through = try PassThrough(server: server, channels: 1)
        #expect(maps(of: server.processID).contains(JackMetadata.folder), "the server has it")
        #expect(!maps(of: getpid()).contains("/jack_db-"))
        #expect(!JackLibrary.recentLines.contains { $0.contains("DB environment") })
        server.crash()
        try await eventually("the loss is noticed") { through.driver.status.state == .lost }
        try server.restart()
        try await eventually("it is back") { through.driver.status.state == .running }
        #expect(!maps(of: getpid()).contains("/jack_db-"))
        through.stop()
    }

    private func maps(of process: pid_t) -> String {
        contents("/proc/\(process)/maps")
    }
}
