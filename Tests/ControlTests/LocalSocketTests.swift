// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import System
import TestSupport
import Testing

@testable import Control

/// Hosts are reached wherever the runtime directory is.
@Suite(.timeLimit(.minutes(1))) struct LocalSocketTests {
    @Test("A host is reached in a folder whose path is longer than an address holds") func longPath() throws {
        let scratch = try Scratch()
        let deep = scratch.file(String(repeating: "a", count: 90))
        try #require(mkdir(deep, 0o700) == 0)
        let folder = ControlFolder(path: deep + "/voicegraph")
        let first = try folder.listen("talking")
        let second = try folder.listen("talking")
        #expect(folder.socket("talking").utf8.count > 108 && second.client == "talking-2")
        #expect(folder.running() == ["talking", "talking-2"] && folder.stale() == [])
        close(second.descriptor)
        #expect(folder.running() == ["talking"] && folder.stale() == ["talking-2"])
        // What nobody listens at any more makes room.
        let third = try folder.listen("talking")
        #expect(third.client == "talking-2")
        close(first.descriptor)
        close(third.descriptor)
        let nowhere = LocalSocket.connect(scratch.file(String(repeating: "b", count: 99) + "/x.sock"))
        #expect(nowhere.error == ENOENT)
    }

    @Test("A name that no address holds is refused with what to do") func longName() throws {
        let scratch = try Scratch()
        let folder = ControlFolder(path: scratch.file("voicegraph"))
        let error = try #require(throws: Fault.self) { try folder.listen(String(repeating: "/", count: 60)) }
        #expect(error.message.contains("too long") && error.hint == "give the graph a shorter name")
        #expect(folder.running() == [])
    }
}
