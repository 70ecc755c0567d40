// SPDX-License-Identifier: Apache-2.0
import API
import Glibc
import Host
import System

/// Lets other programs of the same user control a host, through a socket: one JSON object a line each way. One thread
/// serves all clients and waits for none of them; the calls are done by the host's actor.
public final class ControlServer: Sendable {
    /// Where it listens.
    public let path: String
    /// The name by which it is found: the JACK client's, with a number if that was taken.
    public let name: String

    private let mailbox: Mailbox
    private let thread: SystemThread
    /// Device and inode of the socket: another one in its place is not ours.
    private let identity: (dev_t, ino_t)?

    /// Begins to listen under a client's name, and answers these calls. `feed`: what happens, as other transports tell it,
    /// too. [any]
    public init(
        _ host: Host, client: String, calls: CallTable = CallTable(), feed: EventFeed? = nil,
        folder: ControlFolder = .standard()
    ) throws(Fault) {
        let mailbox = try Mailbox()
        let (listener, name) = try folder.listen(client)
        let path = folder.socket(name)
        // Soon the thread's alone.
        nonisolated(unsafe) let service = Service(host, feed ?? EventFeed(host), calls, listener, mailbox)
        do throws(SystemError) {
            thread = try SystemThread(name: "vg-control") { service.serve() }
        } catch {
            unlink(path)
            throw Fault(error)
        }
        self.mailbox = mailbox
        self.name = name
        self.path = path
        identity = Self.identity(path)
    }

    deinit { mailbox.end() }

    /// What became of the clients. [any]
    public var counts: ControlCounts { mailbox.counts }

    /// Ends all connections and removes the socket; to be called once. [any]
    public func close() {
        if let identity, let now = Self.identity(path), identity == now { unlink(path) }
        mailbox.end()
        thread.join()
    }

    private static func identity(_ path: String) -> (dev_t, ino_t)? {
        var entry = stat()
        return lstat(path, &entry) == 0 ? (entry.st_dev, entry.st_ino) : nil
    }
}
