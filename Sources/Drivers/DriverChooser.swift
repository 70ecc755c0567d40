// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the user wants of a driver.
public struct DriverRequest: Sendable {
    /// Which driver.
    public enum Kind: String, Sendable, CaseIterable {
        /// The running JACK server; without one our own with the dummy driver; without jackd a timer.
        case auto
        /// A JACK server that is there.
        case jack
        /// Our own server with the dummy driver.
        case dummy
    }

    /// Which driver.
    public var kind: Kind
    /// The JACK client's name.
    public var client: String
    /// The JACK server's name; nil: the default one, or "voicegraph" for our own.
    public var server: String?
    /// Hz, of our own server.
    public var rate: Int
    /// Frames of a block, of our own server.
    public var block: Int

    /// Describes a wish.
    public init(
        kind: Kind = .auto, client: String = "voicegraph", server: String? = nil, rate: Int = 48000, block: Int = 256
    ) {
        self.kind = kind
        self.client = client
        self.server = server
        self.rate = rate
        self.block = block
    }
}

/// Finds the driver that a user's wish and the machine allow.
public enum DriverChooser {
    /// Names of our own server: jackd knows eight per machine, so they are few and always the same.
    static let ownNames = ["voicegraph", "voicegraph-2", "voicegraph-3", "voicegraph-4"]

    /// Opens a driver; a server of our own answers before this returns. [control]
    public static func open(_ request: DriverRequest) throws(DriverError) -> any Driver {
        switch request.kind {
        case .jack: return try JackDriver(name: request.client, server: request.server)
        case .dummy: return try ownServer(request)
        case .auto:
            do throws(JackLibrary.OpenError) {
                let client = try JackLibrary.open(name: request.client, server: request.server)
                return JackDriver(adopting: client, name: request.client, server: request.server)
            } catch {
                guard case .noServer = error else { throw error.asDriverError(server: request.server) }
            }
            guard ServerProcess.executable != nil else {
                return TimerDriver(name: request.client, rate: Double(request.rate), block: request.block)
            }
            return try ownServer(request)
        }
    }

    /// A server under the first name that is free.
    private static func ownServer(_ request: DriverRequest) throws(DriverError) -> JackDriver {
        let names = request.server.map { [$0] } ?? ownNames
        var refusal: DriverError?
        for name in names {
            guard let right = ServerNameLock(name), !answers(name) else { continue }
            let server = try ServerProcess(
                name: name, format: .init(rate: request.rate, block: request.block), nameLock: right)
            do throws(DriverError) {
                let client = try server.client(named: request.client)
                return JackDriver(adopting: client, name: request.client, server: name, child: server)
            } catch {
                // JACK takes a name for used as long as a dead server of that name is not buried, which is not ours to
                // do if its parent died too.
                if server.isRunning { throw error }
                refusal = refusal ?? error
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
        guard let client = try? JackLibrary.open(name: "vg-probe", server: name) else { return false }
        JackLibrary.close(client)
        return true
    }
}
