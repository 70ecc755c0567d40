// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization
import TestSupport

@testable import Control

/// Which changes of files are noticed.
@Suite("Watched files", .timeLimit(.minutes(2))) struct FileWatchTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func link(_ name: String, to target: String) throws {
        // As ln -sfn and Kubernetes do it: another link takes the place of the old one.
        unlink(scratch.file("new-link"))
        try #require(symlink(target, scratch.file("new-link")) == 0)
        try #require(rename(scratch.file("new-link"), scratch.file(name)) == 0)
    }

    private func folder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: scratch.file(name), withIntermediateDirectories: true)
    }

    @Test(
        "A link in the path that is turned is noticed, and what changes behind it then",
        arguments: [
            // The path, the link that is turned, where to and the file behind it then.
            ("cur/c.conf", "cur", "v2", "v2/c.conf"), ("k/c.conf", "k/..data", "v2", "k/v2/c.conf"),
            ("a/x.conf", "b/mid", "../c2", "c2/x"),
        ])
    func turned(_ path: String, _ turned: String, _ target: String, _ file: String) async throws {
        for name in ["v1", "v2", "k/v1", "k/v2", "a", "b", "c1", "c2"] { try folder(name) }
        for name in ["v1/c.conf", "v2/c.conf", "k/v1/c.conf", "k/v2/c.conf", "c1/x", "c2/x"] {
            try scratch.write(name, "1")
        }
        try link("cur", to: "v1")
        try link("k/..data", to: "v1")
        try link("k/c.conf", to: "..data/c.conf")
        try link("b/mid", to: scratch.file("c1"))
        try link("a/x.conf", to: "../b/mid/x")
        let changes = Mutex(0)
        let watch = try FileWatch { changes.withLock { $0 += 1 } }
        watch.watch([scratch.file(path)])
        try link(turned, to: target)
        try await eventually("the turn is noticed") { changes.withLock { $0 } == 1 }
        try scratch.write(file, "2")
        try await eventually("the change is noticed") { changes.withLock { $0 } == 2 }
    }

    @Test("The places on which a path depends are its links and the file; a ring of links has an end")
    func places() throws {
        try folder("v1")
        try scratch.write("v1/c.conf", "1")
        try link("cur", to: "./v1/../v1")
        let root = String(cString: realpath(scratch.path, nil))
        #expect(
            FilePlace.all(of: root + "/cur//c.conf").map(\.path) == [root + "/cur", root + "/v1/c.conf"])
        #expect(FilePlace.all(of: root + "/not/there").map(\.path) == [root + "/not"])
        try link("ring", to: "ring")
        #expect(FilePlace.all(of: root + "/ring").count == 41)
    }
}
