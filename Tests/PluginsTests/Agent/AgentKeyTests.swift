// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport
import Testing

@Suite("The agent's key", .serialized, .timeLimit(.minutes(5))) struct AgentKeyTests {
    private static let key = "sk-Nobody-May-See-This-1234567890"

    @Test(
        "The key is sent, and is in no event, log, error, state or message, whatever the endpoint says",
        arguments: ["good", "denied", "inner", "broken", "busy"])
    func secret(mode: String) throws {
        let endpoint = try ChatEndpoint()
        let path = try endpoint.scratch.write("the.key", Self.key + "\n")
        chmod(path, 0o600)
        let run = try endpoint.agent(mode, ["key_file": .string("the.key"), "retries": .integer(2)])
        run.say("Hello", item: 1)
        run.play(2)
        #expect(endpoint.requests.allSatisfy { $0.contains("\"key\": \"Bearer \(Self.key)\"") })
        #expect(!endpoint.requests.isEmpty)
        #expect(!run.everything.contains("Nobody-May-See"))
        if mode == "denied" || mode == "inner" { #expect(run.everything.contains("[key]")) }
    }

    @Test("Nor is any part of it, wherever what the endpoint says is cut", arguments: ["cutkey", "eventkey"])
    func part(mode: String) throws {
        let endpoint = try ChatEndpoint()
        let path = try endpoint.scratch.write("the.key", Self.key + "\n")
        chmod(path, 0o600)
        for item in 1...60 {
            let run = try endpoint.agent(mode, ["key_file": .string("the.key"), "retries": .integer(0)])
            run.say("Hello", item: UInt64(item))
            run.play(0.1)
            #expect(!run.failures.isEmpty)
            let told = run.everything
            let parts = (0...(Self.key.count - 8)).map { Self.key.dropFirst($0).prefix(8) }
            #expect(parts.allSatisfy { !told.contains($0) }, "\(item): \(run.failures)")
        }
    }

    @Test("The key may be in a variable; one that is not set is told by its name")
    func variable() throws {
        let endpoint = try ChatEndpoint()
        let name = "VOICEGRAPH_TEST_KEY_\(UUID().uuidString.prefix(8))"
        setenv(name, Self.key, 1)
        defer { unsetenv(name) }
        let run = try endpoint.agent("good", ["key_env": .string(name)])
        run.say("Hello", item: 1)
        #expect(endpoint.requests.first?.contains(Self.key) == true)
        #expect(!run.everything.contains("Nobody-May-See"))
        let error = try #require(throws: NodeError.self) {
            _ = try endpoint.agent("good", ["key_env": .string(name + "_NOT")])
        }
        #expect(error.key == "key_env" && error.message.contains(name + "_NOT"))
    }

    @Test("A file that others may read is refused, as is one that holds no key, and both at once")
    func file() throws {
        let endpoint = try ChatEndpoint()
        let path = try endpoint.scratch.write("the.key", Self.key)
        func refusal(_ settings: [String: SettingValue]) throws -> NodeError {
            let error = try #require(throws: NodeError.self) { _ = try endpoint.agent("good", settings) }
            #expect(!"\(error)".contains("Nobody-May-See"))
            return error
        }
        let setting = ["key_file": SettingValue.string("the.key")]
        for mode in [0o640, 0o604, 0o660] {
            chmod(path, mode_t(mode))
            #expect(try refusal(setting).hint == "chmod 600 \(path)")
        }
        chmod(path, 0o600)
        #expect(try refusal(setting.merging(["key_env": .string("HOME")]) { $1 }).key == "key_file")
        try endpoint.scratch.write("the.key", "two words \(Self.key)")
        chmod(path, 0o600)
        #expect(try refusal(setting).message.contains("no key"))
        try endpoint.scratch.write("the.key", "\n")
        chmod(path, 0o600)
        #expect(try refusal(setting).message.contains("empty"))
        #expect(try refusal(["key_file": .string("none.key")]).message.contains("cannot read"))
        #expect(try refusal(["key_file": .string(".")]).key == "key_file")
    }

    @Test(
        "A certificate is trusted for its own name alone", .enabled(if: canMount, "needs root, to trust a certificate"))
    func certificate() throws {
        let scratch = try Scratch()
        let program = scratch.file("post")
        let source = "\(packageRoot)/Sources/CHTTP"
        try run(
            "cc",
            [
                "-I\(source)/include", "-D_Nonnull=", "-D_Nullable=", "\(packageRoot)/Tests/Fixtures/agent/post.c",
                "\(source)/http.c", "-o", program,
            ])
        for (name, isFine) in [("localhost", true), ("other.example", false)] {
            let endpoint = try ChatEndpoint(certificateFor: name)
            // In a view of the files in which this certificate alone is trusted.
            let trusted = endpoint.scratch.file("certificate.pem")
            let shell = "mount --bind \(trusted) /etc/ssl/certs/ca-certificates.crt && exec \"$@\""
            let output = try run(
                "unshare", ["-m", "sh", "-c", shell, "sh", program, endpoint.url("good") + "/chat/completions"])
            #expect(output.contains("status 200") == isFine, "\(output)")
            #expect(output.contains("end 0") == isFine, "\(output)")
            #expect(endpoint.requests.isEmpty == !isFine)
            if !isFine { #expect(output.contains("no alternative certificate subject name matches")) }
        }
    }

    @Test(
        "An address or a name that cannot be is refused",
        arguments: [
            ("url", "ftp://host/v1"), ("url", ""), ("url", "http://me:secret@host/v1"), ("model", ""),
        ])
    func settings(key: String, value: String) throws {
        let error = try #require(throws: NodeError.self) {
            _ = try AgentRun(
                [
                    "backend": .string("openai"), "url": .string("http://localhost/v1"), "model": .string("small"),
                ].merging([key: .string(value)]) { $1 })
        }
        #expect(error.key == key)
    }
}

/// Whether this user may look at files otherwise than others do.
private let canMount: Bool = {
    let trusted = "/etc/ssl/certs/ca-certificates.crt"
    return geteuid() == 0 && (try? run("unshare", ["-m", "sh", "-c", "mount --bind /dev/null \(trusted)"])) != nil
}()
