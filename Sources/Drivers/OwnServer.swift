// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Servers of our own, as drivers.
package enum OwnServer {
    /// Names of our own server: jackd knows eight per machine, so they are few and always the same. No client should want
    /// one of them (see `ClientName`), as a graph would that is named like the program.
    package static let names = [
        "voicegraph-server", "voicegraph-server-2", "voicegraph-server-3", "voicegraph-server-4",
    ]

    /// A server that is to be begun.
    struct Plan: Sendable, Equatable {
        var backend: ServerProcess.Backend
        /// Its sound cards, and where the kernel tells of them.
        var cards: [String]
        var folder = SoundCards.folder

        /// On the sound cards that `request` names.
        init(_ request: DriverRequest) {
            backend = request.sound
            cards = backend.cards
        }

        /// Those of its cards that are not there. [control]
        var missing: [String] { cards.filter { SoundCards.lacks($0, in: folder) } }
    }

    /// A server that was begun, and a client of it.
    struct Begun {
        var client: OpaquePointer
        var server: ServerProcess
    }

    /// A driver on a server of our own, which answers before this returns. [control]
    static func open(
        _ request: DriverRequest, _ backend: ServerProcess.Backend
    ) throws(DriverError) -> JackDriver {
        let begun = try begin(request, backend)
        let driver = JackDriver(
            adopting: begun.client, name: request.client, server: begun.server.name, library: .jackd,
            child: begun.server)
        driver.waits = request.waits
        return driver
    }

    /// A server under the first name that is free; it answers before this returns. [control]
    static func begin(_ request: DriverRequest, _ backend: ServerProcess.Backend) throws(DriverError) -> Begun {
        if let fault = SharedMemory.fault() { throw DriverError(fault) }
        OrphanedServer.end(request.server.map { [$0] } ?? names)
        do { return try first(request, backend) } catch {
            // Dead servers keep their names; without them there may be room.
            guard ServerNames.wereTaken(error) else { throw error }
            if !ServerNames.areAllTaken() || ServerNames.freeDead() { return try first(request, backend) }
            throw DriverError(error.fault.message, hint: ServerNames.advice, details: error.details)
        }
    }

    private static func first(
        _ request: DriverRequest, _ backend: ServerProcess.Backend
    ) throws(DriverError) -> Begun {
        let names = request.server.map { [$0] } ?? names
        var refusal: DriverError?
        for name in names {
            guard let right = ServerNameLock(name), !answers(name) else { continue }
            let server = try ServerProcess(name: name, format: request.format(on: backend), nameLock: right)
            do throws(DriverError) {
                return Begun(client: try server.client(named: request.client), server: server)
            } catch {
                // JACK takes a name for used as long as a dead server of that name is not buried, which is not ours to
                // do if its parent died too.
                if server.isRunning { throw error }
                refusal = refusal ?? error
                // Another name gives no other sound card.
                if !error.details.contains(where: { $0.contains("already active") }) { break }
            }
        }
        if let refusal { throw refusal }
        throw DriverError(
            names.count == 1
                ? "a JACK server named '\(names[0])' is running already"
                : "the names of our own JACK servers are all in use: \(names.joined(separator: ", "))",
            hint: "connect to a running one with --driver jack --server \(names[0])")
    }

    private static func answers(_ name: String) -> Bool {
        guard let client = try? JackLibrary.open(name: "vg-probe", server: name, library: .jackd) else { return false }
        JackLibrary.close(client)
        return true
    }
}
